"""The reconcile loop: changes become keys, each key is looked at by one worker at a time, until it is settled.

It knows nothing of what reconciling is. Keys come from sources, an informer and a function that says whom a change
concerns; a key says nothing of what happened, so changes that come while one waits or is looked at become one look.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic

from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.changes import Change, Key
from hardpoint.runtime.controllermetrics import ReconcileCounts, Result
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.telemetry import Reconciling
from hardpoint.runtime.workqueue import WorkQueue

Reconcile = Callable[[Key], Awaitable[float | None]]
"""Settles a key, and says after how many seconds to do it again, if at all. What it raises has it done again later."""
INITIAL_PRIORITY = -100
"""What was there at the start waits for what happens now, as in controller-runtime."""
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
        wants: Callable[[Key], bool] = lambda key: True,
    ) -> None:
        """`group` and `kind` are what the keys are of; `wants` says which of them are this process's."""
        self.queue = queue
        self._reconcile = reconcile
        self.sources = sources
        self._counts = counts
        self._group = group
        self._kind = kind
        self._workers = workers
        self._wants = wants

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
        await self.queue.work(self._look, workers=self._workers)

    def add(self, keys: Iterable[Key], *, priority: int = 0) -> None:
        for key in keys:
            if self._wants(key):
                self.queue.add(key, priority=priority)

    async def _look(self, key: Key) -> float | None:
        if not self._wants(key):
            return None
        result: Result = "error"
        is_terminal = False
        started = monotonic()
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

    def _told(self, key: Key) -> Reconciling:
        name, failures = self.queue.name, self.queue.failures(key)
        return Reconciling(name, key, group=self._group, kind=self._kind, attempts=failures)

    def _listen(self, source: Source) -> Callable[[], None]:
        def changed(change: Change) -> None:
            self.add(source.concerns(change), priority=INITIAL_PRIORITY if change.is_initial else 0)

        return source.informer.subscribe(changed, resync_seconds=source.resync_seconds)
