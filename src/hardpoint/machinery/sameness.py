"""Whether two JSON values are the same: to Python true equals 1, to JSON it does not."""

from __future__ import annotations

from typing import Any


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal and nowhere is one a bool where the other is a number."""
    equal: bool = one == other
    return equal and _are_alike(one, other)


def _are_alike(one: Any, other: Any) -> bool:
    """As `is_same`, of values that are equal."""
    if one.__class__ is dict:
        return all(_are_alike(value, other[name]) for name, value in one.items())
    if one.__class__ is list:
        return all(map(_are_alike, one, other))
    return (one.__class__ is bool) is (other.__class__ is bool)


def differs(one: Any, other: Any) -> bool:
    """Whether two values are not the same."""
    return not is_same(one, other)
