"""The JWT issuers of a configuration, read again when its file changes.

A change takes effect when it is sound and every new issuer answers; until then, and after a bad edit for good, the last
good configuration stays, and the log and a metric say so. The part about anonymous users cannot be changed this way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from typing import Any

from hardpoint.apiserver.authentication import configuration
from hardpoint.apiserver.authentication.configuration import Configuration
from hardpoint.apiserver.authentication.jwt.authenticator import Issuer, JwtTokens
from hardpoint.apiserver.authentication.jwt.issuers import IssuerKeys
from hardpoint.apiserver.authentication.metrics import AuthenticationMetrics
from hardpoint.apiserver.filecontents import contents
from hardpoint.client.transport import TransportError
from hardpoint.machinery.errors import ConfigError
from hardpoint.seams.authentication.contract import Identified, TokenAuthenticator

log = logging.getLogger(__name__)

Json = dict[str, Any]


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
        async with aclosing(contents(file)) as texts:
            async for text in texts:
                if text == settled:
                    continue
                try:
                    await self._change(configuration.parse(text, file, self._own_issuers))
                except (ConfigError, TransportError) as wrong:
                    _tell_failure(file, wrong, metrics)
                    if isinstance(wrong, TransportError):
                        continue  # The issuer may answer the next time.
                else:
                    changed()
                    if settled:
                        _tell_success(file, metrics)
                settled = text

    async def _change(self, wanted: Configuration) -> None:
        if wanted.anonymous != self._anonymous:
            raise ConfigError("anonymous: Forbidden: changed from initial configuration file; restart to change it")
        keys, before = self._keys_for(wanted), self._keys
        try:
            await asyncio.gather(*(each.fetch() for place, each in keys.items() if place not in before))
        except BaseException:
            await _close(each for place, each in keys.items() if place not in before)
            raise
        self._install(wanted, keys)
        await _close(each for place, each in before.items() if place not in keys)

    async def close(self) -> None:
        await _close(self._keys.values())

    def _keys_for(self, wanted: Configuration) -> dict[tuple[str, ...], IssuerKeys]:
        return {_place(part): self._keys.get(_place(part)) or _keys_at(*_place(part)) for part in wanted.jwt}

    def _install(self, wanted: Configuration, keys: dict[tuple[str, ...], IssuerKeys]) -> None:
        self._keys = keys
        issuers = [Issuer(part, keys[_place(part)], wanted.algorithms, self._now) for part in wanted.jwt]
        self._tokens = JwtTokens(issuers)


async def _close(keys: Iterable[IssuerKeys]) -> None:
    for each in keys:
        await each.close()


def _tell_failure(file: Path, wrong: Exception, metrics: AuthenticationMetrics) -> None:
    metrics.reload_failures += 1
    log.error("authentication configuration not reloaded", extra={"file": str(file), "why": str(wrong)})


def _tell_success(file: Path, metrics: AuthenticationMetrics) -> None:
    metrics.reloads += 1
    log.info("authentication configuration reloaded", extra={"file": str(file)})


def _place(part: Json) -> tuple[str, str, str]:
    issuer = part["issuer"]
    return issuer["url"], issuer.get("discoveryURL", ""), issuer.get("certificateAuthority", "")


def _keys_at(url: str, discovery_url: str, authority: str) -> IssuerKeys:
    return IssuerKeys(url, discovery_url=discovery_url, ca_pem=authority.encode() or None)


_conforms: type[TokenAuthenticator] = ConfiguredTokens
