"""What the garbage collector takes and what it leaves, on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal
from uuid import uuid4

import orjson
import pytest

from hardpoint.client.client import Client
from hardpoint.client.options import Propagation
from hardpoint.controllers.absence import REMEMBERED_MAX, Absent
from hardpoint.controllers.manager import ControllerManager
from hardpoint.controllers.ownership import Reference
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response
from tests.controllers.world import ADMIN, Json, World, owners_of, pod, reference, template

HOLD = {"finalizers": ["example.com/hold"]}


async def chain(world: World) -> tuple[Json, Json, Json]:
    """A deployment, its replica set and its pod, as their controllers would have made them."""
    deployment = await world.make("web", kind="apps/v1 Deployment", spec=template())
    owner = reference(deployment, blocks=True)
    replicas = await world.make("web-1", kind="apps/v1 ReplicaSet", owners=[owner], spec=template())
    owner = reference(replicas, blocks=True)
    web = await world.make("web-1-a", kind="v1 Pod", owners=[owner], spec=pod())
    await world.settle()
    return deployment, replicas, web


@pytest.mark.parametrize("policy", ["Background", "Foreground", None])
async def test_a_chain_goes_with_its_first(world: World, policy: Propagation | None) -> None:
    deployment, replicas, web = await chain(world)
    await world.delete(deployment, policy)
    await world.until_gone(deployment, replicas, web)


async def test_an_orphan_loses_its_owner_and_keeps_its_own(world: World) -> None:
    deployment, replicas, web = await chain(world)
    await world.delete(deployment, "Orphan")
    await world.until_gone(deployment)
    await world.settle()
    orphan, kept = await world.find(replicas), await world.find(web)
    assert orphan is not None
    assert kept is not None
    assert "ownerReferences" not in orphan["metadata"]
    assert owners_of(kept) == [replicas["metadata"]["uid"]]


async def test_in_the_foreground_an_owner_outlives_what_blocks_it(world: World) -> None:
    owner = await world.make("owner")
    blocking = await world.make("blocking", owners=[reference(owner, blocks=True)], metadata=HOLD)
    free = await world.make("free", owners=[reference(owner)])
    await world.settle()
    await world.delete(owner, "Foreground")
    await world.until_gone(free)
    await world.settle()
    waiting, held = await world.find(owner), await world.find(blocking)
    assert waiting is not None
    assert held is not None
    assert waiting["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert "deletionTimestamp" in held["metadata"]
    await release(world, blocking)
    await world.until_gone(owner, blocking)


async def test_in_the_foreground_nobody_waits_for_what_does_not_block(world: World) -> None:
    owner = await world.make("owner")
    held = await world.make("held", owners=[reference(owner)], metadata=HOLD)
    await world.settle()
    await world.delete(owner, "Foreground")
    await world.until_gone(owner)
    assert await world.find(held)
    await release(world, held)
    await world.until_gone(held)


async def test_in_the_foreground_a_dependent_may_be_let_go(world: World) -> None:
    """Taking its reference away, or the word that it blocks, frees the owner."""
    owner = await world.make("owner")
    blocking = await world.make("blocking", owners=[reference(owner, blocks=True)], metadata=HOLD)
    await world.settle()
    await world.delete(owner, "Foreground")
    await world.settle()
    await world.client.patch("configmaps", "blocking", {"metadata": {"ownerReferences": [reference(owner)]}})
    await world.until_gone(owner)
    await release(world, blocking)


async def test_a_second_owner_keeps_a_dependent(world: World) -> None:
    first, second = await world.make("first"), await world.make("second")
    shared = await world.make("shared", owners=[reference(first, blocks=True), reference(second)])
    await world.settle()
    await world.delete(first, "Foreground")
    await world.until_gone(first)
    await world.settle()
    kept = await world.find(shared)
    assert kept is not None
    assert owners_of(kept) == [second["metadata"]["uid"]]
    await world.delete(second, "Background")
    await world.until_gone(shared)


async def absent(world: World) -> Json:
    return {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": str(uuid4())}


async def recreated(world: World) -> Json:
    """The owner's name lives on, under another uid."""
    owner = await world.make("owner")
    await world.delete(owner)
    await world.make("owner")
    return reference(owner)


async def in_another_namespace(world: World) -> Json:
    return reference(await world.make("owner", namespace="kube-public"))


async def of_another_kind(world: World) -> Json:
    return reference(await world.make("owner"), kind="Secret")


async def under_another_name(world: World) -> Json:
    return reference(await world.make("owner"), name="other")


@pytest.mark.parametrize("owner", [absent, recreated, in_another_namespace, of_another_kind, under_another_name])
async def test_who_has_only_an_owner_that_is_absent_goes(
    world: World, owner: Callable[[World], Awaitable[Json]]
) -> None:
    lost = await world.make("lost", owners=[await owner(world)])
    await world.until_gone(lost)


