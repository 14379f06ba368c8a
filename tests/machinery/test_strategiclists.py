from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.strategiclists import BadPatch, check_order, go_text, go_type, merge, ordered, without

scalars = st.lists(st.sampled_from("abc"), max_size=5)


def refuse(original: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    raise AssertionError("scalars are not merged one into the other")


def named(*names: str) -> list[dict[str, Any]]:
    return [{"name": name} for name in names]


@given(scalars, scalars)
def test_scalars_are_united_in_the_patchs_order(original: list[str], patch: list[str]) -> None:
    merged = merge(original, patch, "", refuse)
    assert sorted(merged) == sorted({*original, *patch})
    assert [value for value in merged if value in patch] == list(dict.fromkeys(patch))


@given(scalars, scalars)
def test_without_leaves_the_rest_as_it_was(values: list[str], removed: list[str]) -> None:
    assert without(values, removed) == [value for value in values if value not in removed]


def test_values_of_different_types_are_different_values() -> None:
    assert without([1, 2], [2]) == [1]
    with pytest.raises(BadPatch, match=r"list element types are not identical: \[\[1\] \[true\]\]"):
        without([1], [True])


@pytest.mark.parametrize(
    ("patch", "order", "fits"),
    [
        (named("a"), named("b", "a"), True),
        (named("a", "b"), named("b", "a"), False),
        (named("a"), named("b"), False),
        (named("a"), [], True),
        ([], named("a"), True),
        ([{"name": "z", "$patch": "delete"}, *named("a")], named("a"), True),
    ],
)
def test_a_patch_keeps_the_order_it_tells(patch: list[Any], order: list[Any], fits: bool) -> None:
    if fits:
        check_order(patch, order, "name")
    else:
        with pytest.raises(BadPatch, match="doesn't match"):
            check_order(patch, order, "name")


def test_a_new_element_takes_the_room_of_a_deleted_one() -> None:
    original = named("c", "d")
    patch = [{"name": "c", "$patch": "delete"}, {"name": "a"}]
    assert ordered(named("d", "a"), original, patch, named("c", "a"), "name") == named("d", "a")


@pytest.mark.parametrize(
    ("value", "text", "type_name"),
    [
        ({"b": 1, "a": [True, None]}, "map[a:[true <nil>] b:1]", "map[string]interface {}"),
        (["x", 1.5], "[x 1.5]", "[]interface {}"),
        ("x", "x", "string"),
        (True, "true", "bool"),
        (1, "1", "int64"),
        (1.5, "1.5", "float64"),
        (None, "<nil>", "%!s(<nil>)"),
    ],
)
def test_values_are_told_as_go_tells_them(value: Any, text: str, type_name: str) -> None:
    assert go_text(value) == text
    assert go_type(value) == type_name
