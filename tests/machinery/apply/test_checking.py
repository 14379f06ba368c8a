"""Configurations that do not fit their kind, and the words for it."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.apply import of_schema
from hardpoint.machinery.apply.checking import Unfit, check
from tests.machinery.apply.kinds import THING, thing

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"foo": 1}, ".spec.foo: field not declared in schema"),
        ({"size": "x"}, ".spec.size: expected numeric (int or float), got string"),
        ({"size": True}, ".spec.size: expected numeric (int or float), got bool"),
        ({"size": [1]}, ".spec.size: expected numeric (int or float), got []interface {}"),
        ({"mode": 3}, ".spec.mode: expected string, got &value.valueUnstructured{Value:3}"),
        (
            {"mode": {"a": ["b", None]}},
            ".spec.mode: expected string, got &value.valueUnstructured"
            '{Value:map[string]interface {}{"a":[]interface {}{"b", interface {}(nil)}}}',
        ),
        (5, ".spec: expected map, got &{5}"),
        (["x", 1, True, None, {"a": 1.5}], ".spec: expected map, got &{[x 1 true <nil> map[a:1.5]]}"),
        ({"raw": {"a": 1}}, ".spec.raw: expected list, got &{map[a:1]}"),
        ({"raw": [1, "x"]}, ".spec.raw[1]: expected numeric (int or float), got string"),
        ({"tags": ["a", "a"]}, '.spec.tags: duplicate entries for key [="a"]'),
        (
            {"tags": [None]},
            ".spec.tags: element 0: associative list without keys has an element that's an explicit null",
        ),
        ({"tags": [{}]}, ".spec.tags: element 0: associative list without keys has an element that's a map type"),
        ({"tags": [[]]}, ".spec.tags: element 0: not supported: associative list with lists as elements"),
        ({"parts": [None]}, ".spec.parts: element 0: associative list with keys may not have a null element"),
        ({"parts": ["x"]}, ".spec.parts: element 0: associative list with keys may not have non-map elements"),
        (
            {"parts": [{"name": "x"}, {"name": "x", "kind": "std"}]},
            '.spec.parts: duplicate entries for key [kind="std",name="x"]',
        ),
        (
            {"parts": [{"name": "x", "foo": 1}]},
            '.spec.parts[kind="std",name="x"].foo: field not declared in schema',
        ),
        (
            {"size": "x", "mode": 3},
            "errors:\n  .spec.mode: expected string, got &value.valueUnstructured{Value:3}"
            "\n  .spec.size: expected numeric (int or float), got string",
        ),
    ],
)
def test_what_does_not_fit(spec: Any, why: str) -> None:
    with pytest.raises(Unfit) as refused:
        check(THING, thing(spec))
    assert str(refused.value) == why


def test_keys_that_all_are_missing() -> None:
    items = {"type": "object", "properties": {"id": {"type": "string"}}}
    keyed = {"type": "array", "items": items, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"]}
    kind = of_schema({"type": "object", "properties": {"list": keyed}})
    with pytest.raises(Unfit, match=r'omits all key fields \["id"\] \(and doesn.t have default values'):
        check(kind, {"list": [{}]})


@pytest.mark.parametrize(
    "spec",
    [
        {"size": None, "mode": None, "tags": None, "more": None},
        {"either": 1},
        {"either": "1"},
        {"free": {"a": [1, "x", None, {"b": []}]}},
        {"parts": [{"name": "x"}, {"name": "x", "kind": "other"}, {}]},
        {"pod": {"metadata": {"labels": {"a": "b"}}, "anything": 1}},
    ],
)
def test_what_fits(spec: Json) -> None:
    check(THING, thing(spec))
