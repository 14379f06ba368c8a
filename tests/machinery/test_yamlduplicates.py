"""Keys that are said twice, and where."""

from __future__ import annotations

import pytest

from hardpoint.machinery.yamlduplicates import duplicates


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: 2\n", []),
        ("a: 1\na: 2\n", ['line 2: key "a" already set in map']),
        ("a: {x: 1, x: 2}\nb: {x: 1}\n", ['line 1: key "x" already set in map']),
        ("a:\n- {x: 1}\n- {x: 1, y: [x, x], x: 3}\n", ['line 3: key "x" already set in map']),
        ("a: a\nb: {a: {b: a}}\nc: [a, a]\n", []),
        ('{"a": 1,\n "a": 2, "a": 3}', ['line 2: key "a" already set in map', 'line 2: key "a" already set in map']),
        ("x: &x {a: 1}\ny: {<<: *x, <<: *x}\n", []),
        ("a: 1\n---\na: 1\na: 2\n", []),
        ("", []),
    ],
)
def test_duplicates(text: str, told: list[str]) -> None:
    assert duplicates(text.encode()) == told
