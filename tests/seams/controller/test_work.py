"""Whom a change concerns: owners, those that a function names, and what a predicate lets through."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from typing import Any

import pytest

from hardpoint.controller import Context, Requeue, Watch, any_of, generation_changed, labels_changed
from hardpoint.objects import Object
from hardpoint.seams.controller.guest.controller import ControllerGuest
from tests.definitions import definition
from tests.seams.controller import world as worlds
from tests.seams.controller.world import Widget, World, config_map, widget

Json = dict[str, Any]
WIDGET = "example.com/v1 Widget"


class Called:
    """A controller that does nothing but count, and a way to wait for it."""

    def __init__(self, world: World, what: Any = Widget, **options: Any) -> None:
        self.names: list[str] = []
        self._world = world
        self.guest = ControllerGuest("test", self._look, what, **options)

    async def _look(self, seen: Any, ctx: Context) -> None:
        self.names.append(str(ctx.key))
        self._world.happened()

    async def until(self, *names: str) -> None:
        async def came() -> bool:
            return sorted(self.names) == sorted(names)

        await self._world.until(came)


async def test_a_function_names_whom_a_change_concerns_before_and_after(world: World) -> None:
    def used_by(settings: Object) -> Iterable[str]:
        return str((settings.json.get("data") or {}).get("for", "")).split()

    called = Called(world, watches=[Watch("v1 ConfigMap", to=used_by)])
    for name in ("a", "b", "c"):
        await world.create(widget(name))
    async with world.controlled(called.guest):
        await called.until("default/a", "default/b", "default/c")
        called.names.clear()
        await world.create(config_map("settings", **{"for": "a b"}))
        await called.until("default/a", "default/b")
        called.names.clear()
        await world.client.patch("v1 ConfigMap", "settings", {"data": {"for": "b c"}}, namespace="default")
        await called.until("default/a", "default/b", "default/c")
        called.names.clear()
        await world.client.delete("v1 ConfigMap", "settings", namespace="default")
        await called.until("default/b", "default/c")


async def test_keys_may_be_in_other_namespaces(world: World) -> None:
    called = Called(world, watches=[Watch("v1 Namespace", to=lambda space: [(space.json["metadata"]["name"], "a")])])
    await world.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "away"}})
    await world.create(widget("a"), namespace="away")
    async with world.controlled(called.guest):
        await called.until("away/a")
        await world.client.patch("v1 Namespace", "away", {"metadata": {"labels": {"a": "b"}}})
        await called.until("away/a", "away/a")


@pytest.mark.parametrize(
    ("when", "change", "counts"),
    [
        pytest.param(None, {"metadata": {"labels": {"a": "b"}}}, True, id="everything"),
        pytest.param(generation_changed, {"spec": {"size": 9}}, True, id="the spec"),
        pytest.param(generation_changed, {"metadata": {"labels": {"a": "b"}}}, False, id="labels are not the spec"),
        pytest.param(labels_changed, {"metadata": {"labels": {"a": "b"}}}, True, id="labels"),
        pytest.param(labels_changed, {"spec": {"size": 9}}, False, id="the spec is no label"),
        pytest.param(lambda old, new: new.size > old.size, {"spec": {"size": 9}}, True, id="a function's yes"),
        pytest.param(lambda old, new: new.size < old.size, {"spec": {"size": 9}}, False, id="a function's no"),
        pytest.param(lambda old, new: new.color, {"spec": {"size": 9}}, True, id="a function that fails"),
    ],
)
async def test_a_predicate_decides_which_updates_count(world: World, when: Any, change: Json, counts: bool) -> None:
    called = Called(world, when=when)
    await world.create(widget("a"))
    await world.create(widget("last"))
    async with world.controlled(called.guest):
        await called.until("default/a", "default/last")
        called.names.clear()
        await world.client.patch(WIDGET, "a", change, namespace="default")
        # What comes after it is heard in any case, and tells that it has been decided on.
        await world.create(widget("newest"))
        await called.until(*(["default/a"] if counts else []), "default/newest")


def test_one_of_several_predicates_is_enough() -> None:
    either = any_of(lambda old, new: old == 1, lambda old, new: new == 2)
    assert [either(1, 1), either(0, 2), either(0, 1)] == [True, True, False]


async def test_no_predicate_keeps_a_deleted_object_from_its_finalizer(world: World) -> None:
    async def clean(seen: Widget, ctx: Context) -> None:
        return None

    called = Called(world, when=lambda old, new: False, finalize=clean)
    await world.create(widget("a"))
    async with world.controlled(called.guest):
        await called.until("default/a")
        await world.client.delete(WIDGET, "a", namespace="default")

        async def is_gone() -> bool:
            return await world.find(WIDGET, "a") is None

        await world.until(is_gone)


async def test_a_resource_may_be_selected_from_and_watched_as_a_whole(world: World) -> None:
    whole = Watch("v1 ConfigMap", to=lambda found: ["yes"])
    called = Called(world, "v1 ConfigMap", label_selector="mine=true", watches=[whole], name="maps")
    await world.create({**config_map("yes"), "metadata": {"name": "yes", "labels": {"mine": "true"}}})
    async with world.controlled(called.guest) as (reconciler,):

        async def came() -> bool:
            return "default/yes" in called.names

        await world.until(came)
        await reconciler.queue.wait_until_idle()
        called.names.clear()
        await world.create(config_map("no"))
        await world.until(came)
    assert set(called.names) == {"default/yes"}


async def test_a_controller_without_a_class_gets_built_in_objects(world: World) -> None:
    called = Called(world, "v1 ConfigMap", label_selector="mine=true", name="maps")
    await world.create({**config_map("yes"), "metadata": {"name": "yes", "labels": {"mine": "true"}}})
    await world.create(config_map("no"))
    async with world.controlled(called.guest):
        await called.until("default/yes")


async def test_what_the_cluster_owns_wakes_an_owner_without_a_namespace() -> None:
    async with worlds.world(definition("Fleet", scope="Cluster")) as world:

        async def make(seen: Object, ctx: Context) -> None:
            made = await ctx.apply(
                {**config_map("ship"), "metadata": {"name": "ship", "namespace": "default"}, "data": {"a": "b"}}
            )
            assert made["metadata"]["namespace"] == "default"

        guest = ControllerGuest("test", make, "example.com/v1 Fleet", owns=["v1 ConfigMap"])
        async with world.controlled(guest):
            await world.create({"apiVersion": "example.com/v1", "kind": "Fleet", "metadata": {"name": "f"}, "spec": {}})

            async def is_made() -> bool:
                return ((await world.find("v1 ConfigMap", "ship")) or {}).get("data") == {"a": "b"}

            await world.until(is_made)
            await world.client.patch("v1 ConfigMap", "ship", {"data": {"a": "c"}}, namespace="default")
            await world.until(is_made)


async def test_changes_while_a_key_is_looked_at_lead_to_one_more_look(world: World) -> None:
    sizes: list[int] = []
    looking, may_go_on = [world.happened], []

    async def look(seen: Widget, ctx: Context) -> Requeue | None:
        sizes.append(seen.size)
        looking[0]()
        if len(sizes) == 1:

            async def is_let() -> bool:
                return bool(may_go_on)

            await world.until(is_let)
        return None

    async with world.controlled(ControllerGuest("test", look, Widget)):
        await world.create(widget("a", size=1))

        async def has_seen(size: int) -> bool:
            return sizes[-1:] == [size]

        await world.until(lambda: has_seen(1))
        for size in range(2, 30):
            await world.client.patch(WIDGET, "a", {"spec": {"size": size}}, namespace="default")
        may_go_on.append(True)
        world.happened()
        await world.until(lambda: has_seen(29))
    assert len(sizes) < 29, "changes become one look, and none is lost"


@pytest.mark.parametrize("seed", range(3))
async def test_whatever_happens_meanwhile_the_last_state_is_seen(world: World, seed: int) -> None:
    """Others change specs, labels and statuses all the time, while looks take longer or shorter and some fail."""
    chance = random.Random(seed)
    names = [f"w{number}" for number in range(5)]

    async def look(seen: Widget, ctx: Context) -> None:
        for _ in range(chance.randrange(4)):
            await asyncio.sleep(0)
        if chance.random() < 0.1:
            raise RuntimeError("now and then")
        seen.status["size"] = seen.size

    async def are_settled() -> bool:
        found = (await world.client.list(WIDGET))["items"]
        return all((each.get("status") or {}).get("size") == each["spec"]["size"] for each in found)

    async with world.controlled(ControllerGuest("test", look, Widget, workers=3)):
        for name in names:
            await world.create(widget(name))
        for step in range(150):
            change: Json = chance.choice(
                [{"spec": {"size": step}}, {"metadata": {"labels": {"step": str(step)}}}, {"status": {"other": step}}]
            )
            part = "status" if "status" in change else ""
            await world.client.patch(WIDGET, chance.choice(names), change, subresource=part)
        await world.until(are_settled)
