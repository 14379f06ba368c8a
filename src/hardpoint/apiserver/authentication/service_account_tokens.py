"""Service accounts' tokens: ours by signature and issuer, and good as long as what they are bound to exists.

The account and the object are read from the store for every token that is not remembered, by uid: one that was deleted
and made again is another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from hardpoint.apiserver.admission.contract import Reader
from hardpoint.apiserver.authentication.contract import CREDENTIAL_ID
from hardpoint.apiserver.authentication.objects import key_of
from hardpoint.apiserver.authentication.service_account_keys import ServiceAccountKeys
from hardpoint.machinery import jws
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.messages import User
from hardpoint.machinery.timestamps import parse_time
from hardpoint.seams.authentication.contract import Identified, RefusedCredential, TokenAuthenticator

Json = dict[str, Any]

LEEWAY_SECONDS = 60.0
"""Clocks differ, and who is being deleted has a moment to finish."""

_GONE = "service account token has been invalidated"
_POD, _NODE = "authentication.kubernetes.io/pod-", "authentication.kubernetes.io/node-"


class Claims(Protocol):
    """What one kind of service accounts' tokens claims, and whether that is still so."""

    async def check(self, claims: Json, token: str) -> Identified:
        """Whose token it is. Raises RefusedCredential."""
        ...


class ServiceAccountTokens:
    """Knows the tokens that `keys` signed, of each issuer by its own rules."""

    def __init__(self, keys: ServiceAccountKeys, by_issuer: Mapping[str, Claims], api_audiences: Sequence[str]) -> None:
        self._keys = keys
        self._by_issuer = by_issuer
        self._api_audiences = api_audiences

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        try:
            signed = jws.parse(token)
        except jws.BadToken:
            return None
        checker = self._by_issuer.get(signed.issuer)
        if checker is None:
            return None
        await self._keys.wait_until_loaded()
        candidates = self._keys.candidates(signed.key_id)
        if not candidates:
            raise RefusedCredential("invalid signature, no keys found")
        try:
            jws.verify(signed, candidates)
        except jws.BadToken as wrong:
            raise RefusedCredential(str(wrong)) from wrong
        shared = self._shared_audiences(signed.claims.get("aud"), audiences)
        return (await checker.check(signed.claims, token))._replace(audiences=shared)

    def _shared_audiences(self, told: Any, asked: Sequence[str]) -> tuple[str, ...]:
        """Those asked for that the token is for; one that names none is for this API."""
        of_token = [told] if isinstance(told, str) else told or self._api_audiences
        if not isinstance(of_token, Sequence) or not all(isinstance(audience, str) for audience in of_token):
            raise RefusedCredential("the token's audiences are not texts")
        shared = tuple(audience for audience in of_token if audience in asked)
        if not shared:
            ours, theirs = _quoted(of_token), _quoted(asked)
            raise RefusedCredential(f"token audiences {ours} is invalid for the target audiences {theirs}")
        return shared


class BoundClaims:
    """Tokens from TokenRequests: they end, and are bound to an account and perhaps to a pod, a Secret or a node."""

    def __init__(self, reader: Reader, now: Callable[[], datetime]) -> None:
        self._reader = reader
        self._now = now

    async def check(self, claims: Json, token: str) -> Identified:
        self._check_time(claims)
        private = _object(claims, "kubernetes.io")
        namespace, account = _text(private, "namespace"), _object(private, "serviceaccount")
        name, uid = _text(account, "name"), _text(account, "uid")
        rests_on = [key_of("serviceaccounts", namespace, name)]
        found = await self._reader.get("", "serviceaccounts", namespace, name)
        if found is None:
            raise RefusedCredential(f'serviceaccounts "{name}" not found')
        if found["metadata"]["uid"] != uid:
            raise RefusedCredential(f"service account UID ({found['metadata']['uid']}) does not match claim ({uid})")
        if self._is_deleted(found):
            raise RefusedCredential(f"service account {namespace}/{name} has been deleted")
        for kind, plural, home in (("secret", "secrets", namespace), ("pod", "pods", namespace), ("node", "nodes", "")):
            # The node of a pod-bound token is where the pod was, and nothing it rests on.
            if kind in private and not (kind == "node" and "pod" in private):
                await self._check_bound(kind, plural, home, _object(private, kind))
                rests_on.append(key_of(plural, home, _text(private[kind], "name")))
        return Identified(_user(namespace, name, uid, _extra(private, claims)), rests_on=tuple(rests_on))

    def _check_time(self, claims: Json) -> None:
        now = self._now().timestamp()
        if _seconds(claims, "exp") < now - LEEWAY_SECONDS:
            raise RefusedCredential("service account token has expired")
        if _seconds(claims, "nbf", 0) > now + LEEWAY_SECONDS:
            raise RefusedCredential("service account token is not valid yet")
        if _seconds(claims, "iat", 0) > now + LEEWAY_SECONDS:
            raise RefusedCredential("service account token is issued in the future")

    async def _check_bound(self, kind: str, plural: str, namespace: str, reference: Json) -> None:
        found = await self._reader.get("", plural, namespace, _text(reference, "name"))
        if found is None:
            raise RefusedCredential(_GONE)
        uid, claimed = found["metadata"]["uid"], reference.get("uid", "")
        if uid != claimed:
            why = f"{kind} UID ({uid}) does not match service account {kind} ref claim ({claimed})"
            raise RefusedCredential(why)
        if self._is_deleted(found):
            raise RefusedCredential(_GONE)

    def _is_deleted(self, obj: Json) -> bool:
        """Whether it should have been gone for a while."""
        moment = obj["metadata"].get("deletionTimestamp")
        return moment is not None and (self._now() - parse_time(moment)).total_seconds() > LEEWAY_SECONDS


def account_user(namespace: str, name: str, uid: str) -> User:
    """A service account as a user."""
    return _user(namespace, name, uid, {})


def _user(namespace: str, name: str, uid: str, extra: Mapping[str, tuple[str, ...]]) -> User:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return User(f"system:serviceaccount:{namespace}:{name}", groups, uid, extra)


def _extra(private: Json, claims: Json) -> dict[str, tuple[str, ...]]:
    extra: dict[str, tuple[str, ...]] = {}
    if isinstance(claims.get("jti"), str) and claims["jti"]:
        extra[CREDENTIAL_ID] = (f"JTI={claims['jti']}",)
    for kind, prefix in (("pod", _POD), ("node", _NODE)):
        reference = private.get(kind) or {}
        extra |= {f"{prefix}{field}": (reference[field],) for field in ("name", "uid") if reference.get(field)}
    return extra


def _object(claims: Json, name: str) -> Json:
    value = claims.get(name)
    if not isinstance(value, dict):
        raise RefusedCredential(f"the token's claim {name!r} is not an object")
    return value


def _text(claims: Json, name: str) -> str:
    value = claims.get(name)
    # Names become keys of the store: nothing may lead out of its place.
    if not isinstance(value, str) or not value or "/" in value:
        raise RefusedCredential(f"the token's claim {name!r} is not a name")
    return value


def _seconds(claims: Json, name: str, default: float | None = None) -> float:
    value = claims.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RefusedCredential(f"the token's claim {name!r} is not a time")
    return value


def _quoted(texts: Sequence[str]) -> str:
    """As Go prints a list of texts."""
    return f"[{' '.join(map(quote, texts))}]"


_conforms: type[TokenAuthenticator] = ServiceAccountTokens
_claims: type[Claims] = BoundClaims
