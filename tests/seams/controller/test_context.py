"""What a function can do through its context, against a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from hardpoint.controller import Context, PlainContext, Requeue
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request
from hardpoint.seams.controller.guest.controller import ControllerGuest
from tests.definitions import definition
from tests.seams.controller import world as worlds
from tests.seams.controller.world import Widget, World, config_map, widget

Json = dict[str, Any]
WIDGET = "example.com/v1 Widget"
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


async def reconciled(
    world: World, act: Callable[[Widget, Context], Awaitable[Any]], what: Any = Widget, **options: Any
) -> list[Any]:
    """What `act` returned or raised, in a reconcile of the widget `a`. It is called once."""
    said: list[Any] = []

    async def look(seen: Widget, ctx: Context) -> None:
        if not said:
            try:
                said.append(await act(seen, ctx))
            except (ValueError, ApiError, RuntimeError) as refused:
                said.append(refused)
        world.happened()

    async with world.controlled(ControllerGuest("test", look, what, **options), now=lambda: NOW) as (reconciler,):
        if await world.find(WIDGET, "a") is None:
            await world.create(widget())

        async def has_said() -> bool:
            return bool(said)

        await world.until(has_said)
        await reconciler.queue.drain()
    return said


async def test_what_was_written_is_read_at_once(world: World) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        made = await ctx.apply(config_map("mine", a="b"))
        there = await ctx.get("v1 ConfigMap", "mine")
        listed = await ctx.list("v1 ConfigMap", label_selector="!other")
        assert there is not None
        return made["data"], there.json["data"], [each.json["metadata"]["name"] for each in listed]

    await world.create(widget())
    (said,) = await reconciled(world, act, owns=["v1 ConfigMap"])
    assert said == ({"a": "b"}, {"a": "b"}, ["mine"])


async def test_what_belongs_to_the_object_can_be_told_from_the_rest(world: World) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        for number in range(3):
            await ctx.apply(config_map(f"mine-{number}"))
        await ctx.apply(config_map("nobodys"), owned=False)
        made = sorted(await ctx.owned("v1 ConfigMap"), key=lambda each: str(each.metadata.name))
        for surplus in made[1:]:
            await ctx.delete(surplus)
        return [each.metadata.name for each in made], await ctx.owned("v1 Secret")

    await world.create(widget())
    await world.create(config_map("theirs"))
    (said,) = await reconciled(world, act, owns=["v1 ConfigMap"])
    assert said == (["mine-0", "mine-1", "mine-2"], [])
    left = await world.client.list("v1 ConfigMap")
    assert [each["metadata"]["name"] for each in left["items"]] == ["mine-0", "nobodys", "theirs"]


async def test_what_is_not_declared_can_be_read_too(world: World) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        space, nothing = await ctx.get("v1 Namespace", "default"), await ctx.get("v1 Secret", "none")
        own = await ctx.get(Widget, "a")
        assert space is not None
        assert own is not None
        return space.json["kind"], nothing, own.size

    assert await reconciled(world, act) == [("Namespace", None, 1)]


async def test_what_a_controller_does_not_look_at_cannot_be_read(world: World) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        return await ctx.get("v1 ConfigMap", "mine", namespace="kube-system")

    (said,) = await reconciled(world, act, namespace="default")
    assert "in namespace 'kube-system' is not read: this controller looks at 'default'" in str(said)


async def test_the_same_again_is_not_asked_for_until_somebody_changes_it(world: World) -> None:
    looks: list[Json] = []

    async def look(seen: Widget, ctx: Context) -> None:
        await ctx.apply(config_map("mine", a="b"))
        looks.append(await ctx.apply(config_map("mine", a="b")))
        world.happened()

    async def is_mended() -> bool:
        found = await world.find("v1 ConfigMap", "mine")
        return bool(found and found["data"] == {"a": "b"})

    async def were(count: int) -> bool:
        return len(looks) >= count

    async with world.controlled(ControllerGuest("test", look, Widget, owns=["v1 ConfigMap"])) as (reconciler,):
        await world.create(widget())
        await world.until(lambda: were(2))
        await reconciler.queue.wait_until_idle()
        assert world.writes == [("PATCH", "/api/v1/namespaces/default/configmaps/mine")]
        world.writes.clear()
        await world.client.patch("v1 ConfigMap", "mine", {"data": {"a": "other"}}, namespace="default")
        await world.until(is_mended)
        await world.until(lambda: were(4))
        await reconciler.queue.wait_until_idle()
        assert len(world.writes) == 1
    assert looks[0]["data"] == looks[1]["data"] == {"a": "b"}, "what is not asked for is answered all the same"


async def test_an_apply_leaves_others_their_fields(world: World) -> None:
    await world.create({**config_map("mine", theirs="x"), "metadata": {"name": "mine", "labels": {"their": "s"}}})

    async def act(seen: Widget, ctx: Context) -> Any:
        made = await ctx.apply(config_map("mine", ours="y"))
        return made["data"], made["metadata"]["labels"]

    assert await reconciled(world, act) == [({"theirs": "x", "ours": "y"}, {"their": "s"})]


CLUSTER_ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}}
AWAY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "kube-system"}}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(CLUSTER_ROLE, "cannot own ClusterRole r, which is in no namespace", id="of the cluster"),
        pytest.param(AWAY, "cannot own ConfigMap kube-system/m, which is in namespace 'kube-system'", id="away"),
        pytest.param({**AWAY, "metadata": {}}, "ConfigMap has no metadata.name", id="without a name"),
        pytest.param(17, "17 is no object", id="no object"),
    ],
)
async def test_what_cannot_be_applied_is_said_in_a_sentence(world: World, body: Any, words: str) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        return await ctx.apply(body)

    (said,) = await reconciled(world, act)
    assert isinstance(said, ValueError)
    assert words in str(said)


async def test_what_is_not_owned_may_be_anywhere_and_be_deleted_again(world: World) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        made = [await ctx.apply(body, owned=False) for body in (CLUSTER_ROLE, AWAY)]
        for each in (*made, *made):
            await ctx.delete(each)
        return [each["metadata"].get("ownerReferences") for each in made]

    assert await reconciled(world, act) == [[None, None]]
    assert await world.find("v1 ConfigMap", "m", "kube-system") is None


async def test_a_delete_spares_another_object_of_the_same_name(world: World) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        made = await ctx.apply(config_map("mine"))
        await world.client.delete("v1 ConfigMap", "mine", namespace="default")
        another = await world.client.create(config_map("mine"), namespace="default")
        await ctx.delete(made)
        return another["metadata"]["uid"]

    (uid,) = await reconciled(world, act)
    found = await world.find("v1 ConfigMap", "mine")
    assert found is not None
    assert found["metadata"]["uid"] == uid


async def test_a_condition_tells_what_it_is_about_and_since_when(world: World) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        ctx.condition("Ready", False, "NotYet", "wait")
        ctx.condition("Ready", True, "Made", "go")

    await reconciled(world, act)
    found = await world.find(WIDGET, "a")
    assert found is not None
    assert found["status"]["conditions"] == [
        {
            "type": "Ready",
            "status": "True",
            "observedGeneration": 1,
            "lastTransitionTime": "2026-01-02T03:04:05Z",
            "reason": "Made",
            "message": "go",
        }
    ]


async def test_a_context_is_good_for_one_call_only(world: World) -> None:
    kept: list[Context] = []

    async def act(seen: Widget, ctx: Context) -> Any:
        kept.append(ctx)

    await reconciled(world, act)
    with pytest.raises(RuntimeError, match="the reconcile of default/a is over"):
        await kept[0].apply(config_map("late"))


async def test_what_is_changed_besides_the_status_is_not_written_and_told(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        seen.json["spec"]["size"] = 99

    await reconciled(world, act)
    found = await world.find(WIDGET, "a")
    assert found is not None
    assert found["spec"]["size"] == 1
    (told,) = [record for record in caplog.records if "only the status is written" in record.getMessage()]
    assert vars(told)["changed"] == "spec"


async def test_a_status_is_merged_with_what_others_wrote_meanwhile(world: World) -> None:
    async def act(seen: Widget, ctx: Context) -> Any:
        theirs = {"status": {"theirs": 1, "conditions": [{"type": "Their", "status": "True"}]}}
        await world.client.patch(WIDGET, "a", theirs, namespace="default", subresource="status")
        seen.status["ours"] = 2
        ctx.condition("Our", True, "Made")

    await reconciled(world, act)
    found = await world.find(WIDGET, "a")
    assert found is not None
    assert (found["status"]["ours"], found["status"]["theirs"]) == (2, 1)
    assert [each["type"] for each in found["status"]["conditions"]] == ["Their", "Our"]


async def test_a_status_that_others_wrote_too_is_decided_on_again(world: World) -> None:
    sizes: list[int] = []

    async def look(seen: Widget, ctx: Context) -> None:
        if not sizes:
            await world.client.patch(WIDGET, "a", {"status": {"count": 7}}, namespace="default", subresource="status")
        sizes.append(seen.status.get("count", 0))
        if seen.status.get("count", 0) != 8:
            seen.status["count"] = seen.status.get("count", 0) + 1
        world.happened()

    async with world.controlled(ControllerGuest("test", look, Widget)):
        await world.create(widget())

        async def is_eight() -> bool:
            found = await world.find(WIDGET, "a")
            return bool(found and found.get("status") == {"count": 8})

        await world.until(is_eight)
    assert sizes[:2] == [0, 7], "the second look sees what they wrote"
    assert world.recorded.events == [], "somebody was faster, which is no failure"


async def test_a_finalizer_of_others_survives_a_race(world: World) -> None:
    raced: list[str] = []

    async def race(request: Request) -> None:
        if request.method == "PATCH" and not raced and "finalizers" in orjson.loads(request.body)["metadata"]:
            raced.append(request.path)
            await world.client.patch(WIDGET, "a", {"metadata": {"finalizers": ["example.com/theirs"]}})

    async def nothing(seen: Widget, ctx: Context) -> None:
        return None

    world.before = race
    await reconciled(world, nothing, finalize=nothing)
    found = await world.find(WIDGET, "a")
    assert found is not None
    assert raced
    assert found["metadata"]["finalizers"] == ["example.com/theirs", "test.example.com/finalizer"]


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        pytest.param(definition("Widget", subresource=False), "has no status subresource", id="no status subresource"),
        pytest.param(
            definition("Widget", status={"type": "object", "properties": {"size": {"type": "integer"}}}),
            "has no status.conditions in its schema",
            id="no conditions in the schema",
        ),
    ],
)
async def test_a_status_that_nobody_can_see_is_told(definition: Json, words: str) -> None:
    async with worlds.world(definition) as world:

        async def look(seen: Widget, ctx: Context) -> None:
            ctx.condition("Ready", True, "Made")

        async with world.controlled(ControllerGuest("test", look, Widget)):
            await world.create(widget())

            async def is_told() -> bool:
                return any(words in event[3] for event in world.recorded.events)

            await world.until(is_told)


async def test_a_call_that_takes_too_long_is_ended_and_told(world: World) -> None:
    async def endless(seen: Widget, ctx: Context) -> None:
        await asyncio.get_running_loop().create_future()

    async with world.controlled(ControllerGuest("test", endless, Widget, timeout_seconds=0.01)):
        await world.create(widget())

        async def is_told() -> bool:
            return bool(world.recorded.events)

        await world.until(is_told)
    assert world.recorded.events[0][3].endswith("endless took longer than 0.01 s")


async def test_a_thread_that_takes_too_long_can_do_nothing_more(world: World) -> None:
    said: list[str] = []

    def late(seen: Widget, ctx: PlainContext) -> None:
        while not said:
            try:
                ctx.get("v1 ConfigMap", "mine")
            except RuntimeError as over:
                said.append(str(over))
                asyncio.run_coroutine_threadsafe(_call(world.happened), loop)

    loop = asyncio.get_running_loop()
    async with world.controlled(ControllerGuest("test", late, Widget, timeout_seconds=0.02)):
        await world.create(widget())

        async def has_said() -> bool:
            return bool(said)

        await world.until(has_said)
    assert said == ["the reconcile of default/a is over; its context is good for one call only"]


async def _call(function: Callable[[], None]) -> None:
    function()


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        pytest.param(Requeue(after=30), 30.0, id="seconds"),
        pytest.param(Requeue(after=timedelta(minutes=2)), 120.0, id="a timedelta"),
        pytest.param(Requeue(at=NOW + timedelta(seconds=7)), 7.0, id="a moment"),
        pytest.param(Requeue(at=NOW - timedelta(seconds=7)), 0.0, id="a moment that is over"),
    ],
)
def test_a_requeue_is_so_many_seconds_away(asked: Requeue, seconds: float) -> None:
    assert asked.seconds(NOW) == seconds


@pytest.mark.parametrize(
    "arguments", [{}, {"after": 1, "at": NOW}, {"at": datetime(2026, 1, 1)}], ids=["none", "both", "no time zone"]
)
def test_a_requeue_that_means_nothing_is_refused(arguments: Json) -> None:
    with pytest.raises(ValueError, match="Requeue"):
        Requeue(**arguments)
