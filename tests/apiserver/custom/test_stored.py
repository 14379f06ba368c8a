"""A custom resource is answered as it will be read: complete and pruned, whatever way it was written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import GADGETS, INTEGER, SCALE, define, definition, gadget, version

Json = dict[str, Any]

pytestmark = pytest.mark.parametrize("api", ["memory"], indirect=True)

APPLIED = f"{GADGETS}/a?fieldManager=me"
APPLY, MERGE, JSON_PATCH = (
    "application/apply-patch+yaml",
    "application/merge-patch+json",
    "application/json-patch+json",
)
SPEC: Json = {
    "type": "object",
    "properties": {
        "size": INTEGER,
        "notes": {"type": "object", "additionalProperties": {"x-kubernetes-preserve-unknown-fields": True}},
        "weights": {"type": "array", "items": {"type": "number"}, "x-kubernetes-list-type": "set"},
        "embedded": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
    },
}
STATUS: Json = {"type": "object", "default": {}, "properties": {"healthy": {"type": "boolean", "default": True}}}


def with_default_status(name: str = "v1", spec: Json = SPEC, *, storage: bool = True) -> Json:
    schema = {"type": "object", "properties": {"spec": spec, "status": STATUS}}
    parts = {"status": {}, "scale": SCALE}
    return version(name, storage=storage, schema={"openAPIV3Schema": schema}, subresources=parts)


async def test_a_status_that_was_taken_away_has_its_defaults(api: Api) -> None:
    await define(api, definition(with_default_status()))
    posted = await api.ok("POST", f"{GADGETS}?dryRun=All", gadget(status={"healthy": False}))
    made = await api.ok("POST", GADGETS, gadget(status={"healthy": False}))
    assert posted["status"] == made["status"] == {"healthy": True}
    _, applied = await api.ask("PATCH", APPLIED, gadget(), content_type=APPLY)
    assert applied["status"] == {"healthy": True}


async def test_what_is_applied_is_pruned_in_the_end(api: Api) -> None:
    await define(api, definition(with_default_status()))
    spec = {
        "notes": {"gone": None, "here": "x"},
        "embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "labels": {}}},
    }
    made = await api.ok("PATCH", APPLIED, gadget(spec=spec), content_type=APPLY)
    assert made["spec"]["notes"] == {"here": "x"}
    assert made["spec"]["embedded"]["metadata"] == {"name": "x"}
    assert await api.ok("GET", f"{GADGETS}/a") == made


async def test_an_embedded_object_may_have_no_name(api: Api) -> None:
    await define(api, definition(with_default_status()))
    spec = {"embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": None}}}
    made = await api.ok("PATCH", APPLIED, gadget(spec=spec), content_type=APPLY)
    assert made["spec"]["embedded"]["metadata"] == {}


async def test_a_whole_float_is_applied_as_an_integer(api: Api) -> None:
    await define(api, definition(with_default_status()))
    made = await api.ok("PATCH", APPLIED, gadget(spec={"weights": [1000.0, 1.5]}), content_type=APPLY)
    owned = made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:weights"]
    assert (owned, str(made["spec"]["weights"])) == ({"v:1.5": {}, "v:1000": {}}, "[1000, 1.5]")


async def test_what_the_stored_version_completes_is_seen_in_the_others(api: Api) -> None:
    more = {**SPEC["properties"], "more": {"type": "object", "default": {}}}
    stored = with_default_status("v2", {**SPEC, "properties": more})
    served = with_default_status("v1", {**SPEC, "x-kubernetes-preserve-unknown-fields": True}, storage=False)
    await define(api, definition(served, stored))
    tried = await api.ok("POST", f"{GADGETS}?dryRun=All", gadget(spec={"lost": 1}))
    assert tried["spec"] == {"more": {}}


async def test_an_empty_list_of_managers_is_as_good_as_none(api: Api) -> None:
    await define(api, definition(with_default_status()))
    made = await api.ok("PATCH", APPLIED, gadget(spec={"size": 1}), content_type=APPLY)
    for emptied in ([], None):
        kept = await api.ok("PATCH", f"{GADGETS}/a", {"metadata": {"managedFields": emptied}}, content_type=MERGE)
        assert kept["metadata"]["managedFields"] == made["metadata"]["managedFields"]
    forgotten = await api.ok("PATCH", f"{GADGETS}/a", {"metadata": {"managedFields": [{}]}}, content_type=MERGE)
    assert "managedFields" not in forgotten["metadata"]


@pytest.mark.parametrize(
    ("content_type", "change"),
    [
        pytest.param(MERGE, {"metadata": {"resourceVersion": None}}, id="merge"),
        pytest.param(JSON_PATCH, [{"op": "replace", "path": "/metadata", "value": {"name": "a"}}], id="json"),
    ],
)
async def test_a_patch_must_leave_the_version_it_replaces(api: Api, content_type: str, change: Any) -> None:
    await define(api, definition(with_default_status()))
    await api.ok("POST", GADGETS, gadget())
    code, refused = await api.ask("PATCH", f"{GADGETS}/a", change, content_type=content_type)
    why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update"
    assert (code, refused["message"]) == (422, f'gadgets.shop.example.com "a" is invalid: {why}')


async def test_a_patch_must_leave_the_name(api: Api) -> None:
    await define(api, definition(with_default_status()))
    await api.ok("POST", GADGETS, gadget())
    code, refused = await api.ask("PATCH", f"{GADGETS}/a", {"metadata": None}, content_type=MERGE)
    told = "the name of the object (a based on URL) was undeterminable: name must be provided"
    assert (code, refused["message"]) == (400, told)


async def test_no_replicas_is_a_number_of_replicas(api: Api) -> None:
    await define(api, definition(with_default_status()))
    await api.ok("POST", GADGETS, gadget())
    code, _ = await api.ask("PATCH", f"{GADGETS}/a/scale", {"spec": {}}, content_type=MERGE)
    assert code == 400
    assert (await api.ok("PATCH", f"{GADGETS}/a/scale", {"spec": {"replicas": 0}}, content_type=MERGE))["spec"] == {}
