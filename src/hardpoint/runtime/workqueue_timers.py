"""What is to happen later: one timer of the event loop for however many items."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)

TURN_ITEMS_MAX = 500
"""So many are rung for at a time; others on the loop get their turn before the rest."""
STALE_MAX = 1000
"""So many entries that no longer count may lie in the heap before it is cleared of them."""

Entry = tuple[float, int]


class Timers(Generic[Item]):
    """Calls `ring` with an item and its priority when its time has come. For one event loop."""

    def __init__(self, ring: Callable[[Item, int], None]) -> None:
        self._ring = ring
        self._heap: list[tuple[float, int, Item, int]] = []
        self._entries: dict[Item, Entry] = {}
        self._number = count()
        self._handle: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def set(self, item: Item, at: float, priority: int) -> None:
        """Ring for an item, in the loop's time. The earliest of several times counts."""
        before = self._entries.get(item)
        if before is not None and before[0] <= at:
            return
        number = next(self._number)
        self._entries[item] = (at, number)
        heappush(self._heap, (at, number, item, priority))
        self._clear_stale()
        if self._heap[0][1] == number:
            self.start()

    def cancel(self, item: Item) -> None:
        """Do not ring for an item."""
        if self._entries.pop(item, None) is not None:
            self._clear_stale()

    def start(self) -> None:
        """Ring when the next time has come."""
        self.stop()
        if self._heap:
            self._handle = asyncio.get_running_loop().call_at(self._heap[0][0], self._turn)

    def stop(self) -> None:
        """Do not ring until the next start. What is set stays set."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _turn(self) -> None:
        loop = asyncio.get_running_loop()
        # A loop may call a little early, within the resolution of its clock.
        now, rung = loop.time() + 0.001, 0
        while self._heap and self._heap[0][0] <= now and rung < TURN_ITEMS_MAX:
            at, number, item, priority = heappop(self._heap)
            if self._entries.get(item) == (at, number):
                del self._entries[item]
                self._ring(item, priority)
                rung += 1
        self.start()

    def _clear_stale(self) -> None:
        if len(self._heap) - len(self._entries) > max(STALE_MAX, len(self._entries)):
            self._heap = [entry for entry in self._heap if self._entries.get(entry[2]) == entry[:2]]
            heapify(self._heap)
