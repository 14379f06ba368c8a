"""Things told one by one, handed over many at a time, beside whatever else goes on.

    batches = Batches(send, buffer_max=10_000, batch_max=400, wait_seconds=30.0)
    async with batches.running():
        batches.put(item)

Whoever tells never waits: when the buffer is full, what comes is refused. Leaving hands over what is left.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Generic, TypeVar

T = TypeVar("T")

Deliver = Callable[[Sequence[T]], Awaitable[None]]
"""Takes a batch for good. It must not raise: what cannot be delivered is its own business."""


class Pace:
    """So many batches a second, and so many at once after a rest."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._interval = 1 / per_second
        self._rest = burst / per_second
        self._earliest = 0.0

    def delay_seconds(self, now: float) -> float:
        """How long the next batch has to wait; it is counted as sent then."""
        turn = max(self._earliest, now - self._rest + self._interval)
        self._earliest = turn + self._interval
        return max(turn - now, 0.0)


class Batches(Generic[T]):
    """A bounded buffer with a task behind it that empties it."""

    def __init__(
        self,
        deliver: Deliver[T],
        *,
        buffer_max: int,
        batch_max: int,
        wait_seconds: float,
        pace: Pace | None = None,
        parallel: int = 1,
        weigh: Callable[[T], int] = lambda _: 0,
        weight_max: int = 0,
    ) -> None:
        """A batch leaves when it is full, or `wait_seconds` after it began; `parallel` batches may be under way.

        Where things are of different size, `weigh` says how large one is, and together they may have `weight_max`.
        """
        self._deliver = deliver
        self._buffer_max = buffer_max
        self._batch_max = batch_max
        self._wait_seconds = wait_seconds
        self._pace = pace
        self._weigh = weigh
        self._weight_max = weight_max
        self._weight = 0
        self._under_way = asyncio.Semaphore(parallel)
        self._items: deque[T] = deque()
        self._is_ending = False
        self._begun = asyncio.Event()
        self._hurry = asyncio.Event()
        """Set when there is no reason to wait for more."""

    def put(self, item: T) -> bool:
        """Tell one thing; False if there is no room for it."""
        waiting = len(self._items)
        weight = self._weight + self._weigh(item)
        if waiting >= self._buffer_max or weight > self._weight_max or self._is_ending:
            return False
        self._weight = weight
        self._items.append(item)
        if waiting == 0:
            self._begun.set()
        if waiting + 1 >= self._batch_max:
            self._hurry.set()
        return True

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hand things over until left, then what is left of them."""
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self._run(tasks), name="batches")
            try:
                yield
            finally:
                self._is_ending = True
                self._begun.set()
                self._hurry.set()
                await asyncio.wait([running])

    async def _run(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            await self._begun.wait()
            if not self._items and self._is_ending:
                return
            await self._wait_for_more()
            if self._pace is not None and not self._is_ending:
                await asyncio.sleep(self._pace.delay_seconds(monotonic()))
            await self._under_way.acquire()
            tasks.create_task(self._hand_over(self._take()), name="batch")

    async def _wait_for_more(self) -> None:
        try:
            async with asyncio.timeout(self._wait_seconds):
                await self._hurry.wait()
        except TimeoutError:
            pass

    def _take(self) -> list[T]:
        items = self._items
        batch = [items.popleft() for _ in range(min(len(items), self._batch_max))]
        self._weight -= sum(map(self._weigh, batch))
        if not self._is_ending:
            if not items:
                self._begun.clear()
            if len(items) < self._batch_max:
                self._hurry.clear()
        return batch

    async def _hand_over(self, batch: Sequence[T]) -> None:
        try:
            await self._deliver(batch)
        finally:
            self._under_way.release()
