"""Daemons: one for each object, from its creation to its deletion, and never where it is not wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hardpoint import App
from hardpoint.controller import Context, Permanent, Requeue
from hardpoint.runtime.changes import Key
from hardpoint.runtime.sharding import ShardLost
from hardpoint.seams.controller.guest.handlers import daemons, handler
from tests.seams.controller.test_handlers import FINALIZER, WIDGET, Story, delete, is_gone, patch
from tests.seams.controller.world import Widget, World, widget


@pytest.fixture
def story(world: World) -> Story:
    return Story(world)


@pytest.fixture
def app() -> App:
    return App("test")


def attending(app: App, story: Story, **options: object) -> None:
    """A daemon that tells when it begins and when it is over."""

    @app.daemon(Widget, **options)  # type: ignore[call-overload, untyped-decorator] # options of the tests
    async def attend(seen: Widget, ctx: Context) -> None:
        story.tell("began", seen.name)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            story.tell("ended", seen.name)


async def test_a_daemon_ends_before_its_object_goes(world: World, app: App, story: Story) -> None:
    attending(app, story)

    @app.on_delete(Widget)
    async def deleted(seen: Widget, ctx: Context) -> None:
        story.tell("deleted", seen.name)

    async with world.controlled(*app.controllers.values()):
        await world.create(widget("a"))
        await story.until(("began", "a"))
        found = await world.find(WIDGET, "a")
        assert found is not None
        assert found["metadata"]["finalizers"] == [FINALIZER]
        await patch(world, {"spec": {"size": 2}})
        await delete(world)
        await world.until(is_gone(world))
        assert story.told == [("began", "a"), ("ended", "a"), ("deleted", "a")], "a change does not start it again"


async def test_each_object_has_its_own_and_all_end_with_the_process(world: World, app: App, story: Story) -> None:
    attending(app, story)
    for _ in range(2):
        async with world.controlled(*app.controllers.values()):
            if not story.told:
                await world.create(widget("a"))
                await story.until(("began", "a"))
                await world.create(widget("b"))
                await story.until(("began", "a"), ("began", "b"))
                continue

            async def both_began() -> bool:
                return len(story.told) == 6

            await world.until(both_began)
    assert sorted(story.told[2:4]) == [("ended", "a"), ("ended", "b")]
    assert sorted(story.told[4:6]) == [("began", "a"), ("began", "b")]
    assert len(story.told) == 8


async def test_one_that_fails_begins_again_and_one_that_returns_does_not(
    world: World, app: App, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "BACKOFF_SECONDS", 0.001)

    @app.daemon(Widget)
    async def stumble(seen: Widget, ctx: Context) -> Requeue | None:
        story.tell("began", seen.size)
        if len(story.told) == 1:
            return Requeue(after=0)
        if len(story.told) == 2:
            raise RuntimeError("not yet")
        return None

    async with world.controlled(*app.controllers.values()) as (reconciler,):
        await world.create(widget())
        await story.until(*[("began", 1)] * 3)
        made = await patch(world, {"spec": {"size": 2}})
        await reconciler.sources[0].informer.wait_until_seen(made["metadata"]["resourceVersion"])
        await reconciler.queue.wait_until_idle()
    assert len(story.told) == 3
    assert [event[2] for event in world.recorded.events] == ["DaemonFailed"]


async def test_a_conflict_is_no_failure(world: World, app: App, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "BACKOFF_SECONDS", 0.001)

    @app.daemon(Widget)
    async def report(seen: Widget, ctx: Context) -> None:
        if not story.told:
            theirs = {"status": {"by": "them"}}
            await world.client.patch(WIDGET, "a", theirs, namespace="default", subresource="status")
        seen.status["by"] = f"us after {seen.status.get('by')}"
        story.tell(seen.status["by"])

    async def is_reported() -> bool:
        found = await world.find(WIDGET, "a")
        return found is not None and found.get("status") == {"by": "us after them"}

    async with world.controlled(*app.controllers.values()):
        await world.create(widget())
        await world.until(is_reported)
    assert story.told == ["us after None", "us after them"]
    assert world.recorded.events == []


async def test_one_that_gave_up_begins_again_when_the_object_changed(world: World, app: App, story: Story) -> None:
    @app.daemon(Widget)
    async def refuse(seen: Widget, ctx: Context) -> None:
        story.tell("began", seen.size)
        if seen.size == 1:
            raise Permanent("too small")
        await asyncio.get_running_loop().create_future()

    async with world.controlled(*app.controllers.values()) as (reconciler,):
        await world.create(widget())
        await story.until(("began", 1))
        reconciler.queue.add(Key("default", "a"))
        await reconciler.queue.wait_until_idle()
        await patch(world, {"spec": {"size": 2}})
        await story.until(("began", 1), ("began", 2))


async def test_one_whose_object_concerns_it_no_longer_ends(world: World, app: App, story: Story) -> None:
    attending(app, story, label_selector="mine")
    async with world.controlled(*app.controllers.values()):
        await world.create(widget(labels={"mine": "yes"}))
        await story.until(("began", "a"))
        await patch(world, {"metadata": {"labels": {"mine": None}}})
        await story.until(("began", "a"), ("ended", "a"))
        await patch(world, {"metadata": {"labels": {"mine": "again"}}})
        await story.until(("began", "a"), ("ended", "a"), ("began", "a"))


async def test_one_that_does_not_end_keeps_its_object(
    world: World, app: App, story: Story, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(daemons, "STOP_SECONDS", 0.01)
    may_end = asyncio.Event()

    @app.daemon(Widget)
    async def stubborn(seen: Widget, ctx: Context) -> None:
        story.tell("began")
        while not may_end.is_set():
            try:
                await may_end.wait()
            except asyncio.CancelledError:
                story.tell("cancelled")

    async with world.controlled(*app.controllers.values()) as (reconciler,):
        await world.create(widget())
        await story.until("began")
        await delete(world)
        await story.until("began", "cancelled")
        await reconciler.queue.wait_until_idle()
        assert await world.find(WIDGET, "a") is not None
        may_end.set()
        reconciler.queue.add(Key("default", "a"))
        await world.until(is_gone(world))
    assert "daemon does not end" in caplog.text


async def test_one_that_fails_while_it_is_ended_is_over(
    world: World, app: App, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handler, "BACKOFF_SECONDS", 1000.0)

    @app.daemon(Widget)
    async def clumsy(seen: Widget, ctx: Context) -> None:
        story.tell("began")
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            raise RuntimeError("the clean-up failed")

    async with world.controlled(*app.controllers.values()):
        await world.create(widget())
        await story.until("began")
        await delete(world)
        await world.until(is_gone(world))
    assert story.told == ["began"]


class Part:
    """A part of the objects that can be given away."""

    def __init__(self) -> None:
        self.is_ours = True
        self.held = 0

    def owns(self, key: Key) -> bool:
        return self.is_ours

    @asynccontextmanager
    async def holding(self, key: Key) -> AsyncIterator[None]:
        if not self.is_ours:
            raise ShardLost("another's")
        self.held += 1
        try:
            yield
        finally:
            self.held -= 1


async def test_one_ends_when_its_object_is_another_replicas(
    world: World, app: App, story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daemons, "SHARE_SECONDS", 0.001)
    attending(app, story)
    share = Part()
    async with world.controlled(*app.controllers.values(), share=share) as (reconciler,):
        await world.create(widget())
        await story.until(("began", "a"))
        await reconciler.queue.wait_until_idle()
        assert share.held == 1, "nobody else gets it while it runs"
        share.is_ours = False
        await story.until(("began", "a"), ("ended", "a"))
        share.is_ours = True
        reconciler.add_all()
        await story.until(("began", "a"), ("ended", "a"), ("began", "a"))
    assert share.held == 0
