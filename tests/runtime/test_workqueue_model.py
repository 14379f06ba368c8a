"""Any mix of adds, waits, priorities and failures: nothing is lost, nothing is looked at twice at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.runtime.workqueue import LookAgain, Rate, WorkQueue


class _Skipping(selectors.SelectSelector):
    """Never waits, and counts for how long it should have."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.skipped += timeout or 0.0
        return super().select(0)


class Hurried(asyncio.SelectorEventLoop):
    """A loop in which hours pass in no time."""

    def __init__(self) -> None:
        self._skipping = _Skipping()
        super().__init__(self._skipping)

    def time(self) -> float:
        return super().time() + self._skipping.skipped


def hurried(play: Callable[[], Awaitable[None]]) -> None:
    with asyncio.Runner(loop_factory=Hurried) as runner:
        runner.run(play())  # type: ignore[arg-type]  # our plays are coroutines


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 # time passes only because somebody waits for it
        await asyncio.sleep(1)


Outcome = Literal["settled", "again", "failed", "not settled"]
Act = tuple[Literal["add", "add_after", "pass"], str, float, int]

items = st.sampled_from("abcd")
acts = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add_after", "pass"]),
        items,
        st.sampled_from([0.0, 0.5, 60.0, 7200.0]),
        st.sampled_from([-100, 0, 0, 5]),
    ),
    max_size=40,
)
outcomes = st.lists(st.sampled_from(["settled", "settled", "again", "failed", "not settled"]), max_size=30)


@dataclass
class Model:
    """What must be true of each look."""

    queue: WorkQueue[str]
    outcomes: list[Outcome]
    owed: set[str] = field(default_factory=set)
    """Items that have to be looked at yet, now or later."""
    busy: set[str] = field(default_factory=set)

    def add(self, item: str, priority: int) -> None:
        self.owed.add(item)
        self.queue.add(item, priority)

    def add_after(self, item: str, seconds: float, priority: int) -> None:
        self.owed.add(item)
        self.queue.add_after(item, seconds, priority)

    async def look(self, item: str) -> float | None:
        assert item in self.owed, "nobody asked for this look"
        assert item not in self.busy, "one look at an item at a time"
        self.owed.discard(item)
        self.busy.add(item)
        try:
            await asyncio.sleep(0.01)
            outcome = self.outcomes.pop() if self.outcomes else "settled"
            if outcome != "settled":
                self.owed.add(item)
            if outcome == "failed":
                raise ValueError(item)
            if outcome == "not settled":
                raise LookAgain(item)
            return 30.0 if outcome == "again" else None
        finally:
            self.busy.discard(item)


@settings(max_examples=200, deadline=None)
@given(acts, outcomes, st.integers(1, 3))
def test_nothing_is_lost_and_nothing_is_doubled(happens: list[Act], looks: list[Outcome], workers: int) -> None:
    async def play() -> None:
        queue: WorkQueue[str] = WorkQueue("model")
        model = Model(queue, list(looks))
        async with asyncio.TaskGroup() as tasks:
            working = tasks.create_task(queue.work(model.look, workers=workers))
            for what, item, seconds, priority in happens:
                if what == "add":
                    model.add(item, priority)
                elif what == "add_after":
                    model.add_after(item, seconds, priority)
                else:
                    await asyncio.sleep(seconds)
            await until(lambda: not (len(queue) or queue.scheduled or model.busy))
            assert not model.owed, "each was looked at after it was asked for"
            await queue.wait_until_idle()
            working.cancel()

    hurried(play)


@given(st.lists(st.tuples(items, st.sampled_from([-100, 0, 5])), max_size=20))
def test_the_most_urgent_come_first_and_then_the_eldest(adds: list[tuple[str, int]]) -> None:
    async def play() -> None:
        queue: WorkQueue[str] = WorkQueue("model")
        urgency: dict[str, tuple[int, int]] = {}
        for number, (item, priority) in enumerate(adds):
            queue.add(item, priority)
            before = urgency.get(item)
            if before is None or -priority < before[0]:
                urgency[item] = (-priority, number)
        seen: list[str] = []

        async def look(item: str) -> None:
            seen.append(item)

        async with asyncio.TaskGroup() as tasks:
            working = tasks.create_task(queue.work(look))
            await queue.wait_until_idle()
            working.cancel()
        assert seen == sorted(urgency, key=lambda item: urgency[item])

    hurried(play)


def test_many_requeues_are_one_timer_and_come_in_their_order() -> None:
    async def play() -> None:
        queue: WorkQueue[int] = WorkQueue("many")
        for number in range(10_000):
            queue.add_after(number, 20_000.0 - number)
        assert queue.scheduled == 10_000
        seen: list[int] = []

        async def look(number: int) -> None:
            seen.append(number)

        async with asyncio.TaskGroup() as tasks:
            working = tasks.create_task(queue.work(look))
            await until(lambda: len(seen) == 10_000)
            working.cancel()
        assert seen == list(range(9_999, -1, -1))

    hurried(play)


def test_what_is_put_off_again_and_again_leaves_nothing_behind() -> None:
    async def play() -> None:
        queue: WorkQueue[str] = WorkQueue("again")
        for number in range(10_000):
            queue.add_after("a", 10_000.0 - number)
        assert queue.scheduled == 1
        assert len(queue._timers._heap) < 3000

    hurried(play)


def test_when_everything_fails_the_server_is_spared() -> None:
    async def play() -> None:
        queue: WorkQueue[int] = WorkQueue("failing", rate=Rate(per_second=10.0, burst=20))
        loop = asyncio.get_running_loop()
        began, tried_again = loop.time(), []
        seen: set[int] = set()

        async def look(number: int) -> None:
            if number in seen:
                tried_again.append(loop.time() - began)
                return
            seen.add(number)
            raise ValueError(number)

        for number in range(220):
            queue.add(number)
        async with asyncio.TaskGroup() as tasks:
            working = tasks.create_task(queue.work(look))
            await until(lambda: len(tried_again) == 220)
            working.cancel()
        assert len([at for at in tried_again if at < 1]) <= 35, "a burst, and what a second brings"
        assert 15 < tried_again[-1] < 30, "the rest at ten a second"

    hurried(play)
