"""Namespaces on their way out, on a real server."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson
import pytest

from hardpoint.client.client import Client
from hardpoint.controllers import namespace_contents
from hardpoint.controllers.manager import ControllerManager
from hardpoint.controllers.namespace_conditions import Findings, conditions_after
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.kinds import by_plural
from hardpoint.machinery.messages import Request, Response
from tests.controllers.world import ADMIN, Json, World, pod

CONTENT_KINDS = ("v1 ConfigMap", "v1 Secret", "v1 ServiceAccount", "coordination.k8s.io/v1 Lease")
EARLY, LATE = "2026-01-02T03:04:05Z", "2026-01-02T03:05:00Z"


async def space(world: World, name: str = "team") -> Json:
    return await world.make(name, kind="v1 Namespace")


def told(namespace: Json | None) -> dict[str, tuple[str, str, str]]:
    """What a namespace's conditions say."""
    assert namespace is not None
    conditions = namespace["status"].get("conditions", [])
    return {each["type"]: (each["status"], each["reason"], each["message"]) for each in conditions}


async def test_an_empty_namespace_goes(world: World) -> None:
    team = await space(world)
    await world.delete(team)
    await world.until_gone(team)


async def test_a_namespace_takes_everything_along(world: World) -> None:
    team, other = await space(world), await space(world, "other")
    inside = [await world.make(f"{n}", kind=kind, namespace="team") for kind in CONTENT_KINDS for n in range(100)]
    inside.append(await world.make("web", kind="v1 Pod", namespace="team", spec=pod()))
    outside = [await world.make("kept", kind=kind, namespace="other") for kind in CONTENT_KINDS]
    await world.delete(team)
    await world.until_gone(team)
    assert not any([await world.find(obj) for obj in inside])
    assert all([await world.find(obj) for obj in [other, *outside]])


async def test_finalizers_are_waited_for_and_named(world: World) -> None:
    team = await space(world)
    for name, finalizers in {"a": ["example.com/x"], "b": ["example.com/x", "example.com/y"]}.items():
        await world.make(name, namespace="team", metadata={"finalizers": finalizers})
    await world.delete(team)

    async def is_told() -> bool:
        return bool(told(await world.find(team)))

    await world.until(is_told)
    found = told(await world.find(team))
    assert found["NamespaceContentRemaining"] == (
        "True",
        "SomeResourcesRemain",
        "Some resources are remaining: configmaps. has 2 resource instances",
    )
    assert found["NamespaceFinalizersRemaining"] == (
        "True",
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: "
        "example.com/x in 2 resource instances, example.com/y in 1 resource instances",
    )
    assert found["NamespaceDeletionContentFailure"][0] == "False"
    for name in "ab":
        await world.client.patch("configmaps", name, {"metadata": {"finalizers": None}}, namespace="team")
    await world.until_gone(team)


async def test_nothing_goes_before_the_pods(world: World) -> None:
    """A running pod has its grace, and what it uses stays until it is gone."""
    team = await space(world)
    running = await world.make("web", kind="v1 Pod", namespace="team", spec=pod(nodeName="node-1"))
    used = await world.make("settings", namespace="team")
    await world.delete(team)

    async def is_told() -> bool:
        return bool(told(await world.find(team)))

    await world.until(is_told)
    ending = await world.find(running)
    assert ending is not None
    assert ending["metadata"]["deletionGracePeriodSeconds"] == 30
    assert await world.find(used)
    assert told(await world.find(team))["NamespaceContentRemaining"][2] == (
        "Some resources are remaining: pods. has 1 resource instances"
    )
    await world.client.delete("pods", "web", namespace="team", grace_seconds=0)
    await world.until_gone(team, used)


async def test_other_finalizers_of_a_namespace_are_others_business(world: World) -> None:
    spec = {"finalizers": ["kubernetes", "example.com/archive"]}
    team = await world.make("team", kind="v1 Namespace", spec=spec)
    used = await world.make("settings", namespace="team")
    await world.delete(team)

    async def only_theirs_is_left() -> bool:
        found = await world.find(team)
        return found is not None and found["spec"].get("finalizers") == ["example.com/archive"]

    await world.until(only_theirs_is_left)
    assert await world.find(used) is None


async def test_what_was_begun_is_finished_after_a_restart(bare: World) -> None:
    team = await space(bare)
    held = await bare.make("held", namespace="team", metadata={"finalizers": ["example.com/x"]})
    await bare.delete(team)
    async with bare.controlled():

        async def is_told() -> bool:
            return bool(told(await bare.find(team)))

        await bare.until(is_told)
    await bare.client.patch(
        "configmaps", held["metadata"]["name"], {"metadata": {"finalizers": None}}, namespace="team"
    )
    async with bare.controlled():
        await bare.until_gone(team)


