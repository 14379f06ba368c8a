"""Hands committed writes to the watches of an engine that runs in this process.

The feed holds no history. A watch that begins in the past, or whose consumer lags, reads from the engine until it has
caught up and then takes events from memory; the switch happens between two awaits, so nothing is missed or doubled.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

from hardpoint.machinery.errors import StoreError
from hardpoint.store.contract import Event

EVENTS_MAX = 4096
BYTES_MAX = 16 << 20
"""How much is held for a consumer before it has to read from the engine again."""

Past = Callable[[str, int, int], Awaitable[tuple[Sequence[Event], int]]]
"""Events under a prefix after one revision and up to another, and the revision they reach: an engine's own history.

It may stop early, but always gets further than where it began. Raises Compacted.
"""

Admit = Callable[[int], None]
"""Raises Compacted if watches after this revision can no longer be served, or why none can be."""


class Feed:
    """What was committed, in order, to whoever watches. Used from one event loop."""

    def __init__(self, revision: int, past: Past, admit: Admit) -> None:
        self.revision = revision
        self._past = past
        self._admit = admit
        # Nearly every prefix ends in a slash. Those are found by the key's folders, the others by looking at each.
        self._folders: defaultdict[str, list[_Subscription | _Teller]] = defaultdict(list)
        self._others: list[_Subscription | _Teller] = []
        self._failure: StoreError | None = None

    def publish(self, events: Sequence[Event]) -> None:
        """Deliver writes that are committed. Their revisions follow the ones published before."""
        self.revision = events[-1].revision
        if not self._folders and not self._others:
            return
        for event in events:
            for subscription in self._interested(event.key):
                subscription.offer(event)

    @asynccontextmanager
    async def watch(self, prefix: str, after: int) -> AsyncIterator[AsyncIterator[Sequence[Event]]]:
        """Subscribe: see `Store.watch`."""
        self._admit(after)
        subscription = _Subscription(self, prefix, after)
        group = self._group(prefix)
        group.append(subscription)
        try:
            yield subscription
        finally:
            group.remove(subscription)
            if not group:
                self._folders.pop(prefix, None)

    def on_write(self, prefix: str, tell: Callable[[str], None]) -> None:
        """See `Store.on_write`: publishing tells before anybody who waits for a write runs on."""
        self._group(prefix).append(_Teller(prefix, tell))

    def _group(self, prefix: str) -> list[_Subscription | _Teller]:
        return self._folders[prefix] if prefix.endswith("/") else self._others

    def fail(self, failure: StoreError) -> None:
        """End every watch, now and later, with this error once it has delivered what it holds."""
        self._failure = failure
        for group in [*self._folders.values(), self._others]:
            for subscription in group:
                subscription.wake()

    async def past(self, prefix: str, after: int) -> tuple[Sequence[Event], int]:
        return await self._past(prefix, after, self.revision)

    def check(self) -> None:
        if self._failure:
            raise self._failure

    def _interested(self, key: str) -> Iterator[_Subscription | _Teller]:
        end = key.find("/")
        while end >= 0:
            yield from self._folders.get(key[: end + 1], ())
            end = key.find("/", end + 1)
        for subscription in self._others:
            if key.startswith(subscription.prefix):
                yield subscription


class _Teller:
    """Somebody who wants to know which keys are written, and waits for nothing."""

    def __init__(self, prefix: str, tell: Callable[[str], None]) -> None:
        self.prefix = prefix
        self._tell = tell

    def offer(self, event: Event) -> None:
        self._tell(event.key)

    def wake(self) -> None:
        """Nobody waits."""


class _Subscription:
    """One watch: where it is, and what waits to be taken."""

    def __init__(self, feed: Feed, prefix: str, after: int) -> None:
        self.prefix = prefix
        self._feed = feed
        self._position = after
        self._lags = after < feed.revision
        self._held: list[Event] = []
        self._held_bytes = 0
        self._news = asyncio.Event()

    def offer(self, event: Event) -> None:
        if self._lags or event.revision <= self._position:
            return
        self._held.append(event)
        self._held_bytes += len(event.value or b"") + len(event.previous or b"")
        if len(self._held) > EVENTS_MAX or self._held_bytes > BYTES_MAX:
            self._fall_behind()
        self.wake()

    def wake(self) -> None:
        self._news.set()

    def __aiter__(self) -> AsyncIterator[Sequence[Event]]:
        return self

    async def __anext__(self) -> Sequence[Event]:
        while True:
            if self._lags:
                batch = await self._from_engine()
            else:
                batch = self._from_memory()
            if batch:
                return batch
            if not self._lags and not self._held:
                self._feed.check()
                await self._news.wait()

    def _fall_behind(self) -> None:
        # Everything before the oldest event held was delivered; everything from it on is in the engine.
        self._position = self._held[0].revision - 1
        self._lags = True
        self._take()

    def _from_memory(self) -> Sequence[Event]:
        self._news.clear()
        batch = self._take()
        if batch:
            self._position = batch[-1].revision
        return batch

    async def _from_engine(self) -> Sequence[Event]:
        if self._position >= self._feed.revision:
            self._lags = False
            return ()
        self._feed.check()
        events, self._position = await self._feed.past(self.prefix, self._position)
        return events

    def _take(self) -> list[Event]:
        batch, self._held, self._held_bytes = self._held, [], 0
        return batch
