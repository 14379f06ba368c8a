"""Numbers as Go holds them after they were written and read once: `1.0` is 1, and what no integer holds is a float."""

from __future__ import annotations

from typing import Any

# What a float tells apart from its neighbours, and what Go's integers hold.
_EXACT_MAX = float(2**53 - 1)
_INTEGER_MAX = 2**63 - 1


def number(value: float) -> float:
    """One number as Go holds it."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _EXACT_MAX else value
    return value if -_INTEGER_MAX <= value <= _INTEGER_MAX else float(value)


def numbers(value: Any) -> Any:
    """A copy of a JSON value with all its numbers as Go holds them. Raises RecursionError where it lies too deep."""
    if value.__class__ is dict:
        return {name: numbers(below) for name, below in value.items()}
    if value.__class__ is list:
        return [numbers(item) for item in value]
    return number(value) if value.__class__ is float or value.__class__ is int else value
