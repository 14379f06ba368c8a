"""A queue of things to look at: once at a time, again when needed, later when it went wrong."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.workqueue import LookAgain, Waits, WorkQueue

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
