"""A status is merged with what others wrote meanwhile, or the conflict stands."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.mergepatch import difference, merge
from hardpoint.runtime.statuswriting import rebase

Json = dict[str, Any]

UP, DOWN = {"type": "Up", "status": "True"}, {"type": "Down", "status": "False"}


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "both"),
    [
        pytest.param({}, {"a": 1}, {"b": 2}, {"a": 1, "b": 2}, id="other fields"),
        pytest.param({"a": 1}, {"a": 2}, {"a": 3}, None, id="the same field"),
        pytest.param({"a": 1}, {"a": 2}, {"a": 2}, {"a": 2}, id="the same field, the same value"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"b": 2, "c": 3}}, id="deeper"),
        pytest.param({"a": [1]}, {"a": [1, 2]}, {"a": [1, 3]}, None, id="a list is one value"),
        pytest.param(
            {}, {"conditions": [UP]}, {"conditions": [DOWN]}, {"conditions": [DOWN, UP]}, id="conditions have names"
        ),
        pytest.param(
            {"conditions": [UP]},
            {"conditions": [{**UP, "status": "False"}]},
            {"conditions": [{**UP, "status": "Unknown"}]},
            None,
            id="the same condition",
        ),
    ],
)
def test_what_others_wrote_is_kept(base: Json, ours: Json, theirs: Json, both: Json | None) -> None:
    rebased = rebase(base, difference(base, ours), theirs)
    assert (None if rebased is None else merge(theirs, rebased)) == both


statuses = st.dictionaries(
    st.sampled_from("abc"), st.integers(0, 2) | st.dictionaries(st.sampled_from("xy"), st.integers(0, 2))
)


@given(statuses, statuses, statuses)
def test_either_order_of_two_writers_leads_to_the_same(base: Json, ours: Json, theirs: Json) -> None:
    mine = rebase(base, difference(base, ours), theirs)
    other = rebase(base, difference(base, theirs), ours)
    if mine is not None and other is not None:
        assert merge(theirs, mine) == merge(ours, other)
