"""Timers by a clock that the test moves: who is due is called, and the others are waited for as long as it takes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hardpoint import App
from hardpoint.controller import Context, Permanent, PlainContext, Requeue
from hardpoint.runtime.changes import Key
from hardpoint.runtime.reconciler import Reconciler
from tests.seams.controller.test_handlers import WIDGET, patch
from tests.seams.controller.world import Widget, World, widget

A = Key("default", "a")


class Clock:
    def __init__(self) -> None:
        self.moment = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment


class Timed:
    """A world at a certain moment."""

    def __init__(self, world: World, clock: Clock, reconciler: Reconciler) -> None:
        self._world = world
        self._clock = clock
        self._reconciler = reconciler

    async def after(self, seconds: float) -> None:
        """Go on by so much, and have the object looked at as its timer would."""
        self._clock.moment += timedelta(seconds=seconds)
        self._reconciler.queue.add(A)
        await self._reconciler.queue.wait_until_idle()

    async def change(self, body: dict[str, Any]) -> None:
        made = await patch(self._world, body)
        await self._reconciler.sources[0].informer.wait_until_seen(made["metadata"]["resourceVersion"])
        await self._reconciler.queue.wait_until_idle()

    @property
    def is_waited_for(self) -> bool:
        return self._reconciler.queue.scheduled == 1


@pytest.fixture
def app() -> App:
    return App("test")


@asynccontextmanager
async def timed(world: World, app: App) -> AsyncIterator[Timed]:
    clock = Clock()
    await world.create(widget())
    async with world.controlled(*app.controllers.values(), now=clock) as (reconciler,):
        await reconciler.wait_until_synced()
        made = Timed(world, clock, reconciler)
        await made.after(0)
        yield made


async def test_a_timer_rings_at_once_and_then_every_so_often(world: World, app: App) -> None:
    calls: list[datetime] = []

    @app.timer(Widget, every=60)
    async def ring(seen: Widget, ctx: Context) -> None:
        calls.append(ctx.now)

    async with timed(world, app) as now:
        assert len(calls) == 1
        assert now.is_waited_for
        await now.after(59)
        assert len(calls) == 1, "it is not time yet"
        await now.after(1)
        assert len(calls) == 2
        await now.after(600)
        assert len(calls) == 3, "what was missed is not made up for"
    assert world.writes == [], "nothing is remembered of timers"


async def test_an_idle_timer_waits_until_nothing_happened_for_a_while(world: World, app: App) -> None:
    calls: list[int] = []

    @app.timer(Widget, every=10, idle=100)
    def ring(seen: Widget, ctx: PlainContext) -> None:
        calls.append(seen.size)

    async with timed(world, app) as now:
        await now.after(99)
        assert calls == []
        await now.change({"spec": {"size": 2}})
        await now.after(99)
        assert calls == [], "the change began the wait anew"
        await now.after(1)
        assert calls == [2]
        await now.after(10)
        assert calls == [2, 2]
        await world.client.patch(WIDGET, "a", {"status": {"x": 1}}, namespace="default", subresource="status")
        await now.after(10)
        assert calls == [2, 2, 2], "a status is no change"


async def test_timers_begin_when_the_creation_is_over(world: World, app: App) -> None:
    calls: list[str] = []

    @app.timer(Widget, every=60)
    async def ring(seen: Widget, ctx: Context) -> None:
        calls.append("ring")

    @app.on_create(Widget, backoff_seconds=5)
    async def created(seen: Widget, ctx: Context) -> None:
        calls.append("created")
        if len(calls) == 1:
            raise RuntimeError("not yet")

    async with timed(world, app) as now:
        assert calls == ["created"]
        await now.after(4)
        assert calls == ["created"], "its wait is not over"
        await now.after(1)
        assert calls == ["created", "created", "ring"]


def failing(times: int) -> Callable[[int], None]:
    def fail(call: int) -> None:
        if call <= times:
            raise RuntimeError("not yet")

    return fail


async def test_a_timer_that_fails_rings_again_later_each_time(world: World, app: App) -> None:
    calls: list[str] = []
    fail = failing(2)

    @app.timer(Widget, every=60)
    async def ring(seen: Widget, ctx: Context) -> None:
        calls.append("ring")
        fail(len(calls))

    async with timed(world, app) as now:
        for seconds, total in ((0.5, 1), (0.5, 2), (1, 2), (1, 3), (59, 3), (1, 4)):
            await now.after(seconds)
            assert len(calls) == total
    assert world.recorded.events[0][2] == "TimerFailed"


async def test_a_timer_may_say_when_it_rings_again_or_that_it_does_not(world: World, app: App) -> None:
    calls: list[str] = []

    @app.timer(Widget, every=60)
    async def sooner(seen: Widget, ctx: Context) -> Requeue | None:
        calls.append("sooner")
        return Requeue(after=5) if calls.count("sooner") == 1 else None

    @app.timer(Widget, every=60)
    async def never(seen: Widget, ctx: Context) -> None:
        calls.append("never")
        raise Permanent("not this one")

    async with timed(world, app) as now:
        await now.after(5)
        await now.after(60)
        assert calls == ["sooner", "never", "sooner", "sooner"]
        await now.change({"spec": {"size": 2}})
        assert calls.count("never") == 2, "it is another matter now"
