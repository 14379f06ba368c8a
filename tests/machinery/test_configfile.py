"""Configuration files, read strictly: what is wrong is told by its path, all of it at once."""

from __future__ import annotations

import pytest

from hardpoint.machinery.configfile import decode
from hardpoint.machinery.errors import ConfigError

FIELDS = {"names": [str], "enabled": bool, "parts": [{"size": int, "inner": {"text": str}}]}
HEAD = "kind: Thing\napiVersion: example.com/v1\n"


def read(text: str) -> object:
    return decode((HEAD + text).encode(), kind="Thing", versions=("example.com/v1", "example.com/v2"), fields=FIELDS)


def test_what_is_said_is_read_and_null_is_nothing() -> None:
    told = read("names: [a, b]\nenabled: true\nparts:\n- size: 3\n  inner: {text: x}\n- inner: null\n")
    assert told == {
        "kind": "Thing",
        "apiVersion": "example.com/v1",
        "names": ["a", "b"],
        "enabled": True,
        "parts": [{"size": 3, "inner": {"text": "x"}}, {}],
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("names: a", "names: must be a list"),
        ("names: [1]", r"names\[0\]: must be a text"),
        ("enabled: 1", "enabled: must be true or false"),
        ("parts: [{size: true}]", r"parts\[0\].size: must be a number"),
        ("parts: [7]", r"parts\[0\]: must be an object"),
        ("parts: [{inner: {txt: x}}]", r"parts\[0\].inner.txt: there is no such field"),
        ("enabled: true\nenabled: false", "enabled: said twice"),
        ("names: [1, 2]\nof: 1", r"names\[0\]: .*; names\[1\]: .*; of: there is no such field"),
    ],
)
def test_what_is_wrong_is_told_by_its_path(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read(text)


@pytest.mark.parametrize("text", ["", "[]", "{", "kind: Other\napiVersion: example.com/v1", "kind: Thing"])
def test_other_things(text: str) -> None:
    with pytest.raises(ConfigError):
        decode(text.encode(), kind="Thing", versions=("example.com/v1",), fields=FIELDS)
