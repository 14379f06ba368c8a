"""The reconcile loop: changes become keys, each key is looked at by one worker at a time, until it is settled.

It knows nothing of what reconciling is. Keys come from sources, an informer and a function that says whom a change
concerns; a key says nothing of what happened, so changes that come while one waits or is looked at become one look.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from time import monotonic

from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.changes import Change, Key
from hardpoint.runtime.controllermetrics import ReconcileCounts, Result
from hardpoint.runtime.environment import Share
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.sharding import ShardLost
from hardpoint.runtime.telemetry import Reconciling
from hardpoint.runtime.workqueue import WorkQueue

log = logging.getLogger(__name__)

Reconcile = Callable[[Key], Awaitable[float | None]]
"""Settles a key, and says after how many seconds to do it again, if at all. What it raises has it done again later."""
INITIAL_PRIORITY = -100
"""What was there at the start waits for what happens now, as in controller-runtime."""
TURN_SECONDS = 0.002
"""How long reconciles run before others of the event loop do."""
_RESULTS: Mapping[float | None, Result] = {None: "success", 0.0: "requeue"}


class GivenUp(HardpointError):
    """The key cannot be settled as things are, which was told; it is looked at again when something changes."""


@dataclass(frozen=True, slots=True)
class Source:
    """An informer, and whom a change of it concerns."""

    informer: Informer
    concerns: Callable[[Change], Iterable[Key]]
    resync_seconds: float | None = None


class Reconciler:
    """Calls `reconcile` for the keys that its sources tell of. For one event loop."""

    def __init__(
        self,
        queue: WorkQueue[Key],
        reconcile: Reconcile,
        sources: Sequence[Source],
        *,
        counts: ReconcileCounts,
        group: str = "",
        kind: str = "",
        workers: int = 1,
        share: Share | None = None,
        beside: Callable[[], AbstractAsyncContextManager[object]] = nullcontext,
    ) -> None:
        """The first source has the objects themselves, of `group` and `kind`; a `share` is the part that is ours.

        What `beside` returns is entered for as long as keys are looked at.
        """
        self.queue = queue
        self._reconcile = reconcile
        self.sources = sources
        self._counts = counts
        self._group = group
        self._kind = kind
        self._workers = workers
        self._turn_ends = 0.0
        self._next_turn = asyncio.Event()
        self._is_pausing = False
        self._share = share
        self._beside = beside

    async def wait_until_synced(self) -> None:
        for source in self.sources:
            await source.informer.wait_until_synced()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Queue keys until left; nothing is looked at yet."""
        stops = [self._listen(source) for source in self.sources]
        try:
            yield
        finally:
            for stop in stops:
                stop()

    async def run(self) -> None:
        """Look at keys once all informers are synced, until cancelled or drained."""
        await self.wait_until_synced()
        async with self._beside():
            await self.queue.work(self._look, workers=self._workers)

    def add_all(self, wanted: Callable[[Key], bool] = lambda key: True) -> None:
        """Look again at every object that is `wanted`, since more of them are ours than before."""
        self._add(filter(wanted, self.sources[0].informer.keys()), INITIAL_PRIORITY)

    def _add(self, keys: Iterable[Key], priority: int) -> None:
        for key in keys:
            if self._share is None or self._share.owns(key):
                self.queue.add(key, priority)

    async def _look(self, key: Key) -> float | None:
        if self._share is None:
            return await self._look_at_ours(key)
        try:
            async with self._share.holding(key):
                return await self._look_at_ours(key)
        except ShardLost as lost:
            log.debug("left to another replica", extra={"why": str(lost)})
            return None

    async def _look_at_ours(self, key: Key) -> float | None:
        started = monotonic()
        if started > self._turn_ends:
            await self._let_others_run()
            started = monotonic()
        result: Result = "error"
        is_terminal = False
        self._counts.active += 1
        try:
            with self._told(key) as told:
                again_seconds = await self._reconcile(key)
                result = told.result = _RESULTS.get(again_seconds, "requeue_after")
            return again_seconds
        except GivenUp:
            is_terminal = True
            return None
        finally:
            self._counts.active -= 1
            self._counts.ended(result, monotonic() - started, is_terminal=is_terminal)

    async def _let_others_run(self) -> None:
        """Looks that have nothing to wait for would keep the event loop to themselves: all of them pause together."""
        if not self._is_pausing:
            self._is_pausing = True
            asyncio.get_running_loop().call_soon(self._begin_turn)
        await self._next_turn.wait()

    def _begin_turn(self) -> None:
        self._is_pausing = False
        self._turn_ends = monotonic() + TURN_SECONDS
        self._next_turn.set()
        self._next_turn.clear()

    def _told(self, key: Key) -> Reconciling:
        name, failures = self.queue.name, self.queue.failures(key)
        return Reconciling(name, key, group=self._group, kind=self._kind, attempts=failures)

    def _listen(self, source: Source) -> Callable[[], None]:
        def changed(change: Change) -> None:
            self._add(source.concerns(change), INITIAL_PRIORITY if change.is_initial else 0)

        return source.informer.subscribe(changed, resync_seconds=source.resync_seconds)
