from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hardpoint.machinery.kinds import Kind, builtin, by_kind
from hardpoint.machinery.printers.descriptions import DESCRIPTIONS
from hardpoint.machinery.tables import custom_table, table

NOW = datetime(2026, 1, 10, 12, 0, 0, tzinfo=UTC)
CREATED = "2026-01-10T11:00:00Z"
REFERENCE = Path(os.environ.get("HARDPOINT_REFERENCE", Path(__file__).parents[3] / "shared/reference"))
WIDGET = Kind("example.com", "v1", "Widget", "widgets", "widget", True, ())


def kind(api_version: str, name: str) -> Kind:
    found = by_kind(api_version, name)
    assert found is not None
    return found


def named(name: str, created: str = CREATED, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "creationTimestamp": created, **more.pop("metadata", {})}, **more}


def names(made: dict[str, Any]) -> list[str]:
    return [row["cells"][0] for row in made["rows"]]


def test_a_table() -> None:
    obj = named("a", data={"k": "v"})
    made = table(kind("v1", "ConfigMap"), [obj], now=NOW, list_meta={"resourceVersion": "7"})
    assert made["kind"] == "Table"
    assert made["apiVersion"] == "meta.k8s.io/v1"
    assert made["metadata"] == {"resourceVersion": "7"}
    assert [(each["name"], each["type"], each["format"], each["priority"]) for each in made["columnDefinitions"]] == [
        ("Name", "string", "name", 0),
        ("Data", "string", "", 0),
        ("Age", "string", "", 0),
    ]
    partial = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}
    assert made["rows"] == [{"cells": ["a", 1, "60m"], "object": partial}]


def test_rows_may_carry_the_object_or_nothing() -> None:
    obj = named("a")
    assert table(kind("v1", "ConfigMap"), [obj], now=NOW, include_object="Object")["rows"][0]["object"] is obj
    assert table(kind("v1", "ConfigMap"), [obj], now=NOW, include_object="None")["rows"][0]["object"] is None


def test_an_empty_list_has_columns_and_no_rows() -> None:
    made = table(kind("v1", "Pod"), [], now=NOW)
    assert made["rows"] == []
    assert len(made["columnDefinitions"]) == 9


@pytest.mark.parametrize(
    ("phase", "reason"), [("Succeeded", "Succeeded"), ("Failed", "Failed"), ("Running", None), (None, None)]
)
def test_rows_of_finished_pods_say_so(phase: str | None, reason: str | None) -> None:
    made = table(kind("v1", "Pod"), [named("a", status={"phase": phase})], now=NOW)
    conditions = made["rows"][0].get("conditions")
    assert (conditions and conditions[0]["reason"]) == reason


@pytest.mark.parametrize(
    ("created", "shown"),
    [
        pytest.param({"a": CREATED}, ["a (default)"], id="one default"),
        pytest.param({"a": CREATED, "b": "2026-01-10T11:30:00Z"}, ["a", "b (default)"], id="the youngest counts"),
        pytest.param({"b": CREATED, "a": CREATED}, ["b", "a (default)"], id="of twins the first by name"),
    ],
)
def test_the_default_storage_class_is_marked(created: dict[str, str], shown: list[str]) -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    objects = [named(name, time, metadata={"annotations": annotations}) for name, time in created.items()]
    storage_class = kind("storage.k8s.io/v1", "StorageClass")
    assert names(table(storage_class, objects, now=NOW)) == shown
    assert names(table(storage_class, objects[:1], now=NOW, single=True)) == list(created)[:1]


def test_flow_schemas_stand_in_the_order_they_are_tried() -> None:
    objects = [named(name, spec={"matchingPrecedence": place}) for name, place in (("c", 5), ("b", 1), ("a", 5))]
    assert names(table(kind("flowcontrol.apiserver.k8s.io/v1", "FlowSchema"), objects, now=NOW)) == ["b", "a", "c"]


def test_ages_that_cannot_be_told() -> None:
    made = table(
        kind("v1", "ServiceAccount"),
        [named("a", ""), named("b", "0001-01-01T00:00:00Z"), named("c", "2027-01-01T00:00:00Z")],
        now=NOW,
    )
    assert [row["cells"][1] for row in made["rows"]] == ["<unknown>", "<unknown>", "<invalid>"]


def test_every_column_is_described() -> None:
    for described in builtin():
        for column in table(described, [], now=NOW)["columnDefinitions"]:
            assert column["description"] == DESCRIPTIONS[column["name"]]


def test_columns_are_those_of_the_real_server() -> None:
    recorded = REFERENCE / "table-columns.json"
    if not recorded.exists():
        pytest.skip(f"no recorded server at {REFERENCE}")
    for place, columns in json.loads(recorded.read_text()).items():
        api_version, _, plural = place.rpartition("/")
        described = next(each for each in builtin() if (each.api_version, each.plural) == (api_version, plural))
        made = table(described, [], now=NOW)["columnDefinitions"]
        assert [[each["name"], each["type"], each["format"], each["priority"]] for each in made] == columns


def test_custom_resources_have_a_name_and_an_age() -> None:
    made = table(WIDGET, [named("a")], now=NOW)
    assert [each["name"] for each in made["columnDefinitions"]] == ["Name", "Age"]
    assert made["rows"][0]["cells"] == ["a", "60m"]


def column(name: str, type_: str, path: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type_, "jsonPath": path, **more}


@pytest.mark.parametrize(
    ("type_", "value", "cell"),
    [
        ("string", "red", "red"),
        ("string", 3, "3"),
        ("string", True, "true"),
        ("string", None, "null"),
        ("string", {"b": 2, "a": [1]}, '{"a":[1],"b":2}'),
        ("integer", 3, 3),
        ("integer", 3.9, 3),
        ("integer", "3", None),
        ("integer", True, None),
        ("number", 1.5, 1.5),
        ("number", "x", None),
        ("boolean", False, False),
        ("boolean", "no", None),
        ("date", CREATED, "60m"),
        ("date", "soon", "<invalid>"),
        ("date", "", "<unknown>"),
        ("date", 3, None),
        ("other", 3, None),
    ],
)
def test_custom_cells(type_: str, value: Any, cell: Any) -> None:
    made = custom_table([column("X", type_, ".spec.x")], [named("a", spec={"x": value})], now=NOW)
    assert made["rows"][0]["cells"] == ["a", cell]


@pytest.mark.parametrize("path", [".spec.x", ".spec[", "{.spec}"])
def test_a_custom_cell_without_a_value_is_null(path: str) -> None:
    made = custom_table([column("X", "string", path)], [named("a")], now=NOW)
    assert made["rows"][0]["cells"] == ["a", None]


def test_a_custom_cell_may_be_deep() -> None:
    deep: Any = 1
    for _ in range(3000):
        deep = [deep]
    made = custom_table([column("X", "string", ".spec")], [named("a", spec=deep)], now=NOW)
    assert made["rows"][0]["cells"][1] == "[" * 3000 + "1" + "]" * 3000


def test_custom_columns_are_told_as_they_are_defined() -> None:
    columns = [
        column("X", "integer", ".spec.x", priority=1, format="int32", description="How many."),
        column("Y", "string", ".y"),
    ]
    made = custom_table(columns, [], now=NOW)["columnDefinitions"]
    assert made[1:] == [
        {"name": "X", "type": "integer", "format": "int32", "description": "How many.", "priority": 1},
        {
            "name": "Y",
            "type": "string",
            "format": "",
            "description": "Custom resource definition column (in JSONPath format): .y",
            "priority": 0,
        },
    ]
