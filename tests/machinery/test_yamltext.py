from __future__ import annotations

import contextlib
import time
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import yamltext
from hardpoint.machinery.jsonexact import HugeNumber

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer())
    | st.text(
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")) | st.sampled_from("\n:#-'\"{}[]&*!|> 01eyn.")
    )
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text("abc01y"), inner), max_leaves=20)


@given(VALUES)
def test_what_is_written_is_read_again(value: Any) -> None:
    assert yamltext.parse(yamltext.encode(value)) == (value, [])


@given(st.text("yYnoNOfFtrue0123456789.eE+-_xob:~<=", max_size=8))
def test_a_string_is_quoted_where_go_would_take_it_for_something_else(text: str) -> None:
    assert yamltext.parse(yamltext.encode({"a": text})).value == {"a": text}


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("2026-11-15T11:42:38Z", '"2026-11-15T11:42:38Z"'),
        ("2026-11-15", '"2026-11-15"'),
        ("1:20", '"1:20"'),
        ("12", '"12"'),
        ("a: b", "'a: b'"),
        ("a-b", "a-b"),
        ("10.0.0.1", "10.0.0.1"),
        ("word " * 20 + "end", "word " * 15 + "word\n  " + "word " * 4 + "end"),
    ],
)
def test_strings_are_quoted_and_folded_as_go_does(value: str, written: str) -> None:
    assert yamltext.encode({"a": value}).decode() == f"a: {written}\n"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a:", {"a": None}),
        ("a: ~", {"a": None}),
        ("a: [y, Yes, on, n, NO, off, 'yes']", {"a": [True, True, True, False, False, False, "yes"]}),
        ("a: [1, -1, +1, 0x1F, 017, 0o17, 0b11, 1_000, 08]", {"a": [1, -1, 1, 31, 15, 15, 3, 1000, 8]}),
        ("a: [1e3, 1.0, 1.5, .5, 1:20]", {"a": [1000, 1, 1.5, 0.5, "1:20"]}),
        ("a: 12345678901234567890123", {"a": 12345678901234567890123.0}),
        ("a: 2001-01-01\nb: 2001-01-01T00:00:00Z", {"a": "2001-01-01", "b": "2001-01-01T00:00:00Z"}),
        ("1: a\ntrue: b\n1.5: c", {"1": "a", "true": "b", "1.5": "c"}),
        ("a: !!str 12\nb: !!int '3'\nc: !!float 1\nd: !!binary aGk=", {"a": "12", "b": 3, "c": 1, "d": "hi"}),
        ("a: &x {b: 1}\nc: *x", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1, c: 1}\nd: {<<: *x, b: 2}", {"a": {"b": 1, "c": 1}, "d": {"b": 2, "c": 1}}),
        ("a: {<<: [{b: 1}, {b: 2, c: 2}]}", {"a": {"b": 1, "c": 2}}),
        ("a: 1\n---\nb: [", {"a": 1}),
        ('{"json": ["is", {"yaml": true}]}', {"json": ["is", {"yaml": True}]}),
    ],
)
def test_scalars_mean_what_go_takes_them_for(text: str, value: Any) -> None:
    assert yamltext.parse(text.encode()).value == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: b: c", "yaml: mapping values are not allowed in this context"),
        ("a: 1\nb: c: d", "yaml: line 2: mapping values are not allowed in this context"),
        ("a:\n\t- b", "yaml: line 2: found character that cannot start any token"),
        ("a: *q", "yaml: unknown anchor 'q' referenced"),
        ("&x [*x]", "yaml: anchor 'x' value contains itself"),
        ("a: .nan", "yaml: json: unsupported value: NaN"),
        ("a: -.inf", "yaml: json: unsupported value: -Inf"),
        ("a: !!int x", "yaml: cannot decode `x` as a !!int"),
        ("~: 1", "yaml: a key must be a string, a number or a boolean"),
        ("[1]: 2", "yaml: line 1: a key must be a scalar"),
        ("a: !!binary é", "yaml: !!binary value contains invalid base64 data"),
        ("{<<: 1}", "yaml: map merge requires map or sequence of maps as the value"),
    ],
)
def test_a_bad_text_is_refused_with_its_line(text: str, reason: str) -> None:
    with pytest.raises(yamltext.BadYaml) as refused:
        yamltext.parse(text.encode())
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    "text", ["a: !python/object:os.system x", "a: !foo {b: 1}", "a: !!set {b}", "a: !!python/none ~", "a: !!omap []"]
)
def test_foreign_tags_are_refused(text: str) -> None:
    with pytest.raises(yamltext.BadYaml):
        yamltext.parse(text.encode())


