"""Several replicas share the keys among them, without talking to each other.

    shards = Shards(client, "crontabs", "operators", new_identity())
    async with shards.running():
        if shards.owns(key):
            async with shards.holding(key):
                ...                                 # nobody else does this, to this key, meanwhile

The keys are divided into a fixed number of shards. Each replica has a Lease that says it lives, and each shard one that
says whose it is; replicas take what is free and give up what is more than their share. `shardingview.py` decides that;
here it is carried out, and made sure that whoever can no longer prove it lives owns nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.transport import TransportError
from hardpoint.machinery.errors import ApiError, HardpointError
from hardpoint.machinery.timestamps import format_micro_time
from hardpoint.runtime.election import Clock, LeaderElection, LeadershipLost, SystemClock
from hardpoint.runtime.electionlease import CONFLICT, LEASES, NOT_FOUND, LeaseLock, Record
from hardpoint.runtime.shardingview import APP_LABEL, Plan, View, labels, replica_lease, shard_lease, shard_of

Json = dict[str, Any]

log = logging.getLogger(__name__)

SHARDS = 32
SOON_SECONDS = 0.01
"""How soon to look again when somebody was faster."""


class ShardLost(HardpointError):
    """The key is another replica's, or soon will be."""


class Shards:
    """One replica's part of the keys."""

    def __init__(
        self,
        client: Client,
        name: str,
        namespace: str,
        identity: str,
        count: int = SHARDS,
        lease_seconds: int = 15,
        renew_seconds: float = 10.0,
        retry_seconds: float = 2.0,
        *,
        on_gain: Callable[[frozenset[int]], object] = lambda gained: None,
        clock: Clock | None = None,
    ) -> None:
        """`on_gain` is told which shards are new whenever there are some: their keys have to be looked at.

        All replicas must have the same `count`; one that sees others at work with another one waits until they are
        gone. The times are those of an election. Raises ConfigError.
        """
        self.count = count
        self._client = client
        self._name = name
        self._namespace = namespace
        self._identity = identity
        self._retry_seconds = retry_seconds
        self._patience_seconds = renew_seconds / 2
        self._lease_seconds = lease_seconds
        self._clock = clock or SystemClock()
        self._on_gain = on_gain
        self._view = View(name, identity, count, lease_seconds)
        self._labels = labels(name, count)
        lease = replica_lease(name, identity)
        times = (lease_seconds, renew_seconds, retry_seconds)
        self._life = LeaderElection(client, lease, namespace, identity, *times, labels=self._labels, clock=clock)
        self._owned: frozenset[int] = frozenset()
        self._leaving: dict[int, asyncio.Task[None]] = {}
        self._work: dict[int, set[asyncio.Timeout]] = {}
        self._work_ended = asyncio.Event()

    @property
    def owned(self) -> frozenset[int]:
        """The shards that are this replica's at this very moment."""
        return self._owned if self._life.is_leading else frozenset()

    def shard_of(self, key: object) -> int:
        return shard_of(str(key), self.count)

    def owns(self, key: object) -> bool:
        """Whether a key is this replica's at this very moment, and new work on it may begin."""
        return self.shard_of(key) in self._owned and self._life.is_leading

    @asynccontextmanager
    async def holding(self, key: object) -> AsyncIterator[None]:
        """Work on a key. Its shard is not given to others before the work has ended.

        Raises ShardLost if the key is not ours, and in place of the work if it can no longer be proved to be: the
        work is cancelled then, while the shard is still ours.
        """
        if not self.owns(key):
            raise ShardLost(f"{key} is not this replica's")
        scopes = self._work.setdefault(self.shard_of(key), set())
        scope = asyncio.timeout(None)
        try:
            async with scope:
                scopes.add(scope)
                yield
        except TimeoutError as ended:
            if not scope.expired():
                raise
            raise ShardLost(f"{key} is no longer this replica's") from ended
        finally:
            scopes.discard(scope)
            self._work_ended.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Shards]:
        """Take part until left; then what is ours is given up as soon as the work on it has ended."""
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self._run(), name=f"shards of {self._name}")
            try:
                yield self
            finally:
                running.cancel()

    async def _run(self) -> None:
        while True:
            try:
                async with self._life.leading():
                    await self._live()
            except LeadershipLost as lost:
                log.warning("shards lost", extra={"app": self._name, "why": str(lost)})

    async def _live(self) -> None:
        """Balance until cancelled. Whoever is still known to live then leaves in order; else all work is cancelled."""
        try:
            while True:
                await self._clock.sleep(await self._look())
        finally:
            try:
                if self._life.is_leading:
                    self._give(self._owned)
                    await _ended(self._leaving.values())
            finally:
                self._drop_all()
                await _ended(self._leaving.values())

    async def _look(self) -> float:
        """Do what there is to do; for how many seconds to sleep then."""
        try:
            async with asyncio.timeout(self._patience_seconds):
                plan = await self._plan()
                self._give(plan.give)
                self._give(self._left_over(plan))
                are_settled = await self._take_all(plan.take)
                for lease in plan.forget:
                    await self._forget(lease)
        except (ApiError, TransportError, TimeoutError) as failure:
            log.warning("shards not balanced", extra={"app": self._name, "why": str(failure) or "no answer in time"})
            return self._retry_seconds
        return min(self._retry_seconds, plan.next_seconds) if are_settled else SOON_SECONDS

    async def _plan(self) -> Plan:
        asked_at = self._clock.time()
        selector = f"{APP_LABEL}={self._name}"
        listed = await self._client.list(LEASES, namespace=self._namespace, label_selector=selector)
        plan = self._view.plan(listed["items"], self._owned, asked_at, self._clock.time())
        taken_away = {shard for shard in self._owned if self._view.holder(shard) != self._identity}
        self._stop_work(taken_away)
        self._own(self._owned - taken_away)
        return plan

    def _left_over(self, plan: Plan) -> set[int]:
        """What is said to be ours but is not, since an answer was lost, and is not wanted either."""
        ours = {shard for shard in self._view.shards if self._view.holder(shard) == self._identity}
        return ours - self._owned - self._leaving.keys() - set(plan.take)

    async def _take_all(self, shards: Iterable[int]) -> bool:
        """Make free shards ours. False if somebody was faster, and it is worth looking again soon."""
        taken: set[int] = set()
        try:
            wanted = [shard for shard in shards if shard not in self._leaving]
            return all(await asyncio.gather(*(self._take(shard, taken) for shard in wanted)))
        finally:
            if self._life.is_leading:
                self._own(self._owned | taken)

    async def _take(self, shard: int, taken: set[int]) -> bool:
        there = self._view.shards.get(shard)
        lock = self._lock(shard, there)
        now = format_micro_time(self._clock.now())
        transitions = Record.of(there).transitions + 1 if there is not None else 0
        record = Record(self._identity, self._lease_seconds, now, now, transitions)
        try:
            await (lock.create(record) if there is None else lock.replace(record))
        except (ApiError, TransportError) as failure:
            log.debug("shard not taken", extra={"lease": str(lock), "why": str(failure)})
            return not (isinstance(failure, ApiError) and failure.code in (CONFLICT, NOT_FOUND))
        taken.add(shard)
        return True

    def _give(self, shards: Iterable[int]) -> None:
        """Begin no more work on them, and let them go when the work under way has ended."""
        leaving = frozenset(shards)
        self._own(self._owned - leaving)
        for shard in leaving:
            task = asyncio.create_task(self._release(shard), name=f"release {shard_lease(self._name, shard)}")
            self._leaving[shard] = task
            task.add_done_callback(partial(self._has_left, shard))

    def _has_left(self, shard: int, _: asyncio.Task[None]) -> None:
        del self._leaving[shard]

    async def _release(self, shard: int) -> None:
        while self._work.get(shard):
            self._work_ended.clear()
            await self._work_ended.wait()
        lock = self._lock(shard, self._view.shards.get(shard))
        now = format_micro_time(self._clock.now())
        try:
            async with asyncio.timeout(self._patience_seconds):
                found = await lock.read()
                if found is not None and found.holder == self._identity:
                    await lock.replace(Record("", self._lease_seconds, found.acquired, now, found.transitions))
        except (ApiError, TransportError, TimeoutError) as failure:
            # It still says that it is ours, so we see it as free the next time, and everybody else when we are gone.
            log.info("shard not released", extra={"lease": str(lock), "why": str(failure) or "no answer in time"})

    async def _forget(self, lease: Json) -> None:
        """Delete the Lease of a replica that is gone, unless it came back. Who may not leaves that to others."""
        metadata = lease["metadata"]
        unchanged = {"uid": metadata["uid"], "resource_version": metadata["resourceVersion"]}
        try:
            await self._client.delete(LEASES, metadata["name"], namespace=self._namespace, **unchanged)
        except ApiError as refused:
            log.debug("lease not deleted", extra={"lease": metadata["name"], "why": str(refused)})

    def _lock(self, shard: int, lease: Json | None) -> LeaseLock:
        lock = LeaseLock(self._client, self._namespace, shard_lease(self._name, shard), self._labels)
        lock.lease = lease
        return lock

    def _drop_all(self) -> None:
        self._stop_work(range(self.count))
        for task in self._leaving.values():
            task.cancel()
        self._own(frozenset())

    def _stop_work(self, shards: Iterable[int]) -> None:
        now = asyncio.get_running_loop().time()
        for shard in shards:
            for scope in self._work.get(shard, ()):
                if not scope.expired():
                    scope.reschedule(now)

    def _own(self, owned: frozenset[int]) -> None:
        if owned == self._owned:
            return
        gained = owned - self._owned
        self._owned = owned
        log.info("shards changed", extra={"app": self._name, "shards": sorted(owned)})
        if gained:
            self._on_gain(gained)


async def _ended(tasks: Iterable[asyncio.Task[None]]) -> None:
    waiting = list(tasks)
    if waiting:
        await asyncio.wait(waiting)
