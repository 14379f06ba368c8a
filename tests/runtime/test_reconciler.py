"""The loop around reconciling: how each look is counted, whose keys are looked at, and that it keeps nobody waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import thread_time
from typing import Any

import pytest

from hardpoint.runtime.changes import Change, Key
from hardpoint.runtime.controllermetrics import ReconcileCounts
from hardpoint.runtime.reconciler import INITIAL_PRIORITY, TURN_SECONDS, GivenUp, Reconcile, Reconciler, Source
from hardpoint.runtime.sharding import ShardLost
from hardpoint.runtime.telemetry import log_fields
from hardpoint.runtime.workqueue import LookFailed, WorkQueue

A, B = Key("default", "a"), Key("default", "b")


class Informer:
    """Tells what it is told to tell."""

    def __init__(self, *keys: Key) -> None:
        self._keys = list(keys)
        self.tell: Any = None

    async def wait_until_synced(self) -> None: ...

    def keys(self) -> list[Key]:
        return self._keys

    def subscribe(self, handler: Any, *, resync_seconds: float | None = None) -> Any:
        self.tell = handler
        return lambda: setattr(self, "tell", None)


def reconciler(reconcile: Reconcile, informer: Any = None, **options: Any) -> tuple[Reconciler, ReconcileCounts]:
    counts = ReconcileCounts(workers=1)
    sources = [Source(informer or Informer(), lambda change: [change.key])]
    return Reconciler(WorkQueue("test"), reconcile, sources, counts=counts, **options), counts


@asynccontextmanager
async def running(made: Reconciler) -> AsyncIterator[None]:
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks, made.listening():
        task = tasks.create_task(made.run())
        yield
        await made.queue.wait_until_idle()
        task.cancel()


@pytest.mark.parametrize(
    ("answer", "result", "terminal"),
    [
        pytest.param(None, "success", 0, id="settled"),
        pytest.param(0.0, "requeue", 0, id="at once"),
        pytest.param(3600.0, "requeue_after", 0, id="later"),
        pytest.param(LookFailed("no"), "error", 0, id="failed"),
        pytest.param(GivenUp("no"), "error", 1, id="given up"),
    ],
)
async def test_each_look_is_counted_by_how_it_ended(answer: Any, result: Any, terminal: int) -> None:
    looked = asyncio.Event()

    async def look(key: Key) -> float | None:
        if looked.is_set():
            return None
        looked.set()
        assert counts.active == 1
        if isinstance(answer, Exception):
            raise answer
        found: float | None = answer
        return found

    made, counts = reconciler(look)
    made.queue.add(A)
    async with running(made):
        await looked.wait()
    assert counts.results[result] >= 1
    assert (counts.terminal_errors, counts.active) == (terminal, 0)
    assert not (terminal and made.queue.scheduled), "what is given up is not looked at again"


async def test_what_is_logged_in_a_look_says_which() -> None:
    fields: list[dict[str, Any]] = []

    async def look(key: Key) -> None:
        fields.append(log_fields())

    made, _ = reconciler(look, group="example.com", kind="Widget")
    made.queue.add(A)
    async with running(made):
        pass
    (said,) = fields
    assert (said["controller"], said["namespace"], said["name"]) == ("test", "default", "a")
    assert (said["controllerGroup"], said["controllerKind"]) == ("example.com", "Widget")


class Share:
    """Has some of the keys, and may lose one while it is worked on."""

    def __init__(self, *owned: Key) -> None:
        self.owned = set(owned)

    def owns(self, key: Key) -> bool:
        return key in self.owned

    @asynccontextmanager
    async def holding(self, key: Key) -> AsyncIterator[None]:
        if key not in self.owned:
            raise ShardLost(f"{key} is not ours")
        yield


async def test_only_keys_of_ours_are_looked_at_and_more_when_there_are_more() -> None:
    seen: list[Key] = []

    async def look(key: Key) -> None:
        seen.append(key)

    share = Share(A)
    informer = Informer(A, B)
    made, _ = reconciler(look, informer, share=share)
    async with running(made):
        for key in (A, B):
            informer.tell(Change("ADDED", key, {}))
    assert seen == [A]
    share.owned = {A, B}
    async with running(made):
        made.add_all()
        share.owned = {B}
    assert seen == [A, B], "a key that was lost before its turn is left to another"


async def test_what_was_there_waits_for_what_happens_now() -> None:
    seen: list[Key] = []

    async def look(key: Key) -> None:
        seen.append(key)

    informer = Informer()
    made, _ = reconciler(look, informer)
    async with made.listening():
        informer.tell(Change("ADDED", A, {}, is_initial=True))
        informer.tell(Change("MODIFIED", B, {}, {}))
        assert made.queue.depths() == {INITIAL_PRIORITY: 1, 0: 1}
    assert informer.tell is None, "whoever has left hears no more"
    async with running(made):
        pass
    assert seen == [B, A]


async def test_looks_that_never_wait_keep_nobody_waiting() -> None:
    keys = [Key("default", str(number)) for number in range(200)]
    longest = 0.0

    async def look(key: Key) -> None:
        until = thread_time() + TURN_SECONDS / 10
        while thread_time() < until:
            pass

    async def beat() -> None:
        nonlocal longest
        last = thread_time()
        while True:
            await asyncio.sleep(0)
            longest, last = max(longest, thread_time() - last), thread_time()

    made, _ = reconciler(look, workers=4)
    for key in keys:
        made.queue.add(key)
    beating = asyncio.create_task(beat())
    async with running(made):
        pass
    beating.cancel()
    everything = len(keys) * TURN_SECONDS / 10
    assert longest < everything / 2, "others had their turns in between"


async def test_what_runs_beside_the_looks_begins_and_ends_with_them() -> None:
    story: list[str] = []

    @asynccontextmanager
    async def beside() -> AsyncIterator[None]:
        story.append("begins")
        try:
            yield
        finally:
            story.append("ends")

    async def look(key: Key) -> None:
        story.append(str(key))

    informer = Informer()
    made, _ = reconciler(look, informer, beside=beside)
    async with running(made):
        informer.tell(Change("ADDED", A, {"metadata": {}}))
    assert story == ["begins", "default/a", "ends"]
