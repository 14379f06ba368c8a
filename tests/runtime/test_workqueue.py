"""A queue of things to look at: once at a time, again when needed, later when it went wrong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.workqueue import LookAgain, LookFailed, Waits, WorkQueue

Look = Callable[[str], Awaitable[float | None]]


@pytest.fixture
def queue() -> WorkQueue[str]:
    return WorkQueue("test")


@asynccontextmanager
async def worked(queue: WorkQueue[str], look: Look, *, workers: int = 1) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(queue.work(look, workers=workers))
        async with asyncio.timeout(10):
            yield
        working.cancel()


class Looks:
    """Notes what was looked at, and does what the test says about it."""

    def __init__(self, *outcomes: Exception | float | None) -> None:
        self.seen: list[str] = []
        self.at_seconds: list[float] = []
        self._outcomes = iter(outcomes)
        self._news = asyncio.Event()

    async def __call__(self, item: str) -> float | None:
        self.seen.append(item)
        self.at_seconds.append(asyncio.get_running_loop().time())
        self._news.set()
        outcome = next(self._outcomes, None)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def until(self, count: int) -> None:
        while len(self.seen) < count:
            self._news.clear()
            await self._news.wait()


async def test_what_is_added_twice_is_looked_at_once(queue: WorkQueue[str]) -> None:
    looks = Looks()
    for item in "abab":
        queue.add(item)
    async with worked(queue, looks):
        await queue.wait_until_idle()
    assert looks.seen == ["a", "b"]


async def test_what_happens_during_a_look_is_looked_at_after_it(queue: WorkQueue[str]) -> None:
    under_way = 0
    seen = []

    async def look(item: str) -> None:
        nonlocal under_way
        under_way += 1
        assert under_way == 1, "nobody looks at an item twice at once"
        seen.append(item)
        if len(seen) == 1:
            queue.add(item)
            queue.add(item)
        await asyncio.sleep(0)
        under_way -= 1

    queue.add("a")
    async with worked(queue, look, workers=4):
        await queue.wait_until_idle()
    assert seen == ["a", "a"]


async def test_different_items_are_looked_at_at_once(queue: WorkQueue[str]) -> None:
    meeting = asyncio.Barrier(3)

    async def look(_: str) -> None:
        await meeting.wait()

    for item in "abc":
        queue.add(item)
    async with worked(queue, look, workers=3):
        await queue.wait_until_idle()


async def test_a_look_may_ask_for_another(queue: WorkQueue[str]) -> None:
    looks = Looks(0.01)
    queue.add("a")
    async with worked(queue, looks):
        await looks.until(2)
        await queue.wait_until_idle()
    assert looks.seen == ["a", "a"]


async def test_the_earliest_of_several_whiles_counts(queue: WorkQueue[str]) -> None:
    looks = Looks()
    for seconds in (3600.0, 0.01, 1800.0):
        queue.add_after("a", seconds)
    async with worked(queue, looks):
        await looks.until(1)
        await queue.wait_until_idle()
        assert not queue.scheduled


@pytest.mark.parametrize("failure", [HardpointError("no"), LookAgain("not yet"), KeyError("a bug")], ids=repr)
async def test_failures_are_tried_again_later_each_time(
    queue: WorkQueue[str], failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    looks = Looks(failure, failure, failure, failure)
    queue.add("a")
    async with worked(queue, looks):
        await looks.until(5)
        await queue.wait_until_idle()
    waits = [after - before for before, after in zip(looks.at_seconds, looks.at_seconds[1:], strict=False)]
    assert all(wait >= 0.9 * 0.005 * 2**number for number, wait in enumerate(waits))
    assert not queue.failures("a"), "what worked begins anew"
    assert ("a bug" in caplog.text) is isinstance(failure, KeyError)


async def test_a_failing_item_keeps_nobody_waiting(queue: WorkQueue[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    seen = []

    async def look(item: str) -> None:
        seen.append(item)
        if item == "bad":
            raise ValueError(item)

    for item in ("bad", "a", "b"):
        queue.add(item)
    async with worked(queue, look):
        await queue.wait_until_idle()
    assert seen[:3] == ["bad", "a", "b"]


def test_waits_have_an_end() -> None:
    waits = [Waits().after(failures) for failures in range(2000)]
    assert waits[:3] == [0.005, 0.01, 0.02]
    assert waits == sorted(waits)
    assert waits[-1] == 300.0
    assert Waits(1.0, 1000.0).after(10) == 1000.0


async def test_what_is_more_urgent_overtakes(queue: WorkQueue[str]) -> None:
    looks = Looks()
    for item in "abc":
        queue.add(item, priority=-100)
    queue.add("now")
    queue.add("b")
    async with worked(queue, looks):
        await queue.wait_until_idle()
    assert looks.seen == ["now", "b", "a", "c"]


async def test_without_priorities_all_wait_their_turn() -> None:
    queue: WorkQueue[str] = WorkQueue("equal", priority=False)
    looks = Looks()
    for item, priority in (("a", -100), ("b", 0), ("c", 100)):
        queue.add(item, priority)
    async with worked(queue, looks):
        await queue.wait_until_idle()
    assert looks.seen == ["a", "b", "c"]


async def test_draining_ends_the_looks_under_way_and_begins_none(queue: WorkQueue[str]) -> None:
    begun, may_end = asyncio.Event(), asyncio.Event()
    ended: list[str] = []

    async def look(item: str) -> None:
        begun.set()
        await may_end.wait()
        ended.append(item)

    for item in "abc":
        queue.add(item)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        working = tasks.create_task(queue.work(look))
        await begun.wait()
        draining = tasks.create_task(queue.drain())
        await asyncio.sleep(0)
        assert not draining.done()
        may_end.set()
        await draining
        await working
    assert ended == ["a"]
    assert len(queue) == 2


async def test_draining_wakes_workers_that_have_nothing_to_do(queue: WorkQueue[str]) -> None:
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        working = tasks.create_task(queue.work(Looks(), workers=3))
        await asyncio.sleep(0)
        await queue.drain()
        await working


async def test_who_works_next_looks_at_what_was_interrupted(queue: WorkQueue[str]) -> None:
    begun = asyncio.Event()

    async def look(_: str) -> None:
        begun.set()
        await asyncio.Event().wait()

    queue.add("a")
    queue.add_after("later", 0.01)
    async with worked(queue, look):
        await begun.wait()
    looks = Looks()
    async with worked(queue, looks):
        await looks.until(2)
    assert looks.seen == ["a", "later"]


async def test_workers_cancelled_together_leave_quietly_and_lose_nothing(queue: WorkQueue[str]) -> None:
    async with worked(queue, Looks(), workers=4):
        await asyncio.sleep(0)
        queue.add("a")
    looks = Looks()
    async with worked(queue, looks, workers=4):
        queue.add("a")
        await queue.wait_until_idle()
    assert looks.seen == ["a"]


class Measured:
    def __init__(self) -> None:
        self.told: list[str] = []

    def added(self) -> None:
        self.told.append("added")

    def taken(self, waited_seconds: float) -> None:
        assert waited_seconds >= 0
        self.told.append("taken")

    def finished(self, worked_seconds: float) -> None:
        assert worked_seconds >= 0
        self.told.append("finished")

    def retried(self) -> None:
        self.told.append("retried")


async def test_what_is_measured() -> None:
    measured = Measured()
    queue: WorkQueue[str] = WorkQueue("measured", metrics=measured)
    looks = Looks(LookAgain("not yet"))
    queue.add("a")
    queue.add("a")
    assert (len(queue), queue.busy_seconds()) == (1, [])
    async with worked(queue, looks):
        await looks.until(2)
        await queue.wait_until_idle()
    assert measured.told == ["added", "taken", "retried", "finished", "added", "taken", "finished"]


async def test_a_worker_survives_that_something_it_waits_for_is_cancelled(queue: WorkQueue[str]) -> None:
    seen: list[str] = []

    async def look(item: str) -> None:
        seen.append(item)
        if seen.count(item) == 1:
            waiting = asyncio.ensure_future(asyncio.Event().wait())
            waiting.cancel()
            await waiting

    queue.add("a")
    async with worked(queue, look):
        while queue.failures("a") or len(seen) < 2:
            await asyncio.sleep(0.001)
            await queue.wait_until_idle()
    assert seen == ["a", "a"]


async def test_who_failed_may_say_when_to_look_again(queue: WorkQueue[str]) -> None:
    looks = Looks(LookFailed("no", again_seconds=0.1), LookFailed("no", again_seconds=3600.0))
    queue.add("a")
    async with worked(queue, looks):
        await looks.until(2)
        await queue.wait_until_idle()
    assert looks.at_seconds[1] - looks.at_seconds[0] >= 0.1, "not after the usual five milliseconds"
    assert (queue.failures("a"), queue.scheduled) == (2, 1)
