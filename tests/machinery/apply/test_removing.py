"""Fields taken out of an object, or everything but them."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.apply.removing import remove
from tests.machinery.apply.kinds import THING, thing

Json = dict[str, Any]

FULL = {
    "size": 1,
    "raw": [1],
    "tags": ["a", "b"],
    "opts": {"x": "1"},
    "more": {"a": "1", "b": "2"},
    "parts": [{"name": "p", "weight": 1}, {"name": "q", "weight": 2}],
}
P = 'k:{"kind":"std","name":"p"}'


@pytest.mark.parametrize(
    ("fields", "left"),
    [
        pytest.param({"f:size": {}}, {"size"}, id="a value"),
        pytest.param({"f:more": {}}, {"more"}, id="a map and what is in it"),
    ],
)
def test_a_field_goes_with_what_is_below_it(fields: Json, left: set[str]) -> None:
    expected = {name: value for name, value in FULL.items() if name not in left}
    assert remove(THING, thing(FULL), {"f:spec": fields}) == thing(expected)


@pytest.mark.parametrize(
    ("fields", "changed"),
    [
        pytest.param({"f:more": {"f:a": {}}}, {"more": {"b": "2"}}, id="of a map"),
        pytest.param({"f:tags": {'v:"a"': {}}}, {"tags": ["b"]}, id="of a set"),
        pytest.param({"f:parts": {P: {}}}, {"parts": [{"name": "q", "weight": 2}]}, id="of a list with keys"),
        pytest.param(
            {"f:parts": {P: {"f:weight": {}}}}, {"parts": [{"name": "p"}, {"name": "q", "weight": 2}]}, id="in an item"
        ),
        pytest.param({"f:more": {"f:a": {}, "f:b": {}}}, {"more": None}, id="nothing left is null"),
        pytest.param({"f:more": {"f:z": {}}}, {}, id="what is not there"),
    ],
)
def test_items_go_one_by_one(fields: Json, changed: Json) -> None:
    live = thing(FULL)
    assert remove(THING, live, {"f:spec": fields}) == thing({**FULL, **changed})
    assert live == thing(FULL)
