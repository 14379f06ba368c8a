"""JSON values that are the same, and those that only Python takes for it."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.sameness import differs, is_same


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1, True),
        (1, True, False),
        (0, False, False),
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": True}]}, True),
        ({"a": [1, {"b": True}]}, {"a": [1, {"b": 1}]}, False),
        ([1, 2], [1], False),
        ({"a": None}, {}, False),
        (1, 1.0, True),
    ],
)
def test_is_same(one: Any, other: Any, same: bool) -> None:
    assert is_same(one, other) is same
    assert differs(one, other) is not same
