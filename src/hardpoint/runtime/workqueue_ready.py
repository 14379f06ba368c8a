"""What is ready to be taken: the most urgent first, the eldest of those, and each item once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item", bound=Hashable)


class Taken(NamedTuple, Generic[Item]):
    """An item, how urgent it was, and since when it waited."""

    item: Item
    priority: int
    since: float


class Ready(Generic[Item]):
    """Items and those who wait for one. For one event loop."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Taken[Item]]] = []
        self._entries: dict[Item, Taken[Item]] = {}
        self._number = count()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._is_open = True

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, item: object) -> bool:
        return item in self._entries

    def entries(self) -> Iterable[Taken[Item]]:
        """All that wait, in no order."""
        return self._entries.values()

    def put(self, item: Item, priority: int, since: float) -> None:
        """Have it taken. What is there already only becomes more urgent."""
        before = self._entries.get(item)
        if before is not None:
            if before.priority >= priority:
                return
            # The less urgent entry stays in the heap, where it is passed over: this is no longer what it is about.
            since = before.since
        entry = self._entries[item] = Taken(item, priority, since)
        heappush(self._heap, (-priority, next(self._number), entry))
        self._wake()

    async def take(self) -> Taken[Item] | None:
        """The next item, as soon as there is one; None once this is closed."""
        while self._is_open:
            entry = self._pop()
            if entry is not None:
                return entry
            await self._wait()
        return None

    def close(self) -> None:
        """Let nothing be taken any more."""
        self._is_open = False
        while self._waiters:
            self._wake()

    def _pop(self) -> Taken[Item] | None:
        while self._heap:
            entry = heappop(self._heap)[2]
            if self._entries.get(entry.item) is entry:
                del self._entries[entry.item]
                return entry
        return None

    async def _wait(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.cancelled():
                self._forget(waiter)
            else:
                # It was woken for an item that it will not take.
                self._wake()
            raise

    def _forget(self, waiter: asyncio.Future[None]) -> None:
        if waiter in self._waiters:
            self._waiters.remove(waiter)

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return
