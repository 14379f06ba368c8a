"""What changed from one object to another, path by path."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.apply import BadItem, fieldsets
from hardpoint.machinery.apply.comparing import compare
from tests.machinery.apply.kinds import THING, thing

Json = dict[str, Any]


def told(fields: fieldsets.FieldSet) -> list[str]:
    return [fieldsets.shown(path).removeprefix(".spec") for path in fieldsets.paths(fields)]


@pytest.mark.parametrize(
    ("old", "new", "added", "modified", "removed"),
    [
        pytest.param({"size": 1}, {"size": 2}, [], [".size"], [], id="a value"),
        pytest.param({"size": 1}, {"mode": "a"}, [".mode"], [], [".size"], id="one goes, one comes"),
        pytest.param({"raw": [1]}, {"raw": [1, 2]}, [], [".raw"], [], id="an atomic list is one value"),
        pytest.param({"opts": {"a": "1"}}, {"opts": {"b": "1"}}, [], [".opts"], [], id="an atomic map is one value"),
        pytest.param(
            {"more": {"a": "1", "b": "1"}},
            {"more": {"b": "2", "c": "1"}},
            [".more.c"],
            [".more.b"],
            [".more.a"],
            id="a map",
        ),
        pytest.param({}, {"more": {"a": "1"}}, [".more", ".more.a"], [], [], id="a map comes with what is in it"),
        pytest.param({"more": {}}, {"more": {"a": "1"}}, [".more.a"], [], [], id="a map that was there is filled"),
        pytest.param({"more": {"a": "1"}}, {"more": None}, [], [], [".more.a"], id="null leaves nothing"),
        pytest.param({"more": None}, {"more": {}}, [], [".more"], [], id="null and empty are not the same"),
        pytest.param({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, [], [], [], id="the order of a set is nothing"),
        pytest.param({"tags": ["a"]}, {"tags": ["b"]}, ['.tags[="b"]'], [], ['.tags[="a"]'], id="items of a set"),
        pytest.param(
            {"parts": [{"name": "x", "weight": 1}]},
            {"parts": [{"name": "x", "kind": "std", "weight": 2}]},
            ['.parts[kind="std",name="x"].kind'],
            ['.parts[kind="std",name="x"].weight'],
            [],
            id="a key is the same whether said or not",
        ),
        pytest.param(
            {"tags": ["a", "a"]}, {"tags": ["a"]}, ['.tags[="a"]'], [], ['.tags[="a"]'], id="a duplicate is resolved"
        ),
        pytest.param(
            {"tags": ["a"]}, {"tags": ["a", "a"]}, ['.tags[="a"]'], [], ['.tags[="a"]'], id="a duplicate comes up"
        ),
        pytest.param({"tags": ["a", "a"]}, {"tags": ["b", "a", "a"]}, ['.tags[="b"]'], [], [], id="duplicates stay"),
        pytest.param(
            {"parts": [{"name": "x", "weight": 1}, {"name": "x", "weight": 2}]},
            {"parts": [{"name": "x", "weight": 1}, {"name": "x", "weight": 3}]},
            [],
            ['.parts[kind="std",name="x"]'],
            [],
            id="duplicates are compared together",
        ),
        pytest.param(
            {"free": {"a": {"b": 1}}}, {"free": {"a": 1}}, [], [".free.a"], [".free.a.b"], id="a map becomes a scalar"
        ),
        pytest.param(
            {"free": {"a": 1}}, {"free": {"a": {"b": 1}}}, [".free.a.b"], [".free.a"], [], id="a scalar becomes a map"
        ),
        pytest.param({"free": {"a": [1]}}, {"free": {"a": [2]}}, [], [".free.a"], [], id="lists nobody described"),
        pytest.param({"either": 1}, {"either": "1"}, [], [".either"], [], id="a number becomes a text"),
    ],
)
def test_comparison(old: Json, new: Json, added: list[str], modified: list[str], removed: list[str]) -> None:
    found = compare(THING, thing(old), thing(new))
    assert (told(found.added), told(found.modified), told(found.removed)) == (added, modified, removed)


def test_items_that_cannot_be_told_apart_are_no_items() -> None:
    with pytest.raises(BadItem, match="non-map elements"):
        compare(THING, thing({"parts": []}), thing({"parts": ["x"]}))
    with pytest.raises(BadItem, match="explicit null"):
        compare(THING, thing({}), thing({"tags": [None, "a"]}))
