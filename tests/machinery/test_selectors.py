from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.labels import EVERYTHING, NOTHING, BadSelector
from hardpoint.machinery.selectors import from_label_selector, from_map, parse, printed

OPERATORS = "in, notin, =, ==, !=, gt, lt"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ""),
        ("  ", ""),
        ("a", "a"),
        ("!a", "!a"),
        ("! a", "!a"),
        ("a=b", "a=b"),
        (" a = b ", "a=b"),
        ("a==b", "a==b"),
        ("a!=b", "a!=b"),
        ("a=", "a="),
        ("a=,b", "a=,b"),
        ("b=1,a=2", "a=2,b=1"),
        ("a in (z,b)", "a in (b,z)"),
        ("a in ()", "a in ()"),
        ("a in (,b)", "a in (,b)"),
        ("a in (b,)", "a in (,b)"),
        ("a in (b,,c)", "a in (,b,c)"),
        ("a notin (b)", "a notin (b)"),
        ("a>1,b<2", "a>1,b<2"),
        ("in in (in,notin)", "in in (in,notin)"),
        ("a=in", "a=in"),
        ("example.com/a=b", "example.com/a=b"),
    ],
)
def test_text(text: str, told: str) -> None:
    assert str(parse(text)) == told
    assert str(parse(told)) == told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (",", "found ',', expected: !, identifier, or 'end of string'"),
        ("=a", "found '=', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("a b", f"unable to parse requirement: found 'b', expected: {OPERATORS}"),
        ("a (b)", f"unable to parse requirement: found '(', expected: {OPERATORS}"),
        ("!!a", "unable to parse requirement: found '!', expected: identifier"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a==!b", "unable to parse requirement: found '!', expected: identifier"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in", "unable to parse requirement: found '' expected: '('"),
        ("a in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (b,=", "unable to parse requirement: found '=', expected: ',', or identifier"),
        (
            "a>b",
            "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be"
            " an integer",
        ),
        (
            "/a",
            'unable to parse requirement: <nil>: Invalid value: "/a": prefix part must be non-empty',
        ),
    ],
)
def test_text_that_cannot_be_understood(text: str, message: str) -> None:
    with pytest.raises(BadSelector) as refused:
        parse(text)
    assert str(refused.value) == message


@given(st.text("ab1=!<>(), in", max_size=20), st.dictionaries(st.sampled_from("ab1"), st.sampled_from(["a", "b", "1"])))
def test_what_is_printed_means_the_same(text: str, labels: dict[str, str]) -> None:
    try:
        selector = parse(text)
    except BadSelector:
        return
    again = parse(str(selector))
    assert str(again) == str(selector)
    assert again.matches(labels) is selector.matches(labels)


def test_a_long_text_is_read_in_one_go() -> None:
    selector = parse(",".join(f"k{number}=v" for number in range(20_000)))
    assert len(selector.requirements) == 20_000


@pytest.mark.parametrize(
    ("selector", "labels", "matches"),
    [
        (None, {"a": "b"}, False),
        ({}, {"a": "b"}, True),
        ({"matchLabels": {"a": "b"}}, {"a": "b"}, True),
        ({"matchLabels": {"a": "b"}}, {"a": "c"}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}]}, {"a": "c"}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}, {}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, {}, False),
        ({"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}, {}, True),
        (
            {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]},
            {"a": "b"},
            False,
        ),
    ],
)
def test_label_selector(selector: dict[str, Any] | None, labels: dict[str, str], matches: bool) -> None:
    assert from_label_selector(selector).matches(labels) is matches


def test_label_selector_with_an_operator_of_another_world() -> None:
    with pytest.raises(BadSelector) as refused:
        from_label_selector({"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]})
    assert str(refused.value) == '"Gt" is not a valid label selector operator'


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (None, "<none>"),
        ({}, "<none>"),
        ({"matchLabels": {"b": "1", "a": "2"}}, "a=2,b=1"),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}, "<error>"),
    ],
)
def test_printed(selector: dict[str, Any] | None, text: str) -> None:
    assert printed(selector) == text


def test_maps() -> None:
    assert from_map({"a": "b"}).matches({"a": "b", "c": "d"})
    assert from_map(None) == EVERYTHING != NOTHING