async def of_an_unknown_kind(world: World) -> Json:
    return {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": str(uuid4())}


async def without_namespaces(world: World) -> Json:
    return reference(await world.make("owner", kind="rbac.authorization.k8s.io/v1 ClusterRole"))


async def of_another_version(world: World) -> Json:
    """A horizontal autoscaler can be referred to as v1; it is followed as v2."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    spec = {"maxReplicas": 2, "scaleTargetRef": target}
    owner = await world.make("owner", kind="autoscaling/v2 HorizontalPodAutoscaler", spec=spec)
    return reference(owner, apiVersion="autoscaling/v1")


@pytest.mark.parametrize("owner", [of_an_unknown_kind, without_namespaces, of_another_version])
async def test_who_has_an_owner_that_may_be_there_stays(
    world: World, owner: Callable[[World], Awaitable[Json]]
) -> None:
    kept = await world.make("kept", owners=[await owner(world)])
    await world.settle()
    assert await world.find(kept)


async def test_an_object_without_namespace_has_no_owner_in_one(world: World) -> None:
    """Kubernetes leaves it alone, whatever becomes of the owner."""
    owner = await world.make("owner")
    role = await world.make("role", kind="rbac.authorization.k8s.io/v1 ClusterRole", owners=[reference(owner)])
    await world.delete(owner)
    await world.settle()
    assert await world.find(role)


async def tie(world: World, names: str, *, blocks: bool) -> list[Json]:
    """Objects that own each other in a circle."""
    made = [await world.make(name) for name in names]
    for owner, owned in zip(made, [*made[1:], made[0]], strict=True):
        patch = {"metadata": {"ownerReferences": [reference(owner, blocks=blocks)]}}
        await world.client.patch("configmaps", owned["metadata"]["name"], patch)
    await world.settle()
    return made


@pytest.mark.parametrize("names", ["a", "ab", "abc"])
@pytest.mark.parametrize("policy", ["Background", "Foreground"])
async def test_a_circle_stays_until_it_is_opened(
    world: World, names: str, policy: Literal["Background", "Foreground"]
) -> None:
    made = await tie(world, names, blocks=True)
    assert all([await world.find(obj) for obj in made])
    await world.delete(made[0], policy)
    await world.until_gone(*made)


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
async def test_what_was_begun_is_finished_after_a_restart(bare: World, policy: Propagation) -> None:
    """Nobody was there when the owner was deleted, nor when half of its dependents were."""
    owner = await bare.make("owner")
    dependents = [await bare.make(name, owners=[reference(owner, blocks=True)]) for name in "abcdef"]
    async with bare.controlled():
        await bare.settle()
    await bare.delete(owner, policy)
    for dependent in dependents[:3]:
        await bare.delete(dependent)
    async with bare.controlled():
        if policy == "Orphan":
            await bare.until_gone(owner)
            await bare.settle()
            assert [owners_of(found) for obj in dependents[3:] if (found := await bare.find(obj))] == [[], [], []]
        else:
            await bare.until_gone(owner, *dependents)


async def test_two_collectors_do_no_harm(world: World) -> None:
    owners = [await world.make(f"owner-{number}") for number in range(5)]
    made = [
        await world.make(f"{number}-{count}", owners=[reference(owner, blocks=True)])
        for number, owner in enumerate(owners)
        for count in range(5)
    ]
    other = World(world._handle)
    async with other.controlled():
        await world.settle()
        await other.settle()
        for owner, policy in zip(owners, ("Background", "Foreground", "Orphan", "Foreground", "Orphan"), strict=True):
            await world.delete(owner, policy)  # type: ignore[arg-type] # They are policies.
        await world.until_gone(*owners)
        await world.settle()
        await other.settle()
        kept = [obj["metadata"]["name"] for obj in made if await world.find(obj)]
        assert kept == [f"{number}-{count}" for number in (2, 4) for count in range(5)]


async def test_refusals_are_waited_out(bare: World) -> None:
    """Conflicts and failures on the way cost another try, and nothing else."""
    refused: list[str] = []

    async def moody(request: Request) -> Response:
        is_write = request.method in ("DELETE", "PATCH")
        if is_write and len(refused) < 12:
            refused.append(request.method)
            error = ApiError(409, "Conflict", "not now") if len(refused) % 2 else ApiError(500, "InternalError", "no")
            return Response(error.code, b'{"kind":"Status","code":%d,"message":"not now"}' % error.code)
        return await bare._handle(request)

    owner = await bare.make("owner")
    orphaned = await bare.make("orphaned", owners=[reference(owner)])
    lost = await bare.make("lost", owners=[await absent(bare)])
    await bare.delete(owner, "Orphan")
    manager = ControllerManager(Client.in_process(moody, ADMIN))
    manager.follower.subscribe(bare)
    async with manager.running():
        await bare.until_gone(owner, lost)
    assert len(refused) == 12
    assert await bare.find(orphaned)


async def test_a_path_that_is_not_served_is_no_absent_owner(bare: World) -> None:
    """A server that has lost a resource for a while answers 404 too."""
    asked: list[str] = []

    async def forgetful(request: Request) -> Response:
        if request.path == "/api/v1/namespaces/default/secrets/owner":
            asked.append(request.path)
            return Response(404, b"404 page not found\n", "text/plain")
        return await bare._handle(request)

    owner: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "name": "owner", "uid": str(uuid4())}
    kept = await bare.make("kept", owners=[owner])
    manager = ControllerManager(Client.in_process(forgetful, ADMIN))
    bare.manager = manager
    manager.follower.subscribe(bare)
    async with manager.running():
        await bare.settle()
        assert asked
        assert await bare.find(kept)


async def test_nothing_is_decided_before_everything_has_been_seen(bare: World) -> None:
    """An owner whose dependents have not been seen yet would leave them behind as garbage."""
    may_be_seen = asyncio.Event()

    async def slow(request: Request) -> Response:
        if request.path == "/api/v1/secrets":
            await may_be_seen.wait()
        return await bare._handle(request)

    owner = await bare.make("owner")
    dependent = await bare.make("dependent", kind="v1 Secret", owners=[reference(owner)])
    await bare.delete(owner, "Orphan")
    manager = bare.manager = ControllerManager(Client.in_process(slow, ADMIN))
    manager.follower.subscribe(bare)
    async with manager.running():

        async def others_are_seen() -> bool:
            return manager.garbage_collector.graph.get(owner["metadata"]["uid"]) is not None

        await bare.until(others_are_seen)
        assert await bare.find(owner)
        may_be_seen.set()
        await bare.until_gone(owner)
        await bare.settle()
        orphan = await bare.find(dependent)
        assert orphan is not None
        assert owners_of(orphan) == []


async def test_an_owner_that_is_not_followed_is_asked_about_again(bare: World) -> None:
    """It is there, but no watch would tell if it went."""

    async def unwatchable(request: Request) -> Response:
        response = await bare._handle(request)
        if request.path == "/api":
            document = orjson.loads(response.body)
            for resource in document["items"][0]["versions"][0]["resources"]:
                if resource["resource"] == "secrets":
                    resource["verbs"].remove("watch")
            response.body = orjson.dumps(document)
        return response

    owner = await bare.make("owner", kind="v1 Secret")
    kept = await bare.make("kept", owners=[reference(owner)])
    bare.manager = ControllerManager(Client.in_process(unwatchable, ADMIN))
    bare.manager.follower.subscribe(bare)
    async with bare.manager.running():
        await bare.settle()
        assert await bare.find(kept)
        await bare.delete(owner)
        await bare.until_gone(kept)


async def test_a_kind_that_goes_with_its_last_object_takes_the_dependents_along(bare: World) -> None:
    """That the owner went was seen, so its kind need not be known any more: a definition is deleted like that."""
    is_known = True

    async def handle(request: Request) -> Response:
        response = await bare._handle(request)
        if request.path == "/api" and not is_known:
            response.body = response.body.replace(b'"Secret"', b'"Former"').replace(b'"secrets"', b'"formers"')
        return response

    owner = await bare.make("owner", kind="v1 Secret")
    dependent = await bare.make("dependent", owners=[reference(owner)])
    client = Client.in_process(handle, ADMIN)
    bare.manager = ControllerManager(client)
    bare.manager.follower.subscribe(bare)
    async with bare.manager.running():
        await bare.settle()
        is_known = False
        await client.discovery.refresh()
        await bare.delete(owner)
        await bare.until_gone(dependent)


def test_only_the_newest_absences_are_remembered() -> None:
    absent = Absent()
    owners = [Reference(str(number), "v1", "Secret", "x", blocks=False) for number in range(REMEMBERED_MAX + 1)]
    for owner in owners:
        absent.add(owner, "a")
    assert [absent.holds(owner, "a") for owner in (owners[0], owners[1], owners[-1])] == [False, True, True]
    assert not absent.holds(owners[-1], "b")


async def test_a_careless_server_loses_nothing(bare: World) -> None:
    """Objects without a uid and owners without a name come from servers behind this one."""
    kept = await bare.make("kept", owners=[await absent(bare)])
    made_up = await bare.make("made-up", kind="v1 Secret")

    async def careless(request: Request) -> Response:
        response = await bare._handle(request)
        if request.path in ("/api/v1/configmaps", "/api/v1/secrets") and response.stream is not None:
            response.stream = garbled(response.stream)
        elif request.path == "/api/v1/namespaces/default/configmaps/kept":
            response.body = garble(response.body)
        return response

    def garble(text: bytes) -> bytes:
        uid = made_up["metadata"]["uid"].encode()
        return text.replace(b'"apiVersion":"v1","kind":"ConfigMap","name":"nobody",', b"").replace(uid, b"")

    async def garbled(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for line in lines:
            yield garble(line)

    bare.manager = ControllerManager(Client.in_process(careless, ADMIN))
    bare.manager.follower.subscribe(bare)
    async with bare.manager.running():
        await bare.settle()
        assert await bare.find(kept)
        assert await bare.find(made_up)


async def release(world: World, obj: Json) -> None:
    """Take every finalizer from an object."""
    await world.client.patch("configmaps", obj["metadata"]["name"], {"metadata": {"finalizers": None}})