def test_duplicates_have_a_path() -> None:
    text = b"a: 1\nspec:\n  containers:\n  - name: x\n    name: z\na: 2\n"
    assert yamltext.parse(text) == ({"a": 2, "spec": {"containers": [{"name": "z"}]}}, ["spec.containers[0].name", "a"])


def test_an_alias_is_a_copy() -> None:
    value = yamltext.parse(b"a: &x {b: [1]}\nc: *x\n").value
    value["a"]["b"].append(2)
    assert value["c"] == {"b": [1]}


def laughs(levels: int, width: int) -> str:
    lines = ["x0: &x0 [lol]"]
    lines += [f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * width)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        laughs(9, 9),
        laughs(30, 2),
        laughs(3, 1000),
        f"a: &a {'x' * 1_000_000}\nb: [{','.join(['*a'] * 100)}]",
        "[" * 1_000_000,
        "- " * 1_000_000,
        "{" * 1_000_000,
        "[? " * 100_000,
        "!" * 1_000_000,
        "a: " * 300_000,
    ],
    ids=["billion laughs", "deep laughs", "wide laughs", "long text", "[", "-", "{", "[?", "!", "a:"],
)
def test_bombs_are_refused_quickly(text: str) -> None:
    began = time.process_time()
    with pytest.raises(yamltext.BadYaml) as refused:
        yamltext.parse(text.encode())
    assert time.process_time() - began < 1
    assert len(str(refused.value)) < 200


def test_too_much_text_is_refused_before_it_is_read() -> None:
    with pytest.raises(yamltext.BadYaml, match="3145729 bytes, 3145728 are allowed"):
        yamltext.parse(b"#" * (yamltext.SIZE_MAX + 1))


def test_ten_thousand_levels_are_written() -> None:
    text = b"[" * 9_000 + b"]" * 9_000
    assert yamltext.encode(yamltext.parse(b"- " * 9_000 + b"[]").value).startswith(text[:9_000])


SOURCES = (
    b"a: 1\nb:\n- x: [1, 2]\n  y: {c: d}\n- &a {z: 1}\n- *a\n- <<: *a\n  k: |\n    text\n",
    b"? a\n: b\n--- !!str\n%YAML 1.1\n!!binary aGk=: 0x1f\n",
)


@given(
    st.sampled_from(SOURCES),
    st.integers(0, 60),
    st.binary(max_size=4) | st.text("{}[]:,-?&*!|>'\"%#\n\t <=", max_size=4),
)
def test_a_spoiled_text_is_a_value_or_refused(source: bytes, at: int, spoiler: bytes | str) -> None:
    spoiled = source[:at] + (spoiler.encode() if isinstance(spoiler, str) else spoiler) + source[at + 1 :]
    with contextlib.suppress(yamltext.BadYaml):
        value = yamltext.parse(spoiled).value
        assert yamltext.parse(yamltext.encode(value)).value == value


def test_a_number_beyond_floats_keeps_its_text() -> None:
    assert yamltext.encode({"a": HugeNumber("1e400")}) == b"a: 1e400\n"


def test_it_is_written_like_go_writes_it() -> None:
    value = {"kind": "A", "items": [{"b": "y", "a": "x\ny\n"}], "empty": {}, "none": []}
    expected = 'empty: {}\nitems:\n- a: |\n    x\n    y\n  b: "y"\nkind: A\nnone: []\n'
    assert yamltext.encode(value).decode() == expected
    assert yaml.safe_load(expected) == value
