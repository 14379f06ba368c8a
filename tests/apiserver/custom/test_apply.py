"""Server-side apply of custom resources: merged by their schema, in all their versions, and as it changes."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.apiserver.asking import Api
from tests.apiserver.custom.samples import DEFINITIONS, GADGETS, SPEC, define, definition, gadget, heard, version

Json = dict[str, Any]

pytestmark = pytest.mark.parametrize("api", ["memory"], indirect=True)

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"


async def apply(api: Api, obj: Json, manager: str = "me", *, force: bool = False, part: str = "") -> tuple[int, Json]:
    base = GADGETS.replace("/v1/", f"/{obj['apiVersion'].rpartition('/')[2]}/")
    url = f"{base}/{obj['metadata']['name']}{part}?fieldManager={manager}&force={str(force).lower()}"
    return await api.ask("PATCH", url, obj, content_type=APPLY)


def fields(obj: Json, manager: str) -> Json:
    found: Json = next(entry for entry in obj["metadata"]["managedFields"] if entry["manager"] == manager)["fieldsV1"]
    return found


async def test_items_of_a_set_have_owners_of_their_own(api: Api) -> None:
    await define(api, definition())
    code, made = await apply(api, gadget(spec={"tags": ["a", "b"]}))
    assert (code, fields(made, "me")) == (201, {"f:spec": {"f:tags": {'v:"a"': {}, 'v:"b"': {}}}})
    await apply(api, gadget(spec={"tags": ["b", "c"]}), "other")
    _, left = await apply(api, gadget(spec={"tags": []}))
    assert left["spec"]["tags"] == ["b", "c"]


async def test_what_the_schema_does_not_have_is_refused(api: Api) -> None:
    await define(api, definition())
    code, refused = await apply(api, gadget(spec={"weight": 1}))
    assert (code, refused["message"]) == (
        500,
        "failed to create typed patch object (/a; shop.example.com/v1, Kind=Gadget): "
        ".spec.weight: field not declared in schema",
    )


async def test_what_is_free_is_merged_as_it_looks(api: Api) -> None:
    await define(api, definition())
    await apply(api, gadget(spec={"free": {"a": {"x": 1}, "list": [1]}}))
    code, refused = await apply(api, gadget(spec={"free": {"a": {"y": 1}, "list": [2]}}), "other")
    assert (code, refused["details"]["causes"][0]["field"]) == (409, ".spec.free.list")
    _, merged = await apply(api, gadget(spec={"free": {"a": {"y": 1}}}), "other")
    assert merged["spec"]["free"] == {"a": {"x": 1, "y": 1}, "list": [1]}


async def test_status_and_scale_are_applied_by_themselves(api: Api) -> None:
    await define(api, definition())
    await apply(api, gadget(spec={"size": 1}))
    code, after = await apply(api, gadget(spec={"size": 9}, status={"phase": "up"}), "controller", part="/status")
    assert (code, after["spec"]["size"], after["status"]) == (200, 1, {"phase": "up"})
    assert fields(after, "controller") == {"f:status": {"f:phase": {}}}
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a"}, "spec": {"replicas": 3}}
    url = f"{GADGETS}/a/scale?fieldManager=scaler&force=true"
    assert (await api.ok("PATCH", url, scale, content_type=APPLY))["spec"] == {"replicas": 3}
    scaled = await api.ok("GET", f"{GADGETS}/a")
    assert fields(scaled, "scaler") == {"f:spec": {"f:size": {}}}


async def test_versions_share_their_managers(api: Api) -> None:
    await define(api, definition(version(), version("v2", storage=False)))
    await apply(api, gadget(spec={"size": 1}))
    code, refused = await apply(api, gadget(version="v2", spec={"size": 2}), "other")
    assert (code, refused["message"]) == (409, 'Apply failed with 1 conflict: conflict with "me": .spec.size')
    _, after = await apply(api, gadget(version="v2", spec={"color": "blue"}))
    assert "size" not in after["spec"]
    (entry,) = [each for each in after["metadata"]["managedFields"] if each["operation"] == "Apply"]
    assert (entry["manager"], entry["apiVersion"]) == ("me", "shop.example.com/v2")


async def test_a_list_that_becomes_atomic_is_owned_as_a_whole(api: Api) -> None:
    await define(api, definition())
    await apply(api, gadget(spec={"tags": ["a"]}))
    atomic = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "atomic"}
    changed = version(spec={**SPEC, "properties": {**SPEC["properties"], "tags": atomic}})
    change = {"spec": {"versions": [changed]}}
    await api.ok("PATCH", f"{DEFINITIONS}/gadgets.shop.example.com", change, content_type=MERGE)
    await heard(api)
    _, after = await apply(api, gadget(spec={"size": 1}), "other")
    assert fields(after, "me") == {"f:spec": {"f:tags": {}}}
    code, _ = await apply(api, gadget(spec={"tags": ["b"]}), "other")
    assert code == 409


async def test_true_is_not_one(api: Api) -> None:
    await define(api, definition())
    made = await api.ok("POST", f"{GADGETS}?fieldManager=one", gadget(spec={"free": {"a": 1}}))
    change = {"spec": {"free": {"a": True}}}
    after = await api.ok("PATCH", f"{GADGETS}/a?fieldManager=two", change, content_type=MERGE)
    assert after["spec"]["free"]["a"] is True
    assert after["metadata"]["resourceVersion"] != made["metadata"]["resourceVersion"]
    assert fields(after, "two") == {"f:spec": {"f:free": {"f:a": {}}}}


@pytest.mark.parametrize("depth", [100, 200, 300, 1_000, 9_000, 30_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ("[", "]")], ids=["maps", "lists"])
async def test_a_configuration_without_end_is_refused(api: Api, depth: int, opening: str, closing: str) -> None:
    """It is stored and can be read and changed, or it is the client's mistake; it is never the server's."""
    await define(api, definition())
    inner = opening * depth + "1" + closing * depth
    body = orjson.dumps(gadget(spec={"free": {"x": "?"}})).replace(b'"?"', inner.encode())
    response = await api.send("PATCH", f"{GADGETS}/a?fieldManager=me", body, content_type=APPLY)
    assert response.status == (201 if depth < 150 else 400)
    later = await api.send("PATCH", f"{GADGETS}/a", {"metadata": {"labels": {"a": "b"}}}, content_type=MERGE)
    assert later.status == (200 if depth < 150 else 404)


async def test_items_that_cannot_be_told_apart_are_named(api: Api) -> None:
    pairs = {
        "type": "array",
        "x-kubernetes-list-type": "set",
        "items": {"type": "object", "x-kubernetes-map-type": "atomic"},
    }
    spec = {"type": "object", "properties": {"pairs": pairs, "size": {"type": "integer"}}}
    await define(api, definition(version(spec=spec)))
    await api.ok("POST", GADGETS, gadget(spec={"pairs": [{}]}))
    code, refused = await apply(api, gadget(spec={"size": 1}))
    assert (code, refused["message"]) == (
        500,
        "failed to create typed live object (/a; shop.example.com/v1, Kind=Gadget):"
        " associative list without keys has an element that's a map type",
    )
