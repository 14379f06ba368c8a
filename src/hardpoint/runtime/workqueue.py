"""Things to look at: each at most once at a time, again if something happened meanwhile, later if it went wrong.

An item is a name, not a piece of news: whoever takes one looks at the world as it is then. The waits after failures are
client-go's, five milliseconds and doubling, but end at five minutes; and as there, failures of all items together are
tried again at ten a second after the first hundred.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.batching import Pace
from hardpoint.runtime.workqueue_metrics import QueueMetrics, Unmeasured
from hardpoint.runtime.workqueue_ready import Ready, Taken
from hardpoint.runtime.workqueue_timers import Timers

log = logging.getLogger(__name__)

BACKOFF_SECONDS_FIRST = 0.005
BACKOFF_SECONDS_MAX = 300.0

Item = TypeVar("Item", bound=Hashable)
Look = Callable[[Item], Awaitable[float | None]]
"""Looks at an item, and says after how many seconds to look again, if at all."""


class LookAgain(HardpointError):
    """Nothing is wrong, but the item is not settled and has to be looked at again, later each time."""


class LookFailed(HardpointError):
    """A look failed, and whoever raises this has told people so already.

    Whoever knows when the next look is of use says so in `again_seconds`; else it is later after each failure.
    """

    def __init__(self, why: str, *, again_seconds: float | None = None) -> None:
        super().__init__(why)
        self.again_seconds = again_seconds


@dataclass(frozen=True, slots=True)
class Waits:
    """How long an item waits after failures in a row: twice as long each time."""

    seconds_first: float = BACKOFF_SECONDS_FIRST
    seconds_max: float = BACKOFF_SECONDS_MAX

    def after(self, failures: int) -> float:
        """The wait when `failures` came before the one just now."""
        # The exponent is bounded, for an item may fail for days.
        return min(self.seconds_first * 2.0 ** min(failures, 50), self.seconds_max)


@dataclass(frozen=True, slots=True)
class Rate:
    """How many failures a second are tried again, all items together, and how many at once after a rest.

    It is there for the day when everything fails: then each item's own wait is short, and a server in trouble would be
    asked by all of them at once. What works is never held back by it, nor is what is merely not settled.
    """

    per_second: float = 10.0
    burst: int = 100


class WorkQueue(Generic[Item]):
    """The most urgent items first, and of those the eldest. For one event loop."""

    def __init__(
        self,
        name: str,
        *,
        backoff: Waits = Waits(),  # noqa: B008 # frozen
        rate: Rate | None = Rate(),  # noqa: B008 # frozen
        priority: bool = True,
        metrics: QueueMetrics | None = None,
    ) -> None:
        """Without a `rate` each failure waits for itself alone. Without `priority` all items are equally urgent."""
        self.name = name
        self.metrics: QueueMetrics = metrics or Unmeasured()
        self._backoff = backoff
        self._pace = Pace(rate.per_second, rate.burst) if rate is not None else None
        self._has_priorities = priority
        self._ready: Ready[Item] = Ready()
        self._timers: Timers[Item] = Timers(self._add)
        self._busy: dict[Item, float] = {}
        self._again: dict[Item, Taken[Item]] = {}
        """What became due while it was being looked at."""
        self._failures: dict[Item, int] = {}
        self._idle = asyncio.Event()
        self._idle.set()
        self._unoccupied = asyncio.Event()
        self._unoccupied.set()
        self._boss: asyncio.Task[object] | None = None
        """Who waits for the workers."""
        self._has_broken = False

    def __len__(self) -> int:
        """How many items are due."""
        return len(self._ready) + len(self._again)

    def depths(self) -> Mapping[int, int]:
        """How many items are due, by priority."""
        return Counter(waiting.priority for waiting in (*self._ready.entries(), *self._again.values()))

    @property
    def scheduled(self) -> int:
        """How many items are to be looked at later."""
        return len(self._timers)

    def busy_seconds(self) -> list[float]:
        """How long each of the looks under way has taken so far."""
        if not self._busy:
            return []
        now = monotonic()
        return [now - since for since in self._busy.values()]

    def failures(self, item: Item) -> int:
        """How often in a row a look at an item has failed or not settled it."""
        return self._failures.get(item, 0)

    async def wait_until_idle(self) -> None:
        """Return once nobody looks at anything and nothing is due; what is to be looked at later does not count."""
        await self._idle.wait()

    def add(self, item: Item, priority: int = 0) -> None:
        """Have it looked at, now or as soon as the present look at it is over. The highest of its priorities counts."""
        self._timers.cancel(item)
        self._add(item, priority)

    def add_after(self, item: Item, seconds: float, priority: int = 0) -> None:
        """Have it looked at in a while, if nothing happens before; the earliest of several whiles counts."""
        if item in self._ready or item in self._again:
            return
        self._timers.set(item, asyncio.get_running_loop().time() + seconds, priority)

    async def work(self, look: Look[Item], *, workers: int = 1) -> None:
        """Look at items until cancelled or drained. What a cancelled one leaves is there for the next who works.

        What `look` raises is logged, and the item is looked at again, later after each failure.
        """
        self._timers.start()
        self._boss, self._has_broken = asyncio.current_task(), False
        try:
            async with asyncio.TaskGroup() as tasks:
                for number in range(workers):
                    tasks.create_task(self._work(look), name=f"{self.name} worker {number}")
        finally:
            self._timers.stop()

    async def drain(self) -> None:
        """Let nobody take anything more, and return once the looks under way are over. Ends `work` for good."""
        self._ready.close()
        await self._unoccupied.wait()

    def _add(self, item: Item, priority: int) -> None:
        priority = priority if self._has_priorities else 0
        if item not in self._ready and item not in self._again:
            self.metrics.added()
            self._idle.clear()
        now = monotonic()
        if item not in self._busy:
            self._ready.put(item, priority, now)
            return
        before = self._again.get(item)
        if before is None or before.priority < priority:
            self._again[item] = Taken(item, priority, before.since if before else now)

    async def _work(self, look: Look[Item]) -> None:
        while (taken := await self._take()) is not None:
            item, started = taken.item, self._begin(taken)
            try:
                await self._look(look, item, taken.priority)
            except asyncio.CancelledError:
                # Nobody knows how far it came: whoever works next looks at it again.
                self._add(item, taken.priority)
                raise
            except BaseException:
                self._has_broken = True
                raise
            finally:
                self._end(item, started)

    async def _take(self) -> Taken[Item] | None:
        while True:
            try:
                return await self._ready.take()
            except asyncio.CancelledError:
                if self._is_being_cancelled():
                    raise
                _stay()

    def _begin(self, taken: Taken[Item]) -> float:
        now = monotonic()
        self._busy[taken.item] = now
        self._unoccupied.clear()
        self.metrics.taken(now - taken.since)
        return now

    def _end(self, item: Item, started: float) -> None:
        del self._busy[item]
        self.metrics.finished(monotonic() - started)
        again = self._again.pop(item, None)
        if again is not None:
            self._ready.put(*again)
        if not self._busy:
            self._unoccupied.set()
            if not self._ready:
                self._idle.set()

    async def _look(self, look: Look[Item], item: Item, priority: int) -> None:
        try:
            again_seconds = await look(item)
        except LookAgain as reason:
            log.debug("item is not settled", extra=self._told(item, reason))
            self._retry(item, priority, None)
        except LookFailed as failure:
            log.debug("item failed", extra=self._told(item, failure))
            self._retry(item, priority, self._pace, failure.again_seconds)
        except HardpointError as failure:
            log.info("item failed", extra=self._told(item, failure))
            self._retry(item, priority, self._pace)
        except Exception:  # One object nobody thought of must not keep the others from being looked at.
            log.exception("item failed", extra={"queue": self.name, "item": str(item)})
            self._retry(item, priority, self._pace)
        except asyncio.CancelledError:
            if self._is_being_cancelled():
                raise
            # The look cancelled itself, or what it waited for was cancelled: a worker must not die of that.
            _stay()
            log.exception("item failed", extra={"queue": self.name, "item": str(item)})
            self._retry(item, priority, self._pace)
        else:
            self._failures.pop(item, None)
            if again_seconds is not None:
                # Who wants to look again at once, and again, may have the loop now and then.
                self.add_after(item, max(again_seconds, BACKOFF_SECONDS_FIRST), priority)

    def _is_being_cancelled(self) -> bool:
        """Whether the work as a whole ends: then whoever began it was cancelled, or another worker broke."""
        return self._has_broken or (self._boss is not None and self._boss.cancelling() > 0)

    def _told(self, item: Item, why: HardpointError) -> dict[str, str]:
        return {"queue": self.name, "item": str(item), "why": str(why)}

    def _retry(self, item: Item, priority: int, pace: Pace | None, again_seconds: float | None = None) -> None:
        self.metrics.retried()
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        seconds = self._backoff.after(failures) if again_seconds is None else again_seconds
        if pace is not None:
            seconds = max(seconds, pace.delay_seconds(monotonic()))
        self.add_after(item, seconds, priority)


def _stay() -> None:
    """Forget that a look cancelled the worker which it ran in."""
    task = asyncio.current_task()
    while task is not None and task.cancelling():
        task.uncancel()
