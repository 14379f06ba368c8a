"""Pages of a list as bytes: whole and made of parts, they say the same."""

from __future__ import annotations

import pytest

from tests.apiserver.asking import Api, Json

MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
FLOW_SCHEMAS = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"


async def make(api: Api, count: int) -> list[str]:
    names = [f"m{number:02}" for number in range(count)]
    for name in names:
        await api.ok("POST", MAPS, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
    return names


# Ten objects are decoded at a time.
@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 35])
async def test_every_object_is_in_every_form_once_and_in_order(api: Api, count: int) -> None:
    names = await make(api, count)
    whole = await api.ok("GET", MAPS)
    table = await api.ok("GET", MAPS, accept=TABLE)
    metadata = await api.ok("GET", MAPS, accept=METADATA)
    assert [item["metadata"]["name"] for item in whole["items"]] == names
    assert [row["cells"][0] for row in table["rows"]] == names
    assert [row["object"]["metadata"] for row in table["rows"]] == [item["metadata"] for item in whole["items"]]
    assert [item["metadata"] for item in metadata["items"] or ()] == [item["metadata"] for item in whole["items"]]
    assert table["metadata"] == metadata["metadata"] == whole["metadata"]


def storage_class(name: str, *, is_default: bool) -> Json:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if is_default else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": "example.com/disks",
    }


async def test_one_default_class_among_many_is_marked(api: Api) -> None:
    for number in range(12):
        await api.ok("POST", STORAGE_CLASSES, storage_class(f"c{number:02}", is_default=number in (1, 11)))
    table = await api.ok("GET", STORAGE_CLASSES, accept=TABLE)
    assert sum("(default)" in row["cells"][0] for row in table["rows"]) == 1


async def test_flow_schemas_are_in_order_of_precedence_however_many(api: Api) -> None:
    for number in range(12):
        schema = {
            "apiVersion": "flowcontrol.apiserver.k8s.io/v1",
            "kind": "FlowSchema",
            "metadata": {"name": f"s{number:02}"},
            "spec": {
                "matchingPrecedence": 9000 - number,
                "priorityLevelConfiguration": {"name": "global-default"},
            },
        }
        await api.ok("POST", FLOW_SCHEMAS, schema)
    table = await api.ok("GET", FLOW_SCHEMAS, accept=TABLE)
    wanted = [f"s{number:02}" for number in reversed(range(12))]
    assert [row["cells"][0] for row in table["rows"] if row["cells"][0] in wanted] == wanted
