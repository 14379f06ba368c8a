"""An issuer's keys: where they are is in its discovery document, and they change when it likes.

They are fetched when the first token comes, kept, and fetched again when a token fits none of them, or when they are an
hour old. However many tokens ask for that, one fetch is under way at a time, and only so many happen: anybody can write
a token that fits no key.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from hardpoint.client.fetch import PATIENCE_SECONDS, get_json
from hardpoint.client.transport import BadAnswer, TransportError
from hardpoint.machinery import jwk, jws
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.jwk import Key
from hardpoint.machinery.jws import Signed
from hardpoint.seams.authentication.contract import RefusedCredential

log = logging.getLogger(__name__)

Json = dict[str, Any]

WELL_KNOWN = "/.well-known/openid-configuration"
KEYS_SECONDS_MAX = 3600.0
FETCHES_AT_ONCE = 10
"""So many may follow each other without a pause; then one every SECONDS_PER_FETCH."""
SECONDS_PER_FETCH = 10.0


class IssuerKeys:
    """The keys of one issuer, found through `url` or, where it is found elsewhere, through `discovery_url`."""

    def __init__(
        self,
        url: str,
        *,
        discovery_url: str = "",
        ca_pem: bytes | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = url
        self._discovery_url = discovery_url or url.rstrip("/") + WELL_KNOWN
        self._ca_pem = ca_pem
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._keys: Sequence[Key] = ()
        self._fetched_at = float("-inf")
        self._allowance = float(FETCHES_AT_ONCE)
        self._counted_at = clock()
        self._fetching: asyncio.Task[None] | None = None

    async def verify(self, signed: Signed, algorithms: Sequence[str] = jwk.ALGORITHMS) -> None:
        """Return if one of the issuer's keys signed the token, with one of `algorithms`. Raises RefusedCredential."""
        if signed.header.get("alg") not in algorithms:
            raise RefusedCredential("oidc: verify token: its signing algorithm is not allowed")
        if self._clock() - self._fetched_at > KEYS_SECONDS_MAX and self._keys:
            self._begin_if_allowed()  # Old keys serve until there are new ones.
        # One that does not fit may be older than the key that does, also where both bear the same name.
        for is_last in (False, True):
            try:
                jws.verify(signed, self._named(signed.key_id))
                return
            except jws.BadToken as wrong:
                if is_last or not await self._fetch_if_allowed():
                    raise RefusedCredential(f"oidc: verify token: {wrong}") from wrong

    async def fetch(self) -> None:
        """Fetch now, whatever was fetched before. Raises TransportError."""
        # Whoever leaves does not take it away from those who stay.
        await asyncio.shield(self._begin())

    async def close(self) -> None:
        """Fetch no more."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait([self._fetching])

    def _named(self, key_id: str) -> Sequence[Key]:
        return [key for key in self._keys if key.id == key_id or not key.id] if key_id else self._keys

    async def _fetch_if_allowed(self) -> bool:
        """Whether there may be new keys."""
        fetching = self._begin_if_allowed()
        if fetching is None:
            return False
        try:
            await asyncio.shield(fetching)
        except TransportError:
            return False
        return True

    def _begin_if_allowed(self) -> asyncio.Task[None] | None:
        return self._begin() if self._fetching is not None or self._is_allowed() else None

    def _begin(self) -> asyncio.Task[None]:
        """The fetch that is under way, or one that begins now."""
        if self._fetching is None:
            self._fetching = asyncio.create_task(self._fetch(), name=f"keys of {self.url}")
            self._fetching.add_done_callback(self._fetched)
        return self._fetching

    def _is_allowed(self) -> bool:
        now = self._clock()
        self._allowance = min(FETCHES_AT_ONCE, self._allowance + (now - self._counted_at) / SECONDS_PER_FETCH)
        self._counted_at = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True

    async def _fetch(self) -> None:
        found = await self._get(self._discovery_url)
        if found.get("issuer") != self.url:
            raise BadAnswer(self.url, "its discovery document is another issuer's")
        jwks_uri = found.get("jwks_uri")
        if not isinstance(jwks_uri, str):
            raise BadAnswer(self.url, "its discovery document does not say where its keys are")
        self._keys = _usable((await self._get(jwks_uri)).get("keys"))
        self._fetched_at = self._clock()
        log.info("issuer's keys fetched", extra={"issuer": self.url, "keys": len(self._keys)})

    async def _get(self, url: str) -> Json:
        try:
            return await get_json(url, ca_pem=self._ca_pem, patience_seconds=self._patience_seconds)
        except ConfigError as wrong:
            raise BadAnswer(self.url, f"it leads to an address that cannot be asked: {wrong}") from wrong

    def _fetched(self, task: asyncio.Task[None]) -> None:
        self._fetching = None
        failed = None if task.cancelled() else task.exception()
        if failed is not None:
            log.warning("issuer's keys not fetched", extra={"issuer": self.url, "why": str(failed)})


def _usable(told: Any) -> Sequence[Key]:
    """The keys of a set that sign; those of another kind or use are passed over, as the standard wants."""
    keys: list[Key] = []
    for each in told if isinstance(told, list) else ():
        if not isinstance(each, dict) or each.get("use", "sig") != "sig":
            continue
        try:
            keys.append(jwk.from_jwk(each))
        except jwk.BadKey:
            continue
    return keys
