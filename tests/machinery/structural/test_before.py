"""What counts as unchanged: fields by name, items by key, and only what the schema describes."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.structural.before import Before

Json = dict[str, Any]

STRING: Json = {"type": "string"}
ITEM: Json = {"type": "object", "properties": {"k": STRING, "v": {"type": "integer"}}}
KEYED: Json = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": ITEM}
A, B = {"k": "a", "v": 1}, {"k": "b", "v": 2}


@pytest.mark.parametrize(
    ("schema", "old", "new", "is_unchanged"),
    [
        pytest.param(STRING, "a", "a", True, id="a scalar"),
        pytest.param(STRING, "a", "b", False, id="another scalar"),
        pytest.param(STRING, 1, True, False, id="true is not 1"),
        pytest.param(STRING, None, None, True, id="null stays null"),
        pytest.param(KEYED, [A, B], [B, A], True, id="the order of a list-map"),
        pytest.param(KEYED, [A], [A, B], False, id="one item more"),
        pytest.param(KEYED, [A, B], [A, {"k": "b", "v": 3}], False, id="another item"),
        pytest.param(KEYED, [{"v": 1}], [{"v": 1}], False, id="items without keys cannot be told"),
        pytest.param({"type": "array", "items": STRING}, ["a", "b"], ["b", "a"], False, id="the order of a list"),
        pytest.param(ITEM, A, {"v": 1, "k": "a"}, True, id="the order of fields"),
        pytest.param(ITEM, A | {"zz": 1}, A | {"zz": 1}, False, id="what the schema does not have"),
        pytest.param({"additionalProperties": STRING}, {"x": "a"}, {"x": "a"}, True, id="a map"),
        pytest.param(ITEM, [A], A, False, id="another kind of value"),
    ],
)
def test_unchanged(schema: Json, old: Any, new: Any, is_unchanged: bool) -> None:
    assert Before(new, old, schema).is_unchanged() is is_unchanged


def test_parts_are_followed() -> None:
    before = Before({"l": [B, A], "new": "x"}, {"l": [A, B]}, {"properties": {"l": KEYED, "new": STRING}})
    items = before.field("l")
    assert items is not None
    first = items.item(0)
    assert first is not None
    assert first.old is B
    assert before.field("new") is None, "there was none"
    assert before.field("l") is items, "what was found out is kept"


def test_the_first_of_several_items_with_one_key_counts() -> None:
    before = Before([A], [A, {"k": "a", "v": 9}], KEYED).item(0)
    assert before is not None
    assert before.old is A
