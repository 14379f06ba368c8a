"""Paths and operations: what kubectl and generated clients look for in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver import patchtypes
from hardpoint.apiserver.openapi.documents import document
from hardpoint.apiserver.openapi.swagger import swagger
from tests.apiserver.openapi.crontab import CRONTAB, CRONTAB_SCHEMA

Json = dict[str, Any]


def test_a_kind_is_served_on_all_its_paths(documents: dict[str, Json]) -> None:
    paths = documents["api/v1"]["paths"]
    served = {path: sorted(item.keys() - {"parameters"}) for path, item in paths.items() if "configmaps" in path}
    assert served == {
        "/api/v1/configmaps": ["get"],
        "/api/v1/namespaces/{namespace}/configmaps": ["delete", "get", "post"],
        "/api/v1/namespaces/{namespace}/configmaps/{name}": ["delete", "get", "patch", "put"],
        "/api/v1/watch/configmaps": ["get"],
        "/api/v1/watch/namespaces/{namespace}/configmaps": ["get"],
        "/api/v1/watch/namespaces/{namespace}/configmaps/{name}": ["get"],
    }


@pytest.mark.parametrize(
    ("path", "method", "identity", "action"),
    [
        ("/api/v1/namespaces/{namespace}/pods", "get", "listCoreV1NamespacedPod", "list"),
        ("/api/v1/namespaces/{namespace}/pods", "post", "createCoreV1NamespacedPod", "post"),
        (
            "/api/v1/namespaces/{namespace}/pods",
            "delete",
            "deleteCoreV1CollectionNamespacedPod",
            "deletecollection",
        ),
        ("/api/v1/namespaces/{namespace}/pods/{name}", "get", "readCoreV1NamespacedPod", "get"),
        ("/api/v1/namespaces/{namespace}/pods/{name}", "put", "replaceCoreV1NamespacedPod", "put"),
        ("/api/v1/namespaces/{namespace}/pods/{name}/status", "patch", "patchCoreV1NamespacedPodStatus", "patch"),
        ("/api/v1/namespaces/{namespace}/pods/{name}/exec", "get", "connectCoreV1GetNamespacedPodExec", "connect"),
        (
            "/api/v1/namespaces/{namespace}/pods/{name}/proxy/{path}",
            *("post", "connectCoreV1PostNamespacedPodProxyWithPath", "connect"),
        ),
        ("/api/v1/pods", "get", "listCoreV1PodForAllNamespaces", "list"),
        ("/api/v1/watch/pods", "get", "watchCoreV1PodListForAllNamespaces", "watchlist"),
        ("/api/v1/watch/namespaces/{namespace}/pods", "get", "watchCoreV1NamespacedPodList", "watchlist"),
        ("/api/v1/nodes/{name}", "delete", "deleteCoreV1Node", "delete"),
    ],
)
def test_operations_have_upstreams_names(
    documents: dict[str, Json], path: str, method: str, identity: str, action: str
) -> None:
    operation = documents["api/v1"]["paths"][path][method]
    assert (operation["operationId"], operation["x-kubernetes-action"]) == (identity, action)


def test_no_two_operations_share_a_name(documents: dict[str, Json]) -> None:
    names = [operation["operationId"] for one in documents.values() for _, _, operation in _operations(one)]
    assert len(names) == len(set(names)) > 800


def test_every_reference_leads_somewhere(documents: dict[str, Json]) -> None:
    for path, one in documents.items():
        missing = _references(one) - {f"#/components/schemas/{name}" for name in one["components"]["schemas"]}
        assert not missing, path
    old = swagger(documents.values())
    assert _references(old) == {f"#/definitions/{name}" for name in old["definitions"]} & _references(old)


def test_every_parameter_of_a_path_is_declared(documents: dict[str, Json]) -> None:
    for one in documents.values():
        for path, item in one["paths"].items():
            for _, _, operation in _operations({"paths": {path: item}}):
                listed = [*item.get("parameters", ()), *operation.get("parameters", ())]
                in_path = {parameter["name"] for parameter in listed if parameter["in"] == "path"}
                assert in_path == set(re.findall(r"{(\w+)}", path)), path


def test_kubectl_learns_that_the_server_validates(documents: dict[str, Json]) -> None:
    """kubectl looks for fieldValidation among the parameters of the kind's PATCH, on the operation itself."""
    for one in documents.values():
        for path, method, operation in _operations(one):
            if method == "patch" and operation["x-kubernetes-action"] == "patch":
                names = {parameter["name"] for parameter in operation["parameters"]}
                assert {"fieldValidation", "fieldManager", "dryRun", "force"} <= names, path


