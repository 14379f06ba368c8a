"""The JWT issuers of a configuration, read again when its file changes.

A change takes effect when it is sound and every new issuer answers; until then, and after a bad edit for good, the last
good configuration stays, and the log and a metric say so. The part about anonymous users cannot be changed this way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from hardpoint.apiserver.authentication import configuration
from hardpoint.apiserver.authentication.configuration import Configuration
from hardpoint.apiserver.authentication.jwt.authenticator import Issuer, JwtTokens
from hardpoint.apiserver.authentication.jwt.issuers import IssuerKeys
from hardpoint.apiserver.authentication.metrics import AuthenticationMetrics
from hardpoint.client.transport import TransportError
from hardpoint.machinery.errors import ConfigError
from hardpoint.seams.authentication.contract import Identified, TokenAuthenticator

log = logging.getLogger(__name__)

Json = dict[str, Any]

LOOK_SECONDS = 60
"""How often the file is looked at even if nobody says that it changed, and an issuer asked that did not answer."""


class ConfiguredTokens:
    """Knows the tokens of the issuers that a configuration names now."""

    def __init__(self, first: Configuration, own_issuers: Collection[str], now: Callable[[], datetime]) -> None:
        self._own_issuers = own_issuers
        self._now = now
        self._anonymous = first.anonymous
        self._keys: dict[tuple[str, ...], IssuerKeys] = {}
        """By where an issuer is found: one that stays there keeps its keys."""
        self._install(first, self._keys_for(first))

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        return await self._tokens.identify(token, audiences)

    async def follow(self, file: Path, metrics: AuthenticationMetrics, changed: Callable[[], None]) -> None:
        """Take over what the file says whenever that changes, until cancelled. `changed` is called each time."""
        settled = b""
        async for text in _contents(file):
            if text == settled:
                continue
            try:
                await self._change(configuration.parse(text, file, self._own_issuers))
            except (ConfigError, TransportError) as wrong:
                metrics.reload_failures += 1
                log.error("authentication configuration not reloaded", extra={"file": str(file), "why": str(wrong)})
                if isinstance(wrong, TransportError):
                    continue  # The issuer may answer the next time.
            else:
                if settled:
                    metrics.reloads += 1
                    log.info("authentication configuration reloaded", extra={"file": str(file)})
                changed()
            settled = text

    async def _change(self, wanted: Configuration) -> None:
        if wanted.anonymous != self._anonymous:
            raise ConfigError("anonymous: Forbidden: changed from initial configuration file; restart to change it")
        keys = self._keys_for(wanted)
        await asyncio.gather(*(each.fetch() for place, each in keys.items() if place not in self._keys))
        self._install(wanted, keys)

    def _keys_for(self, wanted: Configuration) -> dict[tuple[str, ...], IssuerKeys]:
        return {_place(part): self._keys.get(_place(part)) or _keys_at(*_place(part)) for part in wanted.jwt}

    def _install(self, wanted: Configuration, keys: dict[tuple[str, ...], IssuerKeys]) -> None:
        self._keys = keys
        issuers = [Issuer(part, keys[_place(part)], wanted.algorithms, self._now) for part in wanted.jwt]
        self._tokens = JwtTokens(issuers)


def _place(part: Json) -> tuple[str, str, str]:
    issuer = part["issuer"]
    return issuer["url"], issuer.get("discoveryURL", ""), issuer.get("certificateAuthority", "")


def _keys_at(url: str, discovery_url: str, authority: str) -> IssuerKeys:
    return IssuerKeys(url, discovery_url=discovery_url, ca_pem=authority.encode() or None)


async def _contents(file: Path) -> AsyncIterator[bytes]:
    """What the file holds: now, whenever it changes, and now and then."""
    from watchfiles import awatch

    # Its folder is watched, for a file that is replaced is another file.
    looks = awatch(file.parent, rust_timeout=LOOK_SECONDS * 1000, yield_on_timeout=True, recursive=False)
    look = asyncio.ensure_future(anext(looks))
    try:
        await asyncio.sleep(0)  # From here on it is watched, and nothing that is written is missed.
        while True:
            try:
                yield await asyncio.to_thread(file.read_bytes)
            except OSError as cause:
                log.error("authentication configuration not read", extra={"file": str(file), "why": cause.strerror})
            await look
            look = asyncio.ensure_future(anext(looks))
    finally:
        look.cancel()
        await asyncio.wait([look])
        await looks.aclose()


_conforms: type[TokenAuthenticator] = ConfiguredTokens
