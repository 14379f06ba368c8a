"""Which fields an applied configuration claims."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.apply.claims import claims, with_named_parents
from tests.machinery.apply.kinds import THING, thing

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("spec", "claimed"),
    [
        pytest.param({"size": 1}, {"f:size": {}}, id="a value, not the struct around it"),
        pytest.param({"raw": [], "opts": {}}, {"f:opts": {}, "f:raw": {}}, id="atomic ones, however empty"),
        pytest.param({"tags": []}, None, id="of an empty set nothing"),
        pytest.param({"tags": ["b", "a"]}, {"f:tags": {'v:"a"': {}, 'v:"b"': {}}}, id="items, not the set"),
        pytest.param({"more": {}}, {"f:more": {}}, id="an empty map itself"),
        pytest.param({"more": None}, {"f:more": {}}, id="and null"),
        pytest.param({"more": {"a": "1"}}, {"f:more": {"f:a": {}}}, id="entries, not the map"),
        pytest.param(
            {"parts": [{"name": "x", "weight": 1}]},
            {"f:parts": {'k:{"kind":"std","name":"x"}': {".": {}, "f:name": {}, "f:weight": {}}}},
            id="an item with keys, and what is in it",
        ),
        pytest.param(
            {"free": {"a": {"b": 1}}}, {"f:free": {"f:a": {".": {}, "f:b": {}}}}, id="maps in a map are items"
        ),
        pytest.param({}, {}, id="nothing"),
    ],
)
def test_claims(spec: Json, claimed: Json | None) -> None:
    found = claims(THING, thing(spec))
    assert found.get("f:spec") == claimed
    assert found["f:metadata"] == {"f:name": {}}


def test_named_parents_are_fields_of_structs_only() -> None:
    fields = {"f:spec": {"f:more": {"f:a": {}}, "f:free": {"f:a": {"f:b": {}}}}}
    assert with_named_parents(THING, fields) == {
        "f:spec": {
            ".": {},
            "f:more": {".": {}, "f:a": {}},
            "f:free": {".": {}, "f:a": {"f:b": {}}},
        }
    }
