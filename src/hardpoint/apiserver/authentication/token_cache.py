"""Tokens that were good a moment ago are good now: what was found out is remembered for ten seconds.

Tokens are not kept, only what a keyed hash makes of them. Failures are not kept at all: a token may be good the next
moment. What an identity rests on (the pod, the account, the secret) is followed, and when it changes the identity is
forgotten at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple

from hardpoint.seams.authentication.contract import Identified, TokenAuthenticator

SECONDS = 10.0
ENTRIES_MAX = 32_768
"""Twice the tokens of the largest cluster that Kubernetes supports."""


class _Entry(NamedTuple):
    identified: Identified
    until: float


class TokenCache:
    """Remembers what `inner` found out."""

    def __init__(
        self,
        inner: TokenAuthenticator,
        *,
        seconds: float = SECONDS,
        entries_max: int = ENTRIES_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._seconds = seconds
        self._entries_max = entries_max
        self._clock = clock
        self._secret = os.urandom(32)
        self._entries: dict[bytes, _Entry] = {}
        self._resting: dict[str, set[bytes]] = {}
        """Which entries rest on what."""
        self._looking = 0
        """How many tokens are being looked at now."""
        self._changed: set[str] = set()
        """What changed while tokens were looked at: whatever rests on it may have been found out before."""
        self._eras = 0
        """How often everything was forgotten."""

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        # The length in front keeps a token from passing for an audience. What the hash makes never leaves this object.
        question = "\0".join((str(len(token)), token, *audiences))
        key = sha256(self._secret + question.encode("utf-8", "surrogatepass")).digest()
        entry = self._entries.get(key)
        if entry is not None and entry.until > self._clock():
            return entry.identified
        return await self._look(key, token, audiences)

    async def _look(self, key: bytes, token: str, audiences: Sequence[str]) -> Identified | None:
        era, self._looking = self._eras, self._looking + 1
        try:
            identified = await self._inner.identify(token, audiences)
            if identified is not None and era == self._eras and self._changed.isdisjoint(identified.rests_on):
                self._remember(key, identified)
        finally:
            self._looking -= 1
            if not self._looking:
                self._changed.clear()
        return identified

    def forget(self, name: str) -> None:
        """Forget every identity that rests on what has this name."""
        if self._looking:
            self._changed.add(name)
        for key in self._resting.pop(name, ()):
            self._entries.pop(key, None)

    def forget_all(self) -> None:
        self._eras += 1
        self._entries.clear()
        self._resting.clear()

    def __len__(self) -> int:
        return len(self._entries)

    def _remember(self, key: bytes, identified: Identified) -> None:
        self._drop(key)
        while len(self._entries) >= self._entries_max:
            # The oldest ends first, as all are kept for the same time.
            self._drop(next(iter(self._entries)))
        self._entries[key] = _Entry(identified, self._clock() + self._seconds)
        for name in identified.rests_on:
            self._resting.setdefault(name, set()).add(key)

    def _drop(self, key: bytes) -> None:
        entry = self._entries.pop(key, None)
        for name in entry.identified.rests_on if entry is not None else ():
            resting = self._resting.get(name)
            if resting is not None:
                resting.discard(key)
                if not resting:
                    del self._resting[name]


_conforms: type[TokenAuthenticator] = TokenCache
