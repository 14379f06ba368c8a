"""Conditions by Kubernetes' rules: what stays true keeps its time, and nobody's condition is lost in a merge."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.runtime.conditions import condition, merged, with_condition

Json = dict[str, Any]

EARLY, LATE = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)


def ready(status: bool | None, reason: str = "Tested", *, now: datetime = EARLY, generation: int | None = 1) -> Json:
    return condition("Ready", status, reason, "words", now=now, generation=generation)


def test_the_time_moves_with_the_status_only() -> None:
    first = with_condition([], ready(True))
    again = with_condition(first, ready(True, "Otherwise", now=LATE, generation=2))
    changed = with_condition(again, ready(None, now=LATE))
    assert first[0]["lastTransitionTime"] == again[0]["lastTransitionTime"] == "2026-01-01T00:00:00Z"
    assert (again[0]["reason"], again[0]["observedGeneration"]) == ("Otherwise", 2)
    assert (changed[0]["status"], changed[0]["lastTransitionTime"]) == ("Unknown", "2026-01-02T00:00:00Z")


def test_saying_the_same_again_changes_nothing() -> None:
    first = with_condition([{"type": "Other", "status": "True"}], ready(True))
    assert with_condition(first, ready(True, now=LATE)) == first


@pytest.mark.parametrize(
    ("type_", "reason", "words"),
    [
        pytest.param("", "Tested", "the condition type '' is none", id="no type"),
        pytest.param("not ready", "Tested", "the condition type 'not ready' is none", id="two words"),
        pytest.param("Ready", "", "must be one word in CamelCase", id="no reason"),
        pytest.param("Ready", "it failed", "must be one word in CamelCase", id="a sentence"),
    ],
)
def test_what_no_server_takes_is_refused(type_: str, reason: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        condition(type_, True, reason, "", now=EARLY, generation=None)


def test_a_type_may_have_a_domain() -> None:
    assert condition("example.com/Ready", True, "Tested", "", now=EARLY, generation=None)["type"] == "example.com/Ready"


lists = st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["True", "False"])).map(
    lambda found: [{"type": type_, "status": status} for type_, status in found.items()]
)


@given(lists, lists, lists)
def test_a_merge_keeps_what_each_side_changed_or_is_refused(base: Any, ours: Any, theirs: Any) -> None:
    both = merged(base, ours, theirs)
    before, mine, live = ({each["type"]: each for each in side} for side in (base, ours, theirs))
    disputed = [
        name
        for name in "abcd"
        if before.get(name) not in (mine.get(name), live.get(name)) and mine.get(name) != live.get(name)
    ]
    if both is None:
        assert disputed
        return
    assert not disputed
    found = {each["type"]: each for each in both}
    for name in "abcd":
        assert found.get(name) == (live.get(name) if mine.get(name) == before.get(name) else mine.get(name))