@pytest.mark.parametrize(
    ("path", "method", "condition", "message"),
    [
        (
            "/api/v1/namespaces/team/secrets",
            "DELETE",
            "NamespaceDeletionContentFailure",
            "Failed to delete all resource types, 1 remaining: no way",
        ),
        ("/api", "GET", "NamespaceDeletionDiscoveryFailure", "no way"),
    ],
)
async def test_failures_are_told_and_waited_out(
    bare: World, path: str, method: str, condition: str, message: str
) -> None:
    works = True

    async def broken(request: Request) -> Response:
        if not works and (request.path, request.method) == (path, method):
            error = ApiError(403, "Forbidden", "no way")
            return Response(error.code, orjson.dumps(error.status()))
        return await bare._handle(request)

    team = await space(bare)
    await bare.make("key", kind="v1 Secret", namespace="team")
    manager = ControllerManager(Client.in_process(broken, ADMIN))
    manager.follower.subscribe(bare)
    async with manager.running():
        await manager.follower.wait_until_synced()
        works = False
        await bare.delete(team)

        async def is_told() -> bool:
            return told(await bare.find(team)).get(condition, ("",))[0] == "True"

        await bare.until(is_told)
        assert told(await bare.find(team))[condition][2] == message
        works = True
        await bare.until_gone(team)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Response(404, b"404 page not found\n", "text/plain"), id="not served"),
        pytest.param(Response(405, orjson.dumps(ApiError(405, "MethodNotAllowed", "no").status())), id="not listed"),
    ],
)
async def test_what_is_discovered_but_not_served_keeps_no_namespace(bare: World, answer: Response) -> None:
    async def partial(request: Request) -> Response:
        return answer if request.path.endswith("/leases") else await bare._handle(request)

    team = await space(bare)
    await bare.delete(team)
    findings = await namespace_contents.empty(Client.in_process(partial, ADMIN), "team", timedelta(0))
    assert findings.is_empty


async def test_a_group_that_cannot_be_discovered_keeps_a_namespace(bare: World) -> None:
    """There may be objects in it."""
    is_stale = True

    async def behind(request: Request) -> Response:
        response = await bare._handle(request)
        if is_stale and request.path == "/apis":
            document = orjson.loads(response.body)
            for group in document["items"]:
                if group["metadata"]["name"] == "batch":
                    group["versions"][0]["freshness"] = "Stale"
            response.body = orjson.dumps(document)
        return response

    findings = await namespace_contents.empty(Client.in_process(behind, ADMIN), "default", timedelta(0))
    assert not findings.is_empty
    assert findings.undiscovered == (
        "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: "
        "batch/v1: stale GroupVersion discovery: batch/v1"
    )
    is_stale = False
    assert (
        await namespace_contents.empty(Client.in_process(behind, ADMIN), "default", timedelta(0))
    ).undiscovered == ""


async def test_pods_that_overstay_their_grace_are_a_failure(bare: World) -> None:
    team = await space(bare)
    await bare.make("web", kind="v1 Pod", namespace="team", spec=pod(nodeName="node-1"))
    findings = await namespace_contents.empty(bare.client, "team", timedelta(seconds=29))
    assert (findings.failures, findings.estimate_seconds) == ([], 30.0)
    findings = await namespace_contents.empty(bare.client, "team", timedelta(seconds=30))
    assert findings.failures == ["unexpected items still remain in namespace: team for gvr: /v1, Resource=pods"]
    assert await bare.find(team)


def item(*finalizers: str) -> dict[str, Any]:
    return {"metadata": {"name": "x", "finalizers": list(finalizers)}}


def test_conditions_of_a_namespace_that_is_emptied_at_once() -> None:
    assert [(c["type"], c["status"], c["reason"]) for c in conditions_after([], Findings(), EARLY)] == [
        ("NamespaceDeletionDiscoveryFailure", "False", "ResourcesDiscovered"),
        ("NamespaceDeletionGroupVersionParsingFailure", "False", "ParsedGroupVersions"),
        ("NamespaceDeletionContentFailure", "False", "ContentDeleted"),
        ("NamespaceContentRemaining", "False", "ContentRemoved"),
        ("NamespaceFinalizersRemaining", "False", "ContentHasNoFinalizers"),
    ]


def test_conditions_change_their_time_only_with_their_status() -> None:
    kind = by_plural("apps", "v1", "deployments")
    assert kind is not None
    foreign = {"type": "Mine", "status": "True"}
    findings = Findings()
    findings.add_remaining(kind, [item("a"), item()])
    first = conditions_after([foreign], findings, EARLY)
    assert first[0] == foreign
    assert conditions_after(first, findings, LATE) == first
    findings.add_remaining(kind, [item()])
    second = {condition["type"]: condition for condition in conditions_after(first, findings, LATE)}
    remaining = second["NamespaceContentRemaining"]
    assert remaining["message"] == "Some resources are remaining: deployments.apps has 3 resource instances"
    assert remaining["lastTransitionTime"] == EARLY
    third = {condition["type"]: condition for condition in conditions_after(first, Findings(), LATE)}
    assert third["NamespaceContentRemaining"]["lastTransitionTime"] == LATE
    assert third["NamespaceDeletionContentFailure"]["lastTransitionTime"] == EARLY
