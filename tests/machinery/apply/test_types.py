"""What apply knows about kinds: from the facts about built-in ones, and from the schemas of custom ones."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.apply import Type, of_schema, of_shape
from hardpoint.machinery.apply.types import DEDUCED
from hardpoint.machinery.shapes import shape
from tests.machinery.apply.kinds import POD, SERVICE, THING


def at(kind: Type, *path: str) -> Type:
    """The type at a path; `[]` steps into a list's items."""
    for name in path:
        if name == "[]":
            assert kind.list is not None
            kind = kind.list.element
        else:
            assert kind.map is not None
            kind = kind.map.child(name)
    return kind


@pytest.mark.parametrize(
    ("kind", "path", "keys"),
    [
        (POD, ("spec", "containers"), ("name",)),
        (POD, ("spec", "containers", "[]", "ports"), ("containerPort", "protocol")),
        (POD, ("spec", "containers", "[]", "volumeMounts"), ("mountPath",)),
        (POD, ("status", "conditions"), ("type",)),
        (POD, ("metadata", "ownerReferences"), ("uid",)),
        (SERVICE, ("spec", "ports"), ("port", "protocol")),
        (THING, ("spec", "parts"), ("kind", "name")),
    ],
)
def test_lists_with_keys(kind: Type, path: tuple[str, ...], keys: tuple[str, ...]) -> None:
    found = at(kind, *path).list
    assert found is not None
    assert not found.is_atomic
    assert found.keys == keys


@pytest.mark.parametrize(
    ("kind", "path"), [(POD, ("metadata", "finalizers")), (THING, ("spec", "tags")), (POD, ("metadata", "labels"))]
)
def test_sets_and_free_maps_are_owned_item_by_item(kind: Type, path: tuple[str, ...]) -> None:
    assert not at(kind, *path).is_leaf


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (POD, ("spec", "tolerations")),
        (POD, ("spec", "containers", "[]", "args")),
        (SERVICE, ("spec", "selector")),
        (POD, ("spec", "nodeSelector")),
        (THING, ("spec", "raw")),
        (THING, ("spec", "opts")),
        (POD, ("spec", "hostNetwork")),
    ],
)
def test_atomic_values_are_owned_as_a_whole(kind: Type, path: tuple[str, ...]) -> None:
    assert at(kind, *path).is_leaf


def test_a_key_has_the_default_of_its_field() -> None:
    ports, parts = at(SERVICE, "spec", "ports").list, at(THING, "spec", "parts").list
    assert ports is not None
    assert ports.key_defaults == {"port": 0, "protocol": "TCP"}
    assert parts is not None
    assert parts.key_defaults == {"kind": "std"}


def test_a_type_may_contain_itself() -> None:
    schemas = of_shape(shape("apiextensions.k8s.io/v1", "CustomResourceDefinition"))
    path = ("spec", "versions", "[]", "schema", "openAPIV3Schema", *("properties", "x") * 50)
    assert at(schemas, *path).map is not None


@pytest.mark.parametrize("path", [("spec", "pod"), ()])
def test_resources_have_metadata_whatever_their_schema_says(path: tuple[str, ...]) -> None:
    assert at(THING, *path, "metadata", "finalizers").list is not None
    assert at(THING, *path, "kind").scalar == "string"


@pytest.mark.parametrize(
    ("schema", "is_open"),
    [
        ({"type": "object"}, True),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, False),
        ({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": True}, True),
        ({"type": "object", "additionalProperties": False}, False),
        ({"type": "object", "properties": {"a": {}}, "x-kubernetes-preserve-unknown-fields": True}, True),
    ],
)
def test_which_objects_take_unknown_fields(schema: Any, is_open: bool) -> None:
    kind = at(of_schema({"type": "object", "properties": {"spec": schema}}), "spec")
    assert kind.map is not None
    assert (kind.map.element is DEDUCED) is is_open


def test_what_preserves_unknown_fields_preserves_them_below_too() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}}}
    kind = at(of_schema({"type": "object", "properties": {"spec": inner}}, preserves_unknown=True), "spec", "a")
    assert kind.map is not None
    assert kind.map.element is DEDUCED


def test_without_a_schema_a_kind_is_what_its_values_show() -> None:
    assert of_schema(None) is DEDUCED
    assert of_schema({}) is DEDUCED
