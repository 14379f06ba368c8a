"""Bearer tokens of several kinds: the first authenticator who knows one decides."""

from __future__ import annotations

from collections.abc import Sequence

from hardpoint.apiserver.authentication.contract import AllRefused, authenticated
from hardpoint.seams.authentication.contract import Identified, RefusedCredential, TokenAuthenticator


class AnyOf:
    """Asks one after the other. A refusal does not end it: the next may know the token."""

    def __init__(self, authenticators: Sequence[TokenAuthenticator]) -> None:
        self._authenticators = authenticators

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        reasons: list[str] = []
        for authenticator in self._authenticators:
            try:
                identified = await authenticator.identify(token, audiences)
            except RefusedCredential as refused:
                reasons.append(str(refused))
                continue
            if identified is not None:
                return identified._replace(user=authenticated(identified.user))
        if reasons:
            raise AllRefused(reasons)
        return None


class ForThisApi:
    """Tokens that say nothing of audiences: they are good for this API, and for nobody else."""

    def __init__(self, inner: TokenAuthenticator, api_audiences: Sequence[str]) -> None:
        self._inner = inner
        self._api_audiences = api_audiences

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        shared = tuple(audience for audience in audiences if audience in self._api_audiences)
        if not shared:
            return None
        identified = await self._inner.identify(token, audiences)
        return identified._replace(audiences=shared) if identified is not None else None


_any_of: type[TokenAuthenticator] = AnyOf
_for_this_api: type[TokenAuthenticator] = ForThisApi
