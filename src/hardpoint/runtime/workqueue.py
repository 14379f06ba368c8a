"""Things to look at: each at most once at a time, again if something happened meanwhile, later if it went wrong.

An item is a name, not a piece of news: whoever takes one looks at the world as it is then. The waits after failures are
client-go's, five milliseconds and doubling, but end at five minutes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from hardpoint.machinery.errors import HardpointError

log = logging.getLogger(__name__)

BACKOFF_SECONDS_FIRST = 0.005
BACKOFF_SECONDS_MAX = 300.0

Item = TypeVar("Item", bound=Hashable)


class LookAgain(HardpointError):
    """Nothing is wrong, but the item is not settled and has to be looked at again, later each time."""


class WorkQueue(Generic[Item]):
    """Items in the order they were added. For one event loop."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._ready: asyncio.Queue[Item] = asyncio.Queue()
        self._due: set[Item] = set()
        self._busy: set[Item] = set()
        self._timers: dict[Item, asyncio.TimerHandle] = {}
        self._failures: dict[Item, int] = {}
        self._idle = asyncio.Event()
        self._idle.set()

    async def wait_until_idle(self) -> None:
        """Return once nobody looks at anything and nothing is due; what is to be looked at later does not count."""
        await self._idle.wait()

    def add(self, item: Item) -> None:
        """Have it looked at, now or as soon as the present look at it is over."""
        timer = self._timers.pop(item, None)
        if timer is not None:
            timer.cancel()
        if item in self._due:
            return
        self._due.add(item)
        self._idle.clear()
        if item not in self._busy:
            self._ready.put_nowait(item)

    def add_after(self, item: Item, seconds: float) -> None:
        """Have it looked at in a while, if nothing happens before; the earliest of several whiles counts."""
        loop = asyncio.get_running_loop()
        timer = self._timers.get(item)
        if item in self._due or (timer is not None and timer.when() <= loop.time() + seconds):
            return
        if timer is not None:
            timer.cancel()
        self._timers[item] = loop.call_later(seconds, self.add, item)

    async def work(self, look: Callable[[Item], Awaitable[float | None]], *, workers: int = 1) -> None:
        """Look at items until cancelled. `look` says after how many seconds to look again, if at all.

        What it raises is logged, and the item is looked at again, later after each failure.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                for number in range(workers):
                    tasks.create_task(self._work(look), name=f"{self.name} worker {number}")
        finally:
            for timer in self._timers.values():
                timer.cancel()
            self._timers.clear()

    async def _work(self, look: Callable[[Item], Awaitable[float | None]]) -> None:
        while True:
            item = await self._ready.get()
            self._due.discard(item)
            self._busy.add(item)
            try:
                await self._look(look, item)
            finally:
                self._busy.discard(item)
                if item in self._due:
                    self._ready.put_nowait(item)
                elif not self._due and not self._busy:
                    self._idle.set()

    async def _look(self, look: Callable[[Item], Awaitable[float | None]], item: Item) -> None:
        try:
            again_seconds = await look(item)
        except LookAgain as reason:
            log.debug("item is not settled", extra=self._told(item, reason))
            self._retry(item)
        except HardpointError as failure:
            log.info("item failed", extra=self._told(item, failure))
            self._retry(item)
        except Exception:  # One object nobody thought of must not keep the others from being looked at.
            log.exception("item failed", extra={"queue": self.name, "item": str(item)})
            self._retry(item)
        else:
            self._failures.pop(item, None)
            if again_seconds is not None:
                self.add_after(item, again_seconds)

    def _told(self, item: Item, why: HardpointError) -> dict[str, str]:
        return {"queue": self.name, "item": str(item), "why": str(why)}

    def _retry(self, item: Item) -> None:
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        # The exponent is bounded, for an item may fail for days.
        self.add_after(item, min(BACKOFF_SECONDS_FIRST * 2.0 ** min(failures, 20), BACKOFF_SECONDS_MAX))
