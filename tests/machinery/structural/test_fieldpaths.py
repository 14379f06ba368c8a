"""Paths into schemas: where they lead, how they are spelled, and that no text is too odd to be refused."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.structural.fieldpaths import BadPath, follow

SCHEMA = {
    "properties": {
        "a": {"properties": {"b.c": {"type": "string"}, "it's": {"type": "integer"}}},
        "m": {"additionalProperties": {"properties": {"x": {"type": "string"}}}},
    }
}


@pytest.mark.parametrize(
    ("path", "steps", "spelled"),
    [
        (".a", ("a",), "a"),
        ("['a']", ("a",), "a"),
        (".a['b.c']", ("a", "b.c"), "a.b.c"),
        (r".a['it\'s']", ("a", "it's"), "a.it's"),
        (".m.key.x", ("m", "key", "x"), "m[key].x"),
        ("['m']['a key']", ("m", "a key"), "m[a key]"),
    ],
)
def test_paths_lead_to_fields(path: str, steps: tuple[str, ...], spelled: str) -> None:
    found = follow(SCHEMA, path)
    assert (found.steps, found.spelled) == (steps, spelled)


@pytest.mark.parametrize("path", ["a", ".", ".b", ".a[0]", ".a['b.c'", ".a.b.c", r".a['\q']", ".m.key.y"])
def test_paths_that_lead_nowhere(path: str) -> None:
    with pytest.raises(BadPath):
        follow(SCHEMA, path)


@given(st.text())
def test_any_path_is_read_or_refused(path: str) -> None:
    with contextlib.suppress(BadPath):
        follow(SCHEMA, path)
