from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.labels import EVERYTHING, NOTHING, BadSelector, Operator, Requirement, Selector, requirement

words = st.sampled_from(["a", "b", "c", "1", "7", ""])
labels_of = st.dictionaries(st.sampled_from(["a", "b", "x"]), words)


@pytest.mark.parametrize(
    ("operator", "values", "labels", "matches"),
    [
        ("=", ("a",), {"k": "a"}, True),
        ("=", ("a",), {"k": "b"}, False),
        ("=", ("",), {}, False),
        ("=", ("",), {"k": ""}, True),
        ("!=", ("a",), {"k": "b"}, True),
        ("!=", ("a",), {}, True),
        ("!=", ("a",), {"k": "a"}, False),
        ("in", ("a", "b"), {"k": "b"}, True),
        ("in", ("a", "b"), {"k": "c"}, False),
        ("in", ("a", "b"), {}, False),
        ("notin", ("a", "b"), {"k": "c"}, True),
        ("notin", ("a", "b"), {}, True),
        ("notin", ("a", "b"), {"k": "a"}, False),
        ("exists", (), {"k": ""}, True),
        ("exists", (), {}, False),
        ("!", (), {}, True),
        ("!", (), {"k": ""}, False),
        ("gt", ("3",), {"k": "4"}, True),
        ("gt", ("3",), {"k": "3"}, False),
        ("gt", ("3",), {"k": "x"}, False),
        ("gt", ("3",), {}, False),
        ("lt", ("3",), {"k": "-4"}, True),
        ("lt", ("3",), {"k": str(2**63)}, False),
    ],
)
def test_requirement(operator: Operator, values: tuple[str, ...], labels: dict[str, str], matches: bool) -> None:
    wanted = requirement("k", operator, values)
    assert wanted.matches(labels) is matches
    assert Selector((wanted,)).matches(labels) is matches


@pytest.mark.parametrize(
    ("operator", "values", "message"),
    [
        ("in", (), "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"),
        ("=", ("a", "b"), 'values: Invalid value: ["a","b"]: exact-match compatibility requires one single value'),
        ("exists", ("a",), 'values: Invalid value: ["a"]: values set must be empty for exists and does not exist'),
        ("gt", ("a",), "values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer"),
        ("gt", (), "values: Invalid value: null: for 'Gt', 'Lt' operators, exactly one value is required"),
        ("like", ("a",), 'operator: Unsupported value: "like": supported values: "=", "==", "!=", "in", "notin", "gt"'),
    ],
)
def test_requirements_that_make_no_sense(operator: Operator, values: tuple[str, ...], message: str) -> None:
    with pytest.raises(BadSelector) as refused:
        requirement("k", operator, values)
    assert str(refused.value).startswith(message)


def test_everything_wrong_is_told_at_once() -> None:
    with pytest.raises(BadSelector) as refused:
        requirement("-", "in", ("-", "-"))
    message = str(refused.value)
    assert message.startswith('[key: Invalid value: "-": name part must')
    assert 'values[0][-]: Invalid value: "-": a valid label must' in message
    assert 'values[1][-]: Invalid value: "-": a valid label must' in message


def test_everything_and_nothing() -> None:
    assert EVERYTHING.matches({})
    assert EVERYTHING.is_everything
    assert not NOTHING.matches({})
    assert not NOTHING.is_everything


def test_an_object_without_labels_has_none() -> None:
    selector = Selector((Requirement("k", "!"),))
    assert selector.matches_object({})
    assert selector.matches_object({"metadata": {"labels": None}})
    assert not selector.matches_object({"metadata": {"labels": {"k": ""}}})


def test_required_value() -> None:
    selector = Selector((Requirement("a", "in", ("1",)), Requirement("b", "in", ("1", "2"))))
    assert selector.required_value("a") == "1"
    assert selector.required_value("b") is None


@given(st.sampled_from(["a", "b"]), st.lists(words, min_size=1, max_size=3, unique=True), labels_of)
def test_in_and_notin_are_opposites(key: str, values: list[str], labels: dict[str, str]) -> None:
    inside = Requirement(key, "in", tuple(values))
    outside = Requirement(key, "notin", tuple(values))
    assert inside.matches(labels) is not outside.matches(labels)


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), words), max_size=3), labels_of)
def test_a_selector_matches_what_all_its_requirements_match(
    wanted: list[tuple[str, str]], labels: dict[str, str]
) -> None:
    requirements = tuple(Requirement(key, "=", (value,)) for key, value in wanted)
    assert Selector(requirements).matches(labels) is all(each.matches(labels) for each in requirements)
