"""Server-side apply over HTTP: what it makes, what it refuses, in which words, and what it writes."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api

Json = dict[str, Any]

MAPS = "/api/v1/namespaces/default/configmaps"
WORKLOADS = "/apis/apps/v1/namespaces/default/deployments"

pytestmark = pytest.mark.parametrize("api", ["memory"], indirect=True)


def config_map(data: Json | None = None, name: str = "c", **metadata: Any) -> Json:
    obj: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}}
    return obj if data is None else {**obj, "data": data}


def deployment(**spec: Any) -> Json:
    whole: Json = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {**whole, **spec}}


async def apply(api: Api, url: str, body: Any, query: str = "fieldManager=me") -> tuple[int, Json]:
    return await api.ask("PATCH", f"{url}?{query}", body, content_type="application/apply-patch+yaml")


async def test_apply_creates_what_is_not_there(api: Api) -> None:
    code, made = await apply(api, f"{MAPS}/c", config_map({"a": "1"}))
    assert code == 201
    assert made["data"] == {"a": "1"}
    (entry,) = made["metadata"]["managedFields"]
    assert {name: entry[name] for name in ("manager", "operation", "apiVersion", "fieldsV1")} == {
        "manager": "me",
        "operation": "Apply",
        "apiVersion": "v1",
        "fieldsV1": {"f:data": {"f:a": {}}},
    }


async def test_apply_takes_away_what_it_no_longer_says(api: Api) -> None:
    await apply(api, f"{MAPS}/c", config_map({"a": "1", "b": "1"}))
    await api.ok("PATCH", f"{MAPS}/c", {"data": {"c": "1"}}, content_type="application/merge-patch+json")
    code, left = await apply(api, f"{MAPS}/c", config_map({"b": "2"}))
    assert (code, left["data"]) == (200, {"b": "2", "c": "1"})


async def test_a_yaml_body_is_as_good_as_json(api: Api) -> None:
    code, made = await apply(
        api, f"{MAPS}/c", b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: '1'}\n"
    )
    assert (code, made["data"]) == (201, {"a": "1"})


async def test_applying_the_same_again_writes_nothing(api: Api) -> None:
    """Fifty fields, and not one revision."""
    data = {f"key-{number}": str(number) for number in range(50)}
    _, made = await apply(api, f"{MAPS}/c", config_map(data))
    code, again = await apply(api, f"{MAPS}/c", config_map(data))
    assert (code, again) == (200, made)


async def test_a_conflict_is_told_with_who_and_where(api: Api) -> None:
    await api.ok("POST", f"{MAPS}?fieldManager=creator", config_map({"a": "1"}))
    code, refused = await apply(api, f"{MAPS}/c", config_map({"a": "2"}))
    assert code == 409
    assert refused["message"] == 'Apply failed with 1 conflict: conflict with "creator" using v1: .data.a'
    cause = {"reason": "FieldManagerConflict", "message": 'conflict with "creator" using v1', "field": ".data.a"}
    assert refused["details"] == {"causes": [cause]}
    code, taken = await apply(api, f"{MAPS}/c", config_map({"a": "2"}), "fieldManager=me&force=true")
    assert (code, taken["data"]) == (200, {"a": "2"})


async def test_a_dry_run_leaves_nothing(api: Api) -> None:
    code, made = await apply(api, f"{MAPS}/c", config_map({"a": "1"}), "fieldManager=me&dryRun=All")
    assert (code, made["metadata"]["managedFields"][0]["manager"]) == (201, "me")
    assert (await api.ask("GET", f"{MAPS}/c"))[0] == 404


@pytest.mark.parametrize(
    ("query", "code", "why"),
    [
        ("", 422, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'),
        ("fieldManager=" + "x" * 129, 422, "fieldManager: Too long: may not be more than 128 bytes"),
        ("fieldManager=m%01", 422, "fieldManager: Invalid value"),
        ("fieldManager=m&dryRun=Some", 422, "dryRun: Unsupported value"),
    ],
)
async def test_options_that_are_refused(api: Api, query: str, code: int, why: str) -> None:
    answered, refused = await apply(api, f"{MAPS}/c", config_map({"a": "1"}), query)
    assert answered == code
    assert why in refused["message"]


_UNTYPED = "failed to create typed patch object (/d; apps/v1, Kind=Deployment): "
_UNCONVERTED = (
    "failed to convert new object (/d; apps/v1, Kind=Deployment) to proper version: "
    "unable to convert unstructured object to apps/v1, Kind=Deployment: "
)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (deployment(foo=1), 500, _UNTYPED + ".spec.foo: field not declared in schema"),
        (deployment(replicas="x"), 500, _UNTYPED + ".spec.replicas: expected numeric (int or float), got string"),
        (deployment(replicas=1.5), 500, _UNCONVERTED + "cannot convert float64 to int32"),
        (
            deployment(strategy={"rollingUpdate": {"maxSurge": True}}),
            500,
            _UNCONVERTED + "json: cannot unmarshal bool into Go value of type int32",
        ),
        ({**deployment(), "kind": "ReplicaSet"}, 400, "invalid object type: apps/v1, Kind=ReplicaSet"),
        ({"metadata": {"name": "d"}}, 400, "invalid object type: /, Kind="),
        (b"# nothing", 400, "invalid object type: /, Kind="),
        ({**deployment(), "metadata": {"name": "d", "managedFields": []}}, 400, "metadata.managedFields must be nil"),
        (
            {**deployment(), "metadata": {"name": "e"}},
            400,
            "the name of the object (e) does not match the name on the URL (d)",
        ),
        (
            {**deployment(), "metadata": {"name": "d", "namespace": "x"}},
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            {**deployment(), "metadata": {"name": "d", "uid": "abc"}},
            409,
            'Operation cannot be fulfilled on deployments.apps "d": uid mismatch: '
            "the provided object specified uid abc, and no existing object was found",
        ),
        (
            [1],
            400,
            "error decoding patch: error unmarshaling JSON: while decoding JSON: "
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (b"a: b: c", 400, "error encoding patch: yaml: mapping values are not allowed in this context"),
    ],
)
async def test_configurations_that_are_refused(api: Api, body: Any, code: int, message: str) -> None:
    answered, refused = await apply(api, f"{WORKLOADS}/d", body)
    assert (answered, refused["message"]) == (code, message)


async def test_another_uid_or_version_is_refused(api: Api) -> None:
    await apply(api, f"{MAPS}/c", config_map({"a": "1"}))
    code, refused = await apply(api, f"{MAPS}/c", config_map({"a": "2"}, uid="abc"))
    assert (code, refused["message"]) == (
        422,
        'ConfigMap "c" is invalid: metadata.uid: Invalid value: "abc": field is immutable',
    )
    code, refused = await apply(api, f"{MAPS}/c", config_map({"a": "2"}, resourceVersion="1"))
    assert (code, refused["reason"]) == (409, "Conflict")


_TWICE = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  a: '1'\n  a: '2'\n"


@pytest.mark.parametrize(
    ("validation", "code", "warning"),
    [
        ("Ignore", 201, ""),
        ("Warn", 201, '299 - "line 6: key \\"a\\" already set in map"'),
        ("Strict", 400, ""),
    ],
)
async def test_what_is_said_twice(api: Api, validation: str, code: int, warning: str) -> None:
    url = f"{MAPS}/c?fieldManager=me&fieldValidation={validation}"
    response = await api.send("PATCH", url, _TWICE, content_type="application/apply-patch+yaml")
    assert response.status == code
    assert dict(response.headers).get("Warning", "") == warning


async def test_status_is_applied_by_itself(api: Api) -> None:
    await apply(api, f"{WORKLOADS}/d", deployment())
    config = {**deployment(replicas=7), "status": {"replicas": 3}}
    code, after = await apply(api, f"{WORKLOADS}/d/status", config, "fieldManager=controller")
    assert (code, after["status"]["replicas"], after["spec"]["replicas"]) == (200, 3, 1)
    entry = next(each for each in after["metadata"]["managedFields"] if each["manager"] == "controller")
    assert (entry["subresource"], entry["fieldsV1"]) == ("status", {"f:status": {"f:replicas": {}}})


async def test_status_of_what_is_not_there_is_not_made(api: Api) -> None:
    assert (await apply(api, f"{WORKLOADS}/d/status", deployment()))[0] == 404


async def test_a_scale_is_applied(api: Api) -> None:
    await api.ok("POST", f"{WORKLOADS}?fieldManager=creator", deployment(replicas=1))
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": 4}}
    code, refused = await apply(api, f"{WORKLOADS}/d/scale", scale)
    assert (code, refused["message"]) == (
        409,
        'Apply failed with 1 conflict: conflict with "creator" using autoscaling/v1: .spec.replicas',
    )
    code, scaled = await apply(api, f"{WORKLOADS}/d/scale", scale, "fieldManager=me&force=true")
    assert (code, scaled["spec"]) == (200, {"replicas": 4})
    managers = (await api.ok("GET", f"{WORKLOADS}/d"))["metadata"]["managedFields"]
    mine = next(entry for entry in managers if entry["manager"] == "me")
    assert (mine["apiVersion"], mine["subresource"], mine["fieldsV1"]) == (
        "apps/v1",
        "scale",
        {"f:spec": {"f:replicas": {}}},
    )
    others = next(entry for entry in managers if entry["manager"] == "creator")
    assert "f:replicas" not in others["fieldsV1"]["f:spec"]


async def test_two_versions_of_a_kind_share_their_managers(api: Api) -> None:
    """What was managed in autoscaling/v1 is managed, under its other name, in v2."""
    home = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    obj = {
        "metadata": {"name": "h"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 3, "targetCPUUtilizationPercentage": 50},
    }
    await api.ok("POST", f"{home.format('v1')}?fieldManager=old", obj)
    config = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 9},
    }
    code, refused = await apply(api, f"{home.format('v2')}/h", config)
    assert (code, refused["message"]) == (
        409,
        'Apply failed with 1 conflict: conflict with "old" using autoscaling/v1: .spec.maxReplicas',
    )


async def test_who_may_patch_but_not_create_makes_nothing(api: Api) -> None:
    stranger = api.as_user(User("stranger"))
    code, refused = await apply(stranger, f"{MAPS}/c", config_map({"a": "1"}))
    assert (code, refused["reason"]) == (403, "Forbidden")
