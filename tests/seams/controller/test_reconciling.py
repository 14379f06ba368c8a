"""What a controller does for one object, against a real server: calls, status, finalizers, failures."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from hardpoint.controller import Context, Permanent, PlainContext, Requeue, generation_changed
from hardpoint.runtime.changes import Key
from hardpoint.seams.controller.guest.controller import ControllerGuest
from tests.seams.controller.world import Widget, World, config_map, widget

Json = dict[str, Any]

FINALIZER = "test.example.com/finalizer"


def guest(function: Any, what: Any = Widget, **options: Any) -> ControllerGuest:
    return ControllerGuest("test", function, what, **options)


async def status_of(world: World, name: str = "a") -> Json:
    found = await world.find("example.com/v1 Widget", name)
    return (found or {}).get("status") or {}


async def test_the_status_is_written_and_only_when_it_changes(world: World) -> None:
    calls: list[int] = []

    async def count(seen: Widget, ctx: Context) -> None:
        calls.append(seen.size)
        seen.status["size"] = seen.size
        world.happened()

    async with world.controlled(guest(count)) as (reconciler,):
        await world.create(widget(size=3))

        async def is_written() -> bool:
            return await status_of(world) == {"size": 3} and len(calls) == 2

        await world.until(is_written)
        await reconciler.queue.wait_until_idle()
    assert calls == [3, 3], "once for the object, once for its new status"
    assert [path for _, path in world.writes] == ["/apis/example.com/v1/namespaces/default/widgets/a/status"]


async def test_a_plain_function_does_the_same_in_a_thread(world: World) -> None:
    def make(seen: Widget, ctx: PlainContext) -> Requeue | None:
        made = ctx.apply(config_map(seen.name, size=str(seen.size)))
        there = ctx.get("v1 ConfigMap", seen.name)
        assert there is not None
        seen.status["uid"] = made["metadata"]["uid"]
        seen.status["same"] = there.json["metadata"]["uid"] == made["metadata"]["uid"]
        ctx.condition("Ready", True, "Made")
        ctx.event("Normal", "Made", "a map")
        return None

    async with world.controlled(guest(make, owns=["v1 ConfigMap"])):
        await world.create(widget(size=3))

        async def is_ready() -> bool:
            return bool((await status_of(world)).get("conditions"))

        await world.until(is_ready)
    status = await status_of(world)
    assert status["same"] is True
    assert status["conditions"][0]["type"] == "Ready"
    assert ("a", "Normal", "Made", "a map") in world.recorded.events


async def test_what_is_owned_wakes_its_owner_and_is_made_again(world: World) -> None:
    async def make(seen: Widget, ctx: Context) -> None:
        await ctx.apply(config_map(seen.name, size=str(seen.size)))

    async with world.controlled(guest(make, owns=["v1 ConfigMap"])):
        owner = await world.create(widget(size=3))

        async def made() -> Json | None:
            return await world.find("v1 ConfigMap", "a")

        first = await world.until(made)
        (reference,) = first["metadata"]["ownerReferences"]
        assert reference["uid"] == owner["metadata"]["uid"]
        assert reference["controller"] is True
        await world.client.delete("v1 ConfigMap", "a", namespace="default")

        async def made_again() -> bool:
            found = await made()
            return found is not None and found["metadata"]["uid"] != first["metadata"]["uid"]

        await world.until(made_again)


async def test_a_finalizer_is_there_before_the_function_and_gone_after_the_clean_up(world: World) -> None:
    story: list[str] = []

    async def make(seen: Widget, ctx: Context) -> None:
        story.append(f"make {seen.json['metadata'].get('finalizers')}")
        world.happened()

    async def clean(seen: Widget, ctx: Context) -> Requeue | None:
        story.append("clean")
        return Requeue(after=0) if story.count("clean") < 3 else None

    async with world.controlled(guest(make, finalize=clean)):
        await world.create(widget())

        async def was_called() -> bool:
            return bool(story)

        await world.until(was_called)
        await world.client.delete("example.com/v1 Widget", "a", namespace="default")

        async def is_gone() -> bool:
            return await world.find("example.com/v1 Widget", "a") is None

        await world.until(is_gone)
    assert story[0] == f"make ['{FINALIZER}']"
    assert [step for step in story if step == "clean"] == ["clean"] * 3


@pytest.mark.parametrize("is_away", [False, True], ids=["at work", "away meanwhile"])
async def test_an_object_that_is_selected_no_longer_is_let_go(world: World, is_away: bool) -> None:
    story: list[str] = []

    async def make(seen: Widget, ctx: Context) -> None:
        story.append(f"make {seen.name}")
        world.happened()

    async def clean(seen: Widget, ctx: Context) -> None:
        story.append(f"clean {seen.name}")

    async def was_called() -> bool:
        return bool(story)

    async def has_no_finalizer() -> bool:
        found = await world.find("example.com/v1 Widget", "a")
        return found is not None and not found["metadata"].get("finalizers")

    def controller() -> ControllerGuest:
        return guest(make, finalize=clean, label_selector="mine", when=generation_changed)

    leave = {"metadata": {"labels": {"mine": None}}}
    async with world.controlled(controller()):
        await world.create(widget("other"))
        await world.create(widget(labels={"mine": "yes"}))
        await world.until(was_called)
        if not is_away:
            await world.client.patch("example.com/v1 Widget", "a", leave, namespace="default")
            await world.until(has_no_finalizer)
    if is_away:
        await world.client.patch("example.com/v1 Widget", "a", leave, namespace="default")
        async with world.controlled(controller()):
            await world.until(has_no_finalizer)
    assert story == ["make a", "clean a"]


async def test_a_failure_is_told_with_the_authors_line_and_tried_again(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[str] = []

    async def stumble(seen: Widget, ctx: Context) -> None:
        calls.append(seen.name)
        seen.status["tried"] = calls.count(seen.name)
        if calls.count(seen.name) < 3:
            raise KeyError("nothing there")
        world.happened()

    with caplog.at_level(logging.ERROR):
        async with world.controlled(guest(stumble)):
            await world.create(widget())

            async def has_worked() -> bool:
                return calls.count("a") > 2

            await world.until(has_worked)
    failed = [record for record in caplog.records if record.getMessage() == "reconcile failed"]
    assert {vars(record)["at"].partition(":")[0] for record in failed} == {"test_reconciling.py"}
    assert world.recorded.events[0] == ("a", "Warning", "ReconcileFailed", "KeyError: 'nothing there'")


async def test_what_is_permanent_is_not_tried_again_until_the_object_changes(world: World) -> None:
    calls: list[int] = []

    async def refuse(seen: Widget, ctx: Context) -> None:
        calls.append(seen.size)
        world.happened()
        if seen.size < 0:
            raise Permanent("a negative size")

    async with world.controlled(guest(refuse)) as (reconciler,):
        await world.create(widget(size=-1))

        async def called(times: int) -> bool:
            return len(calls) == times

        await world.until(lambda: called(1))
        await reconciler.queue.wait_until_idle()
        assert reconciler.queue.scheduled == 0
        await world.client.patch("example.com/v1 Widget", "a", {"spec": {"size": 1}}, namespace="default")
        await world.until(lambda: called(2))
    assert world.recorded.events == [("a", "Warning", "ReconcileFailed", "a negative size")]


async def test_an_object_that_the_class_cannot_read_is_told_and_stops_nobody(world: World) -> None:
    seen: list[str] = []

    async def look(found: Widget, ctx: Context) -> None:
        seen.append(found.name)
        world.happened()

    async with world.controlled(guest(look)):
        await world.create(widget("odd", size="large"))
        await world.create(widget("even", size=2))

        async def both() -> bool:
            return seen == ["even"] and bool(world.recorded.events)

        await world.until(both)
    assert world.recorded.events[0][3] == "cannot be read as a Widget: spec.size must be a number"


async def test_a_failure_waits_longer_each_time_and_stops_nobody_else(world: World) -> None:
    failures: list[int] = []
    looks: list[str] = []

    async def fail(seen: Widget, ctx: Context) -> None:
        looks.append(seen.name)
        world.happened()
        if seen.name == "bad":
            failures.append(reconciler.queue.failures(ctx.key))
            if len(failures) < 5:
                raise ValueError("bad")

    async with world.controlled(guest(fail, workers=1)) as (reconciler,):
        await world.create(widget("bad"))

        async def has_failed() -> bool:
            return bool(failures)

        await world.until(has_failed)
        await world.create(widget("good"))

        async def are_settled() -> bool:
            return len(failures) == 5 and "good" in looks

        await world.until(are_settled)
        await reconciler.queue.wait_until_idle()
        assert reconciler.queue.failures(Key("default", "bad")) == 0, "what worked is forgiven"
    assert failures == [0, 1, 2, 3, 4]
    assert {event[0] for event in world.recorded.events} == {"bad"}


async def test_an_object_under_deletion_is_left_alone(world: World) -> None:
    looks: list[str] = []

    async def look(seen: Widget, ctx: Context) -> None:
        looks.append(seen.name)
        world.happened()

    await world.create(widget("going", finalizers=["example.com/theirs"]))
    await world.client.delete("example.com/v1 Widget", "going", namespace="default")
    async with world.controlled(guest(look)):
        await world.create(widget("coming"))

        async def came() -> bool:
            return "coming" in looks

        await world.until(came)
    assert looks == ["coming"]


async def test_a_failed_clean_up_keeps_the_object_and_is_told(world: World) -> None:
    tries: list[str] = []

    async def nothing(seen: Widget, ctx: Context) -> None:
        return None

    async def clean(seen: Widget, ctx: Context) -> None:
        tries.append(seen.name)
        if len(tries) < 3:
            raise OSError("the outside world is away")

    await world.create(widget(finalizers=[FINALIZER]))
    await world.client.delete("example.com/v1 Widget", "a", namespace="default")
    async with world.controlled(guest(nothing, finalize=clean)):

        async def is_gone() -> bool:
            return await world.find("example.com/v1 Widget", "a") is None

        await world.until(is_gone)
    assert len(tries) == 3
    assert world.recorded.events == [("a", "Warning", "FinalizeFailed", "OSError: the outside world is away")] * 2
