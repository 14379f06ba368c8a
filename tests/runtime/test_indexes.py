"""Indexes: what an object is found under, and that nothing of it is left when it is gone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.runtime.changes import Key
from hardpoint.runtime.indexes import Index, by_controller_uid, by_label, by_owner_uid

Json = dict[str, Any]

OWNERS = [{"uid": "1", "controller": True}, {"uid": "2"}, {"name": "careless"}]


@pytest.mark.parametrize(
    ("function", "metadata", "expected"),
    [
        pytest.param(by_owner_uid, {"ownerReferences": OWNERS}, ["1", "2"], id="every owner that has a uid"),
        pytest.param(by_owner_uid, {}, [], id="no owners"),
        pytest.param(by_owner_uid, {"ownerReferences": None}, [], id="owners that are null"),
        pytest.param(by_controller_uid, {"ownerReferences": OWNERS}, ["1"], id="the owner that controls"),
        pytest.param(by_controller_uid, {"ownerReferences": OWNERS[1:]}, [], id="owners, and none controls"),
        pytest.param(by_label("app"), {"labels": {"app": "x", "b": "y"}}, ["x"], id="a label"),
        pytest.param(by_label("app"), {"labels": {"b": "y"}}, [], id="another label"),
        pytest.param(by_label("app"), {}, [], id="no labels"),
    ],
)
def test_what_an_object_is_found_under(function: Any, metadata: Json, expected: list[str]) -> None:
    assert list(function({"metadata": metadata})) == expected


keys = st.builds(Key, st.sampled_from(["", "one"]), st.sampled_from("abc"))
values = st.lists(st.sampled_from("xyz"), max_size=4)


@given(st.lists(st.tuples(keys, st.none() | values)))
def test_an_index_answers_as_asking_every_object_would(acts: list[tuple[Key, list[str] | None]]) -> None:
    index, model = Index("test", lambda found: found["values"]), dict[Key, list[str]]()
    for key, found in acts:
        if found is None:
            index.forget(key)
            model.pop(key, None)
        else:
            index.put(key, {"values": found})
            model[key] = found
    for value in "xyz":
        assert set(index.keys(value)) == {key for key, found in model.items() if value in found}
    for key in model:
        index.forget(key)
    assert not index._keys
    assert not index._values
