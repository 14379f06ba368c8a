"""What rules know of a schema: types, and the sizes by which kube-apiserver decides what is cheap enough."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery import cel
from hardpoint.machinery.structural.declared import declare

Json = dict[str, Any]

REQUEST = 3 * 1024 * 1024
STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "least", "most"),
    [
        pytest.param(STRING, 2, REQUEST - 2, id="a text fills a request"),
        pytest.param(STRING | {"maxLength": 10}, 2, 40, id="a character has up to four bytes"),
        pytest.param(STRING | {"enum": ["a", "äöü"]}, 2, 6, id="the longest listed text"),
        pytest.param(STRING | {"format": "byte", "maxLength": 10}, 2, 10, id="bytes are counted as they are"),
        pytest.param(STRING | {"format": "date-time"}, 21, 32, id="a point in time"),
        pytest.param(STRING | {"format": "duration"}, 3, 32, id="a length of time"),
        pytest.param({"x-kubernetes-int-or-string": True}, 1, REQUEST - 2, id="either"),
        pytest.param(INTEGER, 1, 0, id="a number has no size"),
        pytest.param({"type": "array", "items": INTEGER}, 2, (REQUEST - 2) // 2, id="items and commas"),
        pytest.param({"type": "array", "items": INTEGER, "maxItems": 7}, 2, 7, id="so many items"),
        pytest.param({"type": "object", "additionalProperties": STRING}, 2, (REQUEST - 2) // 8, id="keys, too"),
        pytest.param(
            {"type": "object", "required": ["ab"], "properties": {"ab": INTEGER, "c": STRING}}, 9, 0, id='{"ab":0}'
        ),
        pytest.param(
            {"type": "object", "required": ["a"], "properties": {"a": INTEGER | {"default": 1}}}, 2, 0, id="defaults"
        ),
    ],
)
def test_sizes(schema: Json, least: int, most: int) -> None:
    found = declare(schema)
    assert found is not None
    assert (found.size_min, found.elements_max) == (least, most)


@pytest.mark.parametrize(
    "schema",
    [
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": True}},
        {"type": "object", "additionalProperties": {"x-kubernetes-preserve-unknown-fields": True}},
    ],
)
def test_what_has_no_type_cannot_be_seen(schema: Json) -> None:
    assert declare(schema) is None


def test_fields_have_the_names_that_rules_can_say() -> None:
    found = declare({"type": "object", "properties": {"a-b": STRING, "namespace": STRING, "1st": STRING}})
    assert found is not None
    known = dict(found.type("T").fields)
    assert sorted(known) == ["__namespace__", "a__dash__b", "namespace"]


def test_a_resource_has_a_name_of_limited_length() -> None:
    found = declare({"type": "object"}, is_resource=True)
    assert found is not None
    assert found.sizes(("self", "metadata", "name")) == cel.SizeRange(0, 253 * 4)
    assert found.sizes(("self", "metadata", "labels")) is None
    assert found.type("T").field("kind") == cel.STRING


def test_sizes_are_found_by_path() -> None:
    items = {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": STRING, "maxLength": 1}}}
    found = declare({"type": "array", "maxItems": 3, "items": items | {"x-kubernetes-map-type": "atomic"}})
    assert found is not None
    assert found.sizes(("self",)) == (0, 3)
    assert found.sizes(("self", "@items", "m", "@values")) == (0, REQUEST - 2)
    assert found.sizes(("self", "@items", "m", "@keys")) == (0, 0)
    assert found.sizes(("self", "@items", "zz")) is None
