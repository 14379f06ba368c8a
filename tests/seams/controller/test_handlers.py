"""Handlers against a real server: each is called once for what happened, whatever happens in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

import orjson
import pytest

from hardpoint import App
from hardpoint.controller import Changed, Context, Permanent, PlainContext, Requeue
from hardpoint.runtime.objectwriting import ObjectWriter
from hardpoint.seams.controller.guest.handlers.guest import HandlersGuest
from hardpoint.seams.controller.guest.handlers.memory import Memory
from hardpoint.seams.controller.guest.handlers.progress import Progress
from hardpoint.seams.controller.guest.handlers.remembering import Remembering
from tests.seams.controller.world import Widget, World, config_map, widget

Json = dict[str, Any]

WIDGET = "example.com/v1 Widget"
ANNOTATION = "test.example.com/last-handled"
FINALIZER = "test.example.com/handlers"
QUICK = 0.001


class Story:
    """What handlers did, in order; who waits for more of it looks again."""

    def __init__(self, world: World) -> None:
        self.told: list[Any] = []
        self._world = world

    def tell(self, *what: Any) -> None:
        self.told.append(what if len(what) > 1 else what[0])
        self._world.happened()

    async def until(self, *expected: Any) -> None:
        async def is_so() -> bool:
            return self.told == list(expected)

        try:
            await self._world.until(is_so)
        except TimeoutError:
            assert self.told == list(expected)


@pytest.fixture
def story(world: World) -> Story:
    return Story(world)


@pytest.fixture
def app() -> App:
    return App("test")


async def patch(world: World, body: Json, name: str = "a") -> Json:
    return await world.client.patch(WIDGET, name, body, namespace="default")


async def delete(world: World, name: str = "a") -> None:
    await world.client.delete(WIDGET, name, namespace="default")


async def progress_of(world: World, name: str = "a") -> Json | None:
    found = await world.find(WIDGET, name)
    text = ((found or {"metadata": {}})["metadata"].get("annotations") or {}).get(ANNOTATION)
    return None if text is None else orjson.loads(text)


def is_created(world: World, name: str = "a") -> Callable[[], Any]:
    async def holds() -> bool:
        return bool((await progress_of(world, name) or {}).get("created"))

    return holds


def is_gone(world: World, name: str = "a") -> Callable[[], Any]:
    async def holds() -> bool:
        return await world.find(WIDGET, name) is None

    return holds


async def settled(world: World, app: App) -> None:
    """Run until there is nothing to do."""
    async with world.controlled(*app.controllers.values()) as reconcilers:
        for reconciler in reconcilers:
            await reconciler.wait_until_synced()
            reconciler.add_all()
            await reconciler.queue.wait_until_idle()


async def test_a_life_from_creation_to_deletion(world: World, app: App, story: Story) -> None:
    @app.on_create(Widget)
    async def created(seen: Widget, ctx: Context) -> None:
        story.tell("created", seen.size)
        seen.status["made"] = True

    @app.on_update(Widget, field="spec.size")
    async def resized(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell(change.field, change.old, change.new)

    @app.on_update(Widget)
    def updated(seen: Widget, ctx: PlainContext) -> None:
        story.tell("updated", seen.size)

    @app.on_delete(Widget)
    async def deleted(seen: Widget, ctx: Context) -> None:
        story.tell("deleted", seen.json["metadata"]["finalizers"])

    async with world.controlled(*app.controllers.values()):
        await world.create(widget(size=1))
        await world.until(is_created(world))
        await patch(world, {"spec": {"size": 2}})
        await story.until(("created", 1), ("spec.size", 1, 2), ("updated", 2))
        await delete(world)
        await world.until(is_gone(world))
    assert story.told[3:] == [("deleted", [FINALIZER])]
    assert len(app.controllers) == 1, "handlers of one resource are one controller"


async def test_a_status_is_no_change(world: World, app: App, story: Story) -> None:
    @app.on_update(Widget)
    async def updated(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell(change.old, change.new)

    async with world.controlled(*app.controllers.values()) as (reconciler,):
        await world.create(widget(size=1))
        await world.until(is_created(world))
        await world.client.patch(WIDGET, "a", {"status": {"x": 1}}, namespace="default", subresource="status")
        await patch(world, {"metadata": {"finalizers": ["example.com/other"]}})
        await patch(world, {"metadata": {"annotations": {"other.example.com/last-handled": "{}"}}})
        await patch(world, {"metadata": {"labels": {"x": "y"}}})
        await story.until(({"spec": {"size": 1}}, {"metadata": {"labels": {"x": "y"}}, "spec": {"size": 1}}))
        await reconciler.queue.wait_until_idle()
    assert len(story.told) == 1


async def test_of_several_handlers_only_the_one_that_failed_is_called_again(
    world: World, app: App, story: Story, caplog: pytest.LogCaptureFixture
) -> None:
    @app.on_create(Widget)
    async def first(seen: Widget, ctx: Context) -> None:
        story.tell("first")

    @app.on_create(Widget, backoff_seconds=QUICK)
    async def second(seen: Widget, ctx: Context) -> None:
        story.tell("second")
        if story.told.count("second") < 3:
            raise KeyError("not yet")

    @app.on_create(Widget)
    def third(seen: Widget, ctx: PlainContext) -> None:
        story.tell("third")

    with caplog.at_level(logging.ERROR):
        async with world.controlled(*app.controllers.values()):
            await world.create(widget())
            await world.until(is_created(world))
    assert story.told == ["first", "second", "third", "second", "second"]
    failed = [vars(record) for record in caplog.records if record.getMessage() == "handler failed"]
    assert {each["at"].partition(":")[0] for each in failed} == {"test_handlers.py"}
    assert world.recorded.events[0] == (
        "a",
        "Warning",
        "CreateFailed",
        f"{second.__qualname__}: KeyError: 'not yet'",
    )


async def test_after_a_restart_what_is_done_is_not_repeated_and_what_is_not_is(
    world: World, app: App, story: Story
) -> None:
    works = False

    @app.on_create(Widget)
    async def first(seen: Widget, ctx: Context) -> None:
        story.tell("first")

    @app.on_create(Widget)
    async def second(seen: Widget, ctx: Context) -> None:
        story.tell("second")
        if not works:
            raise RuntimeError("not yet")

    async with world.controlled(*app.controllers.values()):
        await world.create(widget())
        await story.until("first", "second")
    works = True
    async with world.controlled(*app.controllers.values()):
        await world.until(is_created(world))
    await settled(world, app)
    assert story.told == ["first", "second", "second"]


async def test_what_changed_while_nobody_was_there_is_one_change(world: World, app: App, story: Story) -> None:
    @app.on_update(Widget, field="spec.size")
    async def resized(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell(change.old, change.new)

    await world.create(widget(size=1))
    await settled(world, app)
    for size in (2, 3, 4):
        await patch(world, {"spec": {"size": size}})
    await settled(world, app)
    assert story.told == [(1, 4)]
    await patch(world, {"spec": {"size": 5}})
    await patch(world, {"spec": {"size": 4}})
    await settled(world, app)
    assert story.told == [(1, 4)], "what is as it was did not change"


async def test_each_handler_has_a_past_of_its_own(world: World, app: App, story: Story) -> None:
    fails = True

    @app.on_update(Widget, field="spec.size")
    async def sure(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell("sure", change.old, change.new)

    @app.on_update(Widget, field="spec.size")
    async def unsure(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell("unsure", change.old, change.new)
        if fails:
            raise RuntimeError("not yet")

    await world.create(widget(size=1))
    await settled(world, app)
    await patch(world, {"spec": {"size": 2}})
    await settled(world, app)
    await patch(world, {"spec": {"size": 3}})
    fails = False
    await settled(world, app)
    assert story.told == [("sure", 1, 2), ("unsure", 1, 2), ("sure", 2, 3), ("unsure", 1, 3)]


async def test_a_change_during_creation_is_told_once_that_is_over(world: World, app: App, story: Story) -> None:
    @app.on_create(Widget)
    async def early(seen: Widget, ctx: Context) -> None:
        story.tell("early", seen.size)

    @app.on_create(Widget, backoff_seconds=QUICK)
    async def late(seen: Widget, ctx: Context) -> None:
        if seen.size == 1:
            raise RuntimeError("too small")
        story.tell("late", seen.size)

    @app.on_update(Widget, field="spec.size")
    async def resized(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell(change.old, change.new)

    async with world.controlled(*app.controllers.values()):
        await world.create(widget(size=1))
        await story.until(("early", 1))
        await patch(world, {"spec": {"size": 2}})
        await story.until(("early", 1), ("late", 2), (1, 2))


async def test_permanent_and_too_many_retries_are_told_and_over(world: World, app: App, story: Story) -> None:
    @app.on_create(Widget)
    async def refused(seen: Widget, ctx: Context) -> None:
        story.tell("refused")
        raise Permanent("never")

    @app.on_create(Widget, retries=3, backoff_seconds=QUICK)
    async def hopeless(seen: Widget, ctx: Context) -> None:
        story.tell("hopeless")
        raise OSError("no")

    await world.create(widget())
    async with world.controlled(*app.controllers.values()):
        await world.until(is_created(world))
    await settled(world, app)
    assert story.told == ["refused", "hopeless", "hopeless", "hopeless"]
    assert world.recorded.events[0][2:] == ("CreateFailed", f"{refused.__qualname__}: never")
    assert "failed 3 times, the last time with OSError: no" in world.recorded.events[-1][3]


async def test_retries_are_counted_over_restarts(world: World, app: App, story: Story) -> None:
    @app.on_create(Widget, retries=2, backoff_seconds=1000)
    async def hopeless(seen: Widget, ctx: Context) -> None:
        story.tell("hopeless")
        raise OSError("no")

    await world.create(widget())
    for _ in range(3):
        await settled(world, app)
    assert story.told == ["hopeless", "hopeless"]
    assert await is_created(world)()


async def test_requeue_is_not_done_yet(world: World, app: App, story: Story) -> None:
    @app.on_create(Widget)
    async def patient(seen: Widget, ctx: Context) -> Requeue | None:
        story.tell("asked")
        return Requeue(after=0) if len(story.told) < 3 else None

    async with world.controlled(*app.controllers.values()):
        await world.create(widget())
        await world.until(is_created(world))
    assert story.told == ["asked"] * 3


async def test_an_object_stays_until_every_handler_of_its_deletion_is_done(
    world: World, app: App, story: Story
) -> None:
    @app.on_delete(Widget)
    async def first(seen: Widget, ctx: Context) -> None:
        story.tell("first")

    @app.on_delete(Widget)
    async def second(seen: Widget, ctx: Context) -> None:
        story.tell("second")
        if story.told.count("second") < 2:
            raise RuntimeError("not yet")

    await world.create(widget())
    await settled(world, app)
    await delete(world)
    await settled(world, app)
    assert await world.find(WIDGET, "a") is not None
    await settled(world, app)
    assert await world.find(WIDGET, "a") is None
    assert story.told == ["first", "second", "second"], "a restart repeats only what failed"


async def test_a_copy_of_an_object_is_a_new_one(world: World, app: App, story: Story) -> None:
    @app.on_create(Widget)
    async def created(seen: Widget, ctx: Context) -> None:
        story.tell(seen.name)

    await world.create(widget())
    await settled(world, app)
    found = await world.find(WIDGET, "a")
    assert found is not None
    await world.create(widget("b", annotations=found["metadata"]["annotations"]))
    await settled(world, app)
    assert story.told == ["a", "b"]


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"uid": 3}', "x" * 1000, '{"uid": "u", "handled": 3}'])
async def test_an_annotation_that_somebody_spoiled_is_none(world: World, app: App, story: Story, text: str) -> None:
    @app.on_create(Widget)
    async def created(seen: Widget, ctx: Context) -> None:
        story.tell(seen.name)

    await world.create(widget(annotations={ANNOTATION: text}))
    await settled(world, app)
    assert story.told == ["a"]
    assert await is_created(world)()


async def test_a_handler_is_for_the_objects_it_asks_for(world: World, app: App, story: Story) -> None:
    @app.on_create(Widget, label_selector="tier in (gold, silver)", when=lambda seen: seen.size > 1)
    async def created(seen: Widget, ctx: Context) -> None:
        story.tell("created", seen.name)

    @app.on_delete(Widget, label_selector="tier=gold")
    async def deleted(seen: Widget, ctx: Context) -> None:
        story.tell("deleted", seen.name)

    await world.create(widget("none", size=2))
    await world.create(widget("small", size=1, labels={"tier": "gold"}))
    await world.create(widget("silver", size=2, labels={"tier": "silver"}))
    await settled(world, app)
    finalizers = {}
    for name in ("none", "small", "silver"):
        found = await world.find(WIDGET, name)
        assert found is not None
        finalizers[name] = found["metadata"].get("finalizers")
        await delete(world, name)
    await settled(world, app)
    assert finalizers == {"none": None, "small": [FINALIZER], "silver": None}
    assert story.told == [("created", "silver"), ("deleted", "small")]


async def test_an_object_that_concerns_nobody_is_left_as_it_is_until_it_does(
    world: World, app: App, story: Story
) -> None:
    @app.on_create(Widget, label_selector="mine")
    async def created(seen: Widget, ctx: Context) -> None:
        story.tell("created", seen.size)

    @app.on_update(Widget, label_selector="mine", field="spec.size")
    async def resized(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell(change.old, change.new)

    made = await world.create(widget(size=1))
    await settled(world, app)
    assert await world.find(WIDGET, "a") == made
    await patch(world, {"spec": {"size": 2}, "metadata": {"labels": {"mine": "yes"}}})
    await settled(world, app)
    assert story.told == [("created", 2)]
    await patch(world, {"spec": {"size": 3}, "metadata": {"labels": {"mine": None}}})
    await settled(world, app)
    assert story.told == [("created", 2)]
    await patch(world, {"spec": {"size": 4}, "metadata": {"labels": {"mine": "yes"}}})
    await settled(world, app)
    assert story.told == [("created", 2), (2, 4)]


async def test_a_handler_that_is_new_in_the_file_is_told_from_then_on(world: World, app: App, story: Story) -> None:
    async def resized(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell(change.old, change.new)

    async def created(seen: Widget, ctx: Context) -> None:
        story.tell("created")

    app.on_update(Widget, field="spec.size", name="old")(resized)
    await world.create(widget(size=1))
    await settled(world, app)
    later = App("test")
    later.on_update(Widget, field="spec.size", name="new")(resized)
    later.on_create(Widget)(created)
    await settled(world, later)
    await patch(world, {"spec": {"size": 2}})
    await settled(world, later)
    assert story.told == [(1, 2)]
    assert set((await progress_of(world) or {})["handled"]) == {"update new spec.size"}


async def test_an_object_that_concerns_no_handler_any_more_is_let_go(world: World, app: App, story: Story) -> None:
    @app.on_delete(Widget, label_selector="mine")
    async def deleted(seen: Widget, ctx: Context) -> None:
        story.tell("deleted")

    await world.create(widget(labels={"mine": "yes"}))
    await settled(world, app)
    await patch(world, {"metadata": {"labels": {"mine": None}}})
    await settled(world, app)
    found = await world.find(WIDGET, "a")
    assert found is not None
    assert "finalizers" not in found["metadata"]


async def test_every_change_is_an_event(world: World, app: App, story: Story) -> None:
    @app.on_event(Widget)
    async def heard(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell(change.type, change.old and change.old["spec"]["size"], seen.size)
        if seen.size == 2:
            raise RuntimeError("which is told, and over")

    async with world.controlled(*app.controllers.values()) as (reconciler,):
        await reconciler.wait_until_synced()
        await world.create(widget(size=1))
        await patch(world, {"spec": {"size": 2}})
        await patch(world, {"spec": {"size": 3}})
        await delete(world)
        await story.until(("ADDED", None, 1), ("MODIFIED", 1, 2), ("MODIFIED", 2, 3), ("DELETED", 3, 3))
    assert world.recorded.events[0][2] == "EventFailed"
    assert world.writes == [], "nothing is remembered of events"


async def test_handlers_of_one_object_never_meet(world: World, app: App) -> None:
    inside: list[str] = []
    met: list[list[str]] = []
    calls: list[str] = []

    async def look(name: str) -> None:
        inside.append(name)
        for _ in range(3):
            await asyncio.sleep(0)
        if len(inside) > 1:
            met.append(list(inside))
        inside.remove(name)
        calls.append(name)
        world.happened()

    @app.on_create(Widget)
    async def created(seen: Widget, ctx: Context) -> None:
        await look("created")

    @app.on_event(Widget)
    async def heard(seen: Widget, ctx: Context) -> None:
        await look("heard")

    @app.on_update(Widget)
    async def updated(seen: Widget, ctx: Context) -> None:
        await look("updated")

    @app.timer(Widget, every=QUICK)
    async def ticked(seen: Widget, ctx: Context) -> None:
        await look("ticked")

    async def all_were_called() -> bool:
        return {"created", "heard", "updated", "ticked"} <= set(calls) and calls.count("ticked") > 10

    async with world.controlled(*app.controllers.values()):
        await world.create(widget(size=1))
        await world.until(is_created(world))
        await patch(world, {"spec": {"size": 2}})
        await world.until(all_were_called)
    assert met == []


async def test_an_object_that_the_class_cannot_read_is_handled_once_it_can(
    world: World, app: App, story: Story
) -> None:
    @app.on_create(Widget, when=lambda seen: seen.size > 0)
    async def created(seen: Widget, ctx: Context) -> None:
        story.tell("created", seen.size)

    async with world.controlled(*app.controllers.values()):
        await world.create(widget(size="large"))

        async def is_told() -> bool:
            return bool(world.recorded.events)

        await world.until(is_told)
        await world.client.patch(WIDGET, "a", {"status": {"x": 1}}, namespace="default", subresource="status")
        await patch(world, {"spec": {"size": 3}})
        await story.until(("created", 3))
    words = f"{created.__qualname__}: cannot be read as a Widget: spec.size must be a number"
    assert world.recorded.events == [("a", "Warning", "CreateFailed", words)]


async def test_what_was_not_written_counts_only_for_as_long_as_nobody_else_wrote(app: App) -> None:
    async def updated(seen: Widget, ctx: Context) -> None: ...

    app.on_update(Widget)(updated)
    (guest,) = app.controllers.values()
    assert isinstance(guest, HandlersGuest)
    remembering = Remembering(guest, cast("ObjectWriter", None))
    ours, theirs = Progress("u", done=frozenset({"ours"})), Progress("u", is_created=True)
    memory = Memory("u", "", datetime.now(UTC), unwritten=(ours, "before"))
    seen = widget(annotations={ANNOTATION: "before"})
    assert remembering.read(seen, memory) == ours
    seen["metadata"]["annotations"][ANNOTATION] = theirs.written()
    assert remembering.read(seen, memory) == theirs
    assert memory.unwritten is None


async def test_what_is_too_large_is_told_without_what_it_was(world: World, app: App, story: Story) -> None:
    @app.on_update(Widget, field="spec.text")
    async def changed(seen: Widget, change: Changed, ctx: Context) -> None:
        story.tell(change.is_old_known, change.old, len(change.new))

    large = {**widget(), "spec": {"size": 1, "text": "x" * 100_000}}
    await world.create(large)
    await settled(world, app)
    await patch(world, {"spec": {"text": "y" * 100_000}})
    await settled(world, app)
    assert story.told == [(False, None, 100_000)]


async def test_a_secret_is_copied_nowhere(world: World, app: App, story: Story) -> None:
    @app.on_update("v1 Secret")
    async def changed(seen: Any, change: Changed, ctx: Context) -> None:
        story.tell(change.is_old_known, change.old, sorted(change.new["data"]))
        assert "c2Vj" not in repr(change)

    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "c2VjcmV0"}}
    await world.create(secret, namespace="default")
    await settled(world, app)
    patched = await world.client.patch("v1 Secret", "s", {"data": {"b": "c2VjcmV0"}}, namespace="default")
    assert "c2Vj" not in str(patched["metadata"]["annotations"])
    await settled(world, app)
    assert story.told == [(False, None, ["a", "b"])]


async def test_in_a_dry_run_handlers_are_called_once_and_nothing_is_written(
    world: World, app: App, story: Story
) -> None:
    @app.on_create(Widget)
    async def created(seen: Widget, ctx: Context) -> None:
        story.tell("created")

    made = await world.create(widget())
    async with world.controlled(*app.controllers.values(), dry_run=True) as (reconciler,):
        await story.until("created")
        await patch(world, {"spec": {"size": 2}})
        await reconciler.sources[0].informer.wait_until_seen(made["metadata"]["resourceVersion"])
        await reconciler.queue.wait_until_idle()
    assert story.told == ["created"]
    assert await progress_of(world) is None


async def test_indexes_find_objects_and_values(world: World, app: App, story: Story) -> None:
    @app.index("v1 ConfigMap")
    def by_color(found: Any) -> str | None:
        color = (found.json.get("data") or {}).get("color")
        return None if color is None else str(color)

    @app.index("v1 ConfigMap")
    def sizes(found: Any) -> dict[tuple[str, int], str]:
        data = found.json.get("data") or {}
        return {("size", int(data["size"])): found.json["metadata"]["name"]} if "size" in data else {}

    @app.on_create(Widget)
    async def created(seen: Widget, ctx: Context) -> None:
        await ctx.apply(config_map("own", color="red"))
        story.tell([found.json["metadata"]["name"] for found in await ctx.index(by_color, "red")])
        story.tell(await ctx.index(sizes, ("size", 3)))
        with pytest.raises(ValueError, match="created is no index of this App"):
            await ctx.index(created, "x")  # type: ignore[call-overload]

    @app.controller(Widget)
    def looked(seen: Widget, ctx: PlainContext) -> None:
        story.tell("plain", ctx.index(sizes, ("size", 3)))

    for body in (config_map("a", color="red", size="3"), config_map("b", color="blue"), config_map("c", size="4")):
        await world.create(body, namespace="default")
    await world.create(widget())
    await settled(world, app)
    assert set(map(str, story.told)) == {"['a', 'own']", "['a']", "('plain', ['a'])"}
