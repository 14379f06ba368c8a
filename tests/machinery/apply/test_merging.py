"""An applied configuration put into a live object: values, and the order of lists."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.apply.merging import merge
from tests.machinery.apply.kinds import THING, thing

Json = dict[str, Any]


@pytest.mark.parametrize(
    ("live", "config", "merged"),
    [
        pytest.param({"size": 1, "mode": "a"}, {"size": 2}, {"size": 2, "mode": "a"}, id="what is not said stays"),
        pytest.param({"raw": [1, 2]}, {"raw": [3]}, {"raw": [3]}, id="atomic lists are replaced"),
        pytest.param({"opts": {"a": "1"}}, {"opts": {"b": "2"}}, {"opts": {"b": "2"}}, id="atomic maps are replaced"),
        pytest.param({"more": {"a": "1"}}, {"more": {"b": "2"}}, {"more": {"a": "1", "b": "2"}}, id="maps are merged"),
        pytest.param({"more": {"a": "1"}}, {"more": {}}, {"more": {"a": "1"}}, id="an empty map says nothing"),
        pytest.param({"more": {"a": "1"}}, {"more": None}, {"more": {"a": "1"}}, id="nor does null"),
        pytest.param({"tags": ["a"]}, {"tags": []}, {"tags": ["a"]}, id="nor an empty set"),
        pytest.param({"opts": {"a": "1"}}, {"opts": None}, {"opts": None}, id="but an atomic map can be null"),
        pytest.param({"size": 1}, {"size": None}, {"size": None}, id="and so can a scalar"),
        pytest.param({"more": None}, {"more": {"a": "1"}}, {"more": {"a": "1"}}, id="null is filled"),
        pytest.param({"free": {"a": {"b": 1}}}, {"free": {"a": 5}}, {"free": {"a": 5}}, id="another kind of value"),
        pytest.param(
            {"free": {"a": [1]}}, {"free": {"a": {"b": 1}}}, {"free": {"a": {"b": 1}}}, id="a list becomes a map"
        ),
        pytest.param(
            {"tags": ["a", "b", "c"]}, {"tags": ["c", "a"]}, {"tags": ["b", "c", "a"]}, id="the applied order"
        ),
        pytest.param({"tags": ["a", "b"]}, {"tags": ["n"]}, {"tags": ["a", "b", "n"]}, id="new ones come last"),
        pytest.param(
            {"tags": ["a", "b"]}, {"tags": ["n", "a"]}, {"tags": ["n", "a", "b"]}, id="or before their neighbour"
        ),
        pytest.param({"tags": ["a", "b"]}, {"tags": ["b", "n"]}, {"tags": ["a", "b", "n"]}, id="or after it"),
        pytest.param({"tags": ["a", "x", "a"]}, {"tags": ["a"]}, {"tags": ["a", "x"]}, id="duplicates become one"),
        pytest.param({"tags": ["a", "a"]}, {"tags": ["b"]}, {"tags": ["a", "a", "b"]}, id="or stay, if not applied"),
        pytest.param(
            {"parts": [{"name": "x", "kind": "std", "weight": 1}]},
            {"parts": [{"name": "x", "note": "n"}]},
            {"parts": [{"name": "x", "kind": "std", "weight": 1, "note": "n"}]},
            id="items are found by their keys",
        ),
        pytest.param(
            {"parts": [{"name": "x", "weight": 1}, {"name": "x", "weight": 2}]},
            {"parts": [{"name": "x", "note": "n"}]},
            {"parts": [{"name": "x", "note": "n"}]},
            id="those that cannot be told apart are replaced",
        ),
    ],
)
def test_merge(live: Json, config: Json, merged: Json) -> None:
    assert merge(THING, thing(live), thing(config)) == thing(merged)


TAGS = st.lists(st.sampled_from("abcdef"), unique=True)


@given(TAGS, TAGS)
def test_a_merged_set_has_everything_once_and_the_applied_order(live: list[str], config: list[str]) -> None:
    tags = merge(THING, thing({"tags": live}), thing({"tags": config}))["spec"]["tags"]
    assert sorted(tags) == sorted({*live, *config})
    assert [tag for tag in tags if tag in config] == config
    assert [tag for tag in tags if tag not in config] == [tag for tag in live if tag not in config]


def test_neither_object_is_changed() -> None:
    live, config = thing({"more": {"a": "1"}, "tags": ["a"]}), thing({"more": {"b": "1"}, "tags": ["b"]})
    merge(THING, live, config)
    assert live == thing({"more": {"a": "1"}, "tags": ["a"]})
    assert config == thing({"more": {"b": "1"}, "tags": ["b"]})
