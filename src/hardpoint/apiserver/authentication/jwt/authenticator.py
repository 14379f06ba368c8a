"""The tokens of one issuer: signed with its keys, not ended, for one of our audiences; then its claims are mapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from hardpoint.apiserver.authentication.jwt.issuers import IssuerKeys
from hardpoint.apiserver.authentication.jwt.mappings import Mappings
from hardpoint.machinery import jws
from hardpoint.machinery.jws import Signed
from hardpoint.seams.authentication.contract import Identified, RefusedCredential, TokenAuthenticator

Json = dict[str, Any]

NOT_BEFORE_LEEWAY_SECONDS = 300.0
"""Issuers' clocks run ahead more often than one would think."""

_GOOGLE = "https://accounts.google.com"


class JwtTokens:
    """Knows the tokens of the issuers of a configuration, each by its own keys and mappings."""

    def __init__(self, issuers: Sequence[Issuer]) -> None:
        self._by_url = {issuer.url: issuer for issuer in issuers}

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        try:
            signed = jws.parse(token)
        except jws.BadToken:
            return None
        # Google's tokens have told their issuer in two ways.
        url = _GOOGLE if signed.issuer == "accounts.google.com" else signed.issuer
        issuer = self._by_url.get(url)
        return await issuer.identify(signed) if issuer is not None else None


class Issuer:
    """One issuer, as its part of the configuration has it."""

    def __init__(
        self,
        configuration: Json,
        keys: IssuerKeys,
        algorithms: Sequence[str],
        now: Callable[[], datetime],
    ) -> None:
        self.url: str = configuration["issuer"]["url"]
        self._keys = keys
        self._audiences = frozenset(configuration["issuer"]["audiences"])
        self._mappings = Mappings(configuration)
        self._algorithms = algorithms
        self._now = now

    async def identify(self, signed: Signed) -> Identified:
        """Whose token it is. Raises RefusedCredential."""
        self._check(signed.claims)
        await self._keys.verify(signed, self._algorithms)
        return Identified(self._mappings.user(signed.claims))

    def _check(self, claims: Json) -> None:
        audiences = claims.get("aud")
        told = [audiences] if isinstance(audiences, str) else audiences
        if not isinstance(told, list) or not any(each in self._audiences for each in told if isinstance(each, str)):
            raise RefusedCredential(f"oidc: verify token: it is for none of the audiences {sorted(self._audiences)}")
        now = self._now().timestamp()
        if _seconds(claims, "exp", 0) < now:
            raise RefusedCredential("oidc: verify token: token is expired")
        if _seconds(claims, "nbf", 0) > now + NOT_BEFORE_LEEWAY_SECONDS:
            raise RefusedCredential("oidc: verify token: current time is before the nbf (not before) time")


def _seconds(claims: Json, name: str, default: float) -> float:
    value = claims.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusedCredential(f"oidc: verify token: the claim {name!r} is not a time")
    return value


_conforms: type[TokenAuthenticator] = JwtTokens