def test_built_in_kinds_take_strategic_merge_and_custom_ones_do_not(documents: dict[str, Json]) -> None:
    path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
    built_in = documents["apis/apps/v1"]["paths"][path]["patch"]
    assert built_in["x-kubernetes-group-version-kind"] == {"group": "apps", "kind": "Deployment", "version": "v1"}
    assert set(built_in["requestBody"]["content"]) == set(patchtypes.ALL)
    made = document("stable.example.com", "v1", [CRONTAB], {"crontabs": CRONTAB_SCHEMA})
    custom = made["paths"]["/apis/stable.example.com/v1/namespaces/{namespace}/crontabs/{name}"]["patch"]
    assert set(custom["requestBody"]["content"]) == set(patchtypes.OF_CUSTOM_KINDS)


@pytest.fixture(scope="module")
def generated() -> dict[tuple[str, str], tuple[str, set[str]]]:
    """What the official Python client, generated from v1.37, calls: path and method to name and query parameters."""
    try:
        package = metadata.distribution("kubernetes")
    except metadata.PackageNotFoundError:
        pytest.skip("the package kubernetes is not installed")
    if not package.version.startswith("37."):
        pytest.skip(f"the package kubernetes is of version {package.version}, not 37")
    found = {}
    for path in Path(str(package.locate_file("kubernetes/client/api"))).glob("*_v[0-9]*_api.py"):
        for name, call in re.findall(
            r"    def _(\w+)_serialize\((.*?)\n            path_params", path.read_text(), re.S
        ):
            (target,) = re.findall(r"method='(\w+)',\s+resource_path='([^']+)'", call)
            found[target[1], target[0].lower()] = (name, set(re.findall(r"_query_params\.append\(\('(\w+)'", call)))
    return found


def test_operations_are_those_the_official_client_was_generated_from(
    documents: dict[str, Json], generated: dict[tuple[str, str], tuple[str, set[str]]]
) -> None:
    for base, one in documents.items():
        ours = {(path, method): operation for path, method, operation in _operations(one) if "/watch/" not in path}
        assert ours.keys() == {target for target in generated if target[0].startswith(f"/{base}/")}
        for (path, method), operation in ours.items():
            name, query = generated[path, method]
            listed = [*one["paths"][path].get("parameters", ()), *operation.get("parameters", ())]
            # Sharded lists are the one parameter of v1.37 that is not served.
            assert {each["name"] for each in listed if each["in"] == "query"} == query - {"shardSelector"}, path
            spoken = re.sub(r"^([a-z]+)[A-Z]\w*?V\d", r"\1", operation["operationId"], count=1)
            assert spoken.lower() == name.replace("_", ""), path


def test_a_custom_kind_has_the_schema_it_was_declared_with() -> None:
    made = document("stable.example.com", "v1", [CRONTAB], {"crontabs": CRONTAB_SCHEMA})
    schemas = made["components"]["schemas"]
    schema = schemas["com.example.stable.v1.CronTab"]
    assert schema["description"] == "Something to do at times."
    assert schema["properties"].keys() == {"apiVersion", "kind", "metadata", "spec"}
    assert schema["x-kubernetes-group-version-kind"] == [
        {"group": "stable.example.com", "kind": "CronTab", "version": "v1"}
    ]
    assert "com.example.stable.v1.CronTabList" in schemas
    assert not _references(made) - {f"#/components/schemas/{name}" for name in schemas}


def _nested(depth: int) -> Json:
    schema: Json = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"deeper": schema}}
    return schema


@pytest.mark.parametrize("declared", [None, {}, _nested(1000)], ids=["none", "empty", "too deep"])
def test_without_a_usable_schema_anything_goes(declared: Json | None) -> None:
    made = document("stable.example.com", "v1", [CRONTAB], {"crontabs": declared})
    schema = made["components"]["schemas"]["com.example.stable.v1.CronTab"]
    assert schema["x-kubernetes-preserve-unknown-fields"] is True


def test_references_in_examples_lead_nowhere() -> None:
    schema = {**CRONTAB_SCHEMA, "default": {"$ref": "#/components/schemas/moon"}}
    made = document("stable.example.com", "v1", [CRONTAB], {"crontabs": schema})
    assert "moon" not in made["components"]["schemas"]


def _operations(one: Json) -> Iterator[tuple[str, str, Json]]:
    for path, item in one["paths"].items():
        for method, operation in item.items():
            if method != "parameters":
                yield path, method, operation


def _references(part: Any) -> set[str]:
    return set(re.findall(r'"\$ref":"([^"]+)"', orjson.dumps(part).decode()))
