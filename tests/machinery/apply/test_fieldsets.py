"""Sets of field paths behave as sets do, and are written in one way only."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.apply import fieldsets
from hardpoint.machinery.apply.fieldsets import FieldSet, Path
from tests.machinery.apply.fields import ELEMENTS, field_sets, members, paths


@given(st.lists(paths))
def test_a_set_holds_the_paths_it_was_made_of(given_paths: list[Path]) -> None:
    fields = fieldsets.of_paths(given_paths)
    assert members(fields) == set(given_paths)
    assert all(fieldsets.has(fields, path) for path in given_paths)
    assert not fieldsets.has(fields, ())


@given(field_sets, field_sets)
def test_union_difference_and_intersection_are_those_of_sets(one: FieldSet, other: FieldSet) -> None:
    assert members(fieldsets.union(one, other)) == members(one) | members(other)
    assert members(fieldsets.difference(one, other)) == members(one) - members(other)
    assert members(fieldsets.intersection(one, other)) == members(one) & members(other)


@given(field_sets, field_sets)
def test_without_takes_what_is_below_too(one: FieldSet, other: FieldSet) -> None:
    def is_covered(path: Path) -> bool:
        return any(path[:length] in members(other) for length in range(1, len(path) + 1))

    assert members(fieldsets.without(one, other)) == {path for path in members(one) if not is_covered(path)}


@given(field_sets, field_sets)
def test_equal_sets_are_written_alike(one: FieldSet, other: FieldSet) -> None:
    """However they came to be: the text is canonical."""
    there, back = fieldsets.union(one, other), fieldsets.union(other, one)
    assert orjson.dumps(there) == orjson.dumps(back)
    again = fieldsets.of_paths(sorted(members(there), reverse=True))
    assert orjson.dumps(again) == orjson.dumps(there)


@given(field_sets)
def test_what_is_written_reads_back(fields: FieldSet) -> None:
    assert orjson.dumps(fieldsets.parse(orjson.loads(orjson.dumps(fields)))) == orjson.dumps(fields)


@given(field_sets, field_sets)
def test_sets_are_never_changed(one: FieldSet, other: FieldSet) -> None:
    before = orjson.dumps([one, other])
    for operation in (fieldsets.union, fieldsets.difference, fieldsets.intersection, fieldsets.without):
        operation(one, other)
    assert orjson.dumps([one, other]) == before
    assert fieldsets.LEAF == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*ELEMENTS, ".", "x:?", "bad", "k:[]"]), inner, max_size=3)
    ),
)


@given(JSON)
def test_anything_is_read_or_refused(value: Any) -> None:
    try:
        fields = fieldsets.parse(value)
    except fieldsets.BadFields:
        return
    assert orjson.dumps(fieldsets.parse(fields)) == orjson.dumps(fields)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        pytest.param(None, {}, id="nothing"),
        pytest.param({"f:b": {}, "f:a": None}, {"f:a": {}, "f:b": {}}, id="in any order, null for nothing below"),
        pytest.param({".": {}}, {}, id="the whole object is nobody's"),
        pytest.param({"f:a": {".": {}}}, {"f:a": {}}, id="a mark that nothing needs"),
        pytest.param({"f:a": {"x:?": {"f:b": {}}}}, {"f:a": {}}, id="an element of the future"),
        pytest.param({'k:{"b":1,"a":2}': {}}, {'k:{"a":2,"b":1}': {}}, id="keys in any order"),
    ],
)
def test_a_set_is_read_leniently(said: Any, read: FieldSet) -> None:
    assert orjson.dumps(fieldsets.parse(said)) == orjson.dumps(read)


def test_paths_come_members_first() -> None:
    fields = fieldsets.parse({"f:spec": {"f:ports": {'k:{"port":80}': {"f:name": {}}}, "f:selector": {}}})
    assert [fieldsets.shown(path) for path in fieldsets.paths(fields)] == [
        ".spec.selector",
        ".spec.ports[port=80].name",
    ]
