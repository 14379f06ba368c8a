"""When two JSON values are the same."""

from __future__ import annotations

from typing import Any


def is_equal(left: Any, right: Any) -> bool:
    """As ==, but true is not 1."""
    if left.__class__ is dict and right.__class__ is dict:
        return left.keys() == right.keys() and all(is_equal(left[key], right[key]) for key in left)
    if left.__class__ is list and right.__class__ is list:
        return len(left) == len(right) and all(map(is_equal, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and bool(left == right)
