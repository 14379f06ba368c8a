"""Definitions come, are named and served, and go with everything they defined."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hardpoint.apiserver import watch
from hardpoint.apiserver.server import ApiServer
from hardpoint.store.sqlite import SqliteStore
from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import (
    DEFINITIONS,
    GADGETS,
    PATIENCE_SECONDS,
    define,
    definition,
    gadget,
    heard,
    until,
    until_gone,
    version,
)

Json = dict[str, Any]


def told(found: Json) -> list[tuple[str, str, str, str]]:
    return [(each["type"], each["status"], each["reason"], each["message"]) for each in found["status"]["conditions"]]


async def test_a_definition_is_established_and_served(api: Api) -> None:
    made = await api.ok("POST", DEFINITIONS, definition())
    assert made["status"] == {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": ["v1"],
    }
    found = await until(api, "gadgets.shop.example.com", "Established", "True")
    assert told(found) == [
        ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
        ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
    ]
    assert found["status"]["acceptedNames"] == {
        "plural": "gadgets",
        "singular": "gadget",
        "kind": "Gadget",
        "listKind": "GadgetList",
    }
    assert (await api.ok("GET", GADGETS))["items"] == []


async def test_a_custom_resource_is_served_within_a_tenth_of_a_second(api: Api) -> None:
    await define(api, definition(plural="others", kind="Other"))
    loop = asyncio.get_running_loop()
    started = loop.time()
    await define(api)
    await api.ok("GET", GADGETS)
    assert loop.time() - started < 0.1


async def test_names_belong_to_whoever_came_first(api: Api) -> None:
    await define(api, definition(names={"plural": "gadgets", "kind": "Gadget", "shortNames": ["gd"]}))
    late = definition(
        plural="gizmos", names={"plural": "gizmos", "kind": "Gizmo", "shortNames": ["gd", "gz", "gadget"]}
    )
    await api.ok("POST", DEFINITIONS, late)
    found = await until(api, "gizmos.shop.example.com", "NamesAccepted", "False")
    assert told(found) == [
        (
            "NamesAccepted",
            "False",
            "ShortNamesConflict",
            '["gd" is already in use, "gadget" is already in use]',
        ),
        ("Established", "False", "NotAccepted", "not all names are accepted"),
    ]
    assert (await api.send("GET", GADGETS.replace("gadgets", "gizmos"))).status == 404
    await api.ok("DELETE", f"{DEFINITIONS}/gadgets.shop.example.com")
    found = await until(api, "gizmos.shop.example.com", "Established", "True")
    assert found["status"]["acceptedNames"]["shortNames"] == ["gd", "gz", "gadget"]


async def test_names_that_are_no_longer_asked_for_are_free(api: Api) -> None:
    names = {"plural": "gadgets", "kind": "Gadget", "shortNames": ["gd"], "categories": ["all"]}
    await define(api, definition(names=names))
    change = {"spec": {"names": {"shortNames": None, "categories": None}}}
    path = f"{DEFINITIONS}/gadgets.shop.example.com"
    await api.ok("PATCH", path, change, content_type="application/merge-patch+json")
    await define(api, definition(plural="gizmos", names={"plural": "gizmos", "kind": "Gizmo", "shortNames": ["gd"]}))
    assert (await api.ok("GET", path))["status"]["acceptedNames"].keys() == {"plural", "singular", "kind", "listKind"}


async def test_the_same_names_in_another_group_are_no_conflict(api: Api) -> None:
    await define(api)
    await define(api, definition(group="other.example.com"))


async def test_what_a_definition_defined_goes_before_it(api: Api) -> None:
    await define(api)
    await api.ok("POST", "/api/v1/namespaces", {"metadata": {"name": "second"}})
    await api.ok("POST", GADGETS, gadget())
    await api.ok("POST", GADGETS.replace("default", "second"), gadget())
    gone = await api.ok("DELETE", f"{DEFINITIONS}/gadgets.shop.example.com")
    assert gone["metadata"]["finalizers"] == ["customresourcecleanup.apiextensions.k8s.io"]
    assert told(gone)[-1] == (
        "Terminating",
        "True",
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    )
    await until_gone(api, f"{DEFINITIONS}/gadgets.shop.example.com")
    await until_gone(api, GADGETS)
    await define(api)
    assert (await api.ok("GET", "/apis/shop.example.com/v1/gadgets"))["items"] == []


async def test_an_object_with_a_finalizer_keeps_its_definition(api: Api) -> None:
    await define(api)
    await api.ok("POST", GADGETS, gadget(metadata={"name": "a", "finalizers": ["example.com/wait"]}))
    await api.ok("DELETE", f"{DEFINITIONS}/gadgets.shop.example.com")
    await until(api, "gadgets.shop.example.com", "Terminating", "True")
    status, refused = await api.ask("POST", GADGETS, gadget("b"))
    assert (status, refused["message"]) == (
        403,
        'gadgets.shop.example.com "b" is forbidden: create not allowed while custom resource definition is terminating',
    )
    listed = await api.ok("GET", "/apis/shop.example.com/v1")
    assert listed["resources"][0]["verbs"] == ["delete", "deletecollection", "get", "list", "watch"]
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "deletionTimestamp" not in (await api.ok("GET", f"{GADGETS}/a"))["metadata"]:
            await heard(api)
    await api.ok(
        "PATCH", f"{GADGETS}/a", {"metadata": {"finalizers": None}}, content_type="application/merge-patch+json"
    )
    await until_gone(api, f"{DEFINITIONS}/gadgets.shop.example.com")


async def test_watches_end_with_what_they_watch(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "BOOKMARK_SECONDS", 0.02)
    await define(api)
    await api.ok("POST", GADGETS, gadget())
    async with api.watching(f"{GADGETS}?watch=1") as events, asyncio.timeout(PATIENCE_SECONDS):
        await api.ok("DELETE", f"{DEFINITIONS}/gadgets.shop.example.com")
        assert [event["type"] async for event in events] == ["ADDED", "DELETED"]


async def test_a_definition_that_never_was_goes_at_once(api: Api) -> None:
    await define(api)
    await api.ok("POST", DEFINITIONS, definition(plural="gizmos", names={"plural": "gizmos", "kind": "Gadget"}))
    await until(api, "gizmos.shop.example.com", "NamesAccepted", "False")
    await api.ok("DELETE", f"{DEFINITIONS}/gizmos.shop.example.com")
    await until_gone(api, f"{DEFINITIONS}/gizmos.shop.example.com")
    assert (await api.ok("GET", GADGETS))["items"] == []


async def test_a_change_is_served_at_once(api: Api) -> None:
    made = await define(api, definition(version(), version("v1beta1", storage=False)))
    beta = GADGETS.replace("/v1/", "/v1beta1/")
    await api.ok("GET", beta)
    made["spec"]["versions"][1]["served"] = False
    made["spec"]["names"]["shortNames"] = ["gd"]
    await api.ok("PUT", f"{DEFINITIONS}/gadgets.shop.example.com", made)
    await until_gone(api, beta)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            listed = await api.ok("GET", "/apis/shop.example.com/v1")
            if listed["resources"][0].get("shortNames") == ["gd"]:
                break
            await heard(api)


async def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path / "data")
    async with ApiServer(store).running() as server:
        api = Api(server)
        await define(api)
        await api.ok("POST", GADGETS, gadget(spec={"size": 3}))
        held = definition(plural="gizmos", kind="Gizmo")
        await define(api, held)
        await api.ok(
            "POST",
            GADGETS.replace("gadgets", "gizmos"),
            {"apiVersion": "shop.example.com/v1", "kind": "Gizmo", "metadata": {"name": "g", "finalizers": ["a.b/c"]}},
        )
        await api.ok("DELETE", f"{DEFINITIONS}/gizmos.shop.example.com")
    async with ApiServer(store).running() as server:
        api = Api(server)
        assert (await api.ok("GET", f"{GADGETS}/a"))["spec"] == {"color": "red", "size": 3}
        await api.ok(
            "PATCH",
            f"{GADGETS.replace('gadgets', 'gizmos')}/g",
            {"metadata": {"finalizers": None}},
            content_type="application/merge-patch+json",
        )
        await until_gone(api, f"{DEFINITIONS}/gizmos.shop.example.com")
    await store.close()


@pytest.mark.parametrize(
    ("annotation", "status", "reason", "message"),
    [
        ("https://example.com/1", "True", "ApprovedAnnotation", "approved in https://example.com/1"),
        ("unapproved, a test", "False", "UnapprovedAnnotation", 'not approved: "unapproved, a test"'),
    ],
)
async def test_groups_of_kubernetes_own_tell_who_approved(
    api: Api, annotation: str, status: str, reason: str, message: str
) -> None:
    body = definition(group="shop.k8s.io")
    body["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    found = await define(api, body)
    assert told(found)[-1] == ("KubernetesAPIApprovalPolicyConformant", status, reason, message)
