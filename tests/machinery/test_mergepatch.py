from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.mergepatch import difference, merge

scalars = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text("ab", max_size=2))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)),
    max_leaves=12,
)
objects = st.dictionaries(st.sampled_from("abcd"), values, max_size=4)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return value


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        # The examples of RFC 7396, appendix A, where the target is an object.
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": "foo"}, "bar", "bar"),
        (["c"], {"a": 1}, {"a": 1}),
        pytest.param({}, {"a": [{"b": None, "c": 1}]}, {"a": [{"c": 1}]}, id="nulls vanish inside lists"),
        pytest.param({}, {"a": [1, None, [{"b": None}]]}, {"a": [1, None, [{}]]}, id="but lists keep their own"),
        pytest.param({"a": {}}, {"a": [{"b": None}]}, {"a": [{"b": None}]}, id="and where an object was"),
    ],
)
def test_merge(target: Any, patch: Any, result: Any) -> None:
    assert merge(target, patch) == result


@given(objects, objects)
def test_merging_changes_nothing_but_the_result(target: dict[str, Any], patch: dict[str, Any]) -> None:
    before = copy.deepcopy((target, patch))
    merge(target, patch)
    assert (target, patch) == before


@given(objects, objects)
def test_merging_twice_is_merging_once(target: dict[str, Any], patch: dict[str, Any]) -> None:
    once = merge(target, patch)
    assert merge(once, patch) == merge(merge(once, patch), patch)


@given(objects, objects)
def test_a_difference_leads_from_one_to_the_other(old: dict[str, Any], new: dict[str, Any]) -> None:
    wanted = without_nulls(merge({}, new))
    assert merge(old, difference(old, wanted)) == wanted


def test_equal_objects_differ_in_nothing() -> None:
    assert difference({"a": {"b": [1]}}, {"a": {"b": [1]}}) == {}
    assert difference({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}) == {"a": {"c": 3}}


def test_patches_may_be_deeper_than_the_stack() -> None:
    patch: Any = {"end": None}
    for _ in range(20_000):
        patch = {"a": [patch]} if _ % 2 else {"a": patch}
    found = merge({}, patch)
    for _ in range(20_000):
        found = found["a"]
        found = found[0] if isinstance(found, list) else found
    assert found == {}
