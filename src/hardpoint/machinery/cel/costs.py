"""What work costs, in the units of cel-go and of the Kubernetes libraries: about one unit an operation.

Reading a whole text costs a tenth of its length; a regular expression costs text times pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hardpoint.machinery.cel.values import size_of

PER_CALL_MAX = 1_000_000
"""What one evaluation of one expression may cost."""
MATCH_CONDITIONS_MAX = 2_500_000
"""What all match conditions for one request may cost together."""

FREE_RESULT_MAX = 1000
"""Longer texts cost what they are long, whatever made them."""

SELECT = 1
LIST = 10
MAP = 30
OBJECT = 40

Rule = Callable[[Sequence[Any]], int]


def read(size: int) -> int:
    """Reading so many characters once: a tenth, rounded up."""
    return (size + 9) // 10


def regex(text: int, pattern: int) -> int:
    return read(text + 1) * -(-pattern // 4)


def reads(argument: int, *, times: int = 1) -> Rule:
    """Reads one argument, so many times."""
    return lambda arguments: read(size_of(arguments[argument]) * times)


def makes(result: Any) -> int:
    """Writes a long text. cel-go counts only what is read, so that a small template may make a big text for nothing."""
    size = size_of(result)
    return read(size) if size > FREE_RESULT_MAX else 0


def searches(arguments: Sequence[Any]) -> int:
    """Applies a pattern, the second argument, to a text."""
    return regex(size_of(arguments[0]), size_of(arguments[1]))


def compares(arguments: Sequence[Any]) -> int:
    """Reads two texts as far as the shorter goes."""
    return read(min(size_of(arguments[0]), size_of(arguments[1])))


def concatenates(arguments: Sequence[Any]) -> int:
    return read(size_of(arguments[0]) + size_of(arguments[1]))


def contains(arguments: Sequence[Any]) -> int:
    return read(size_of(arguments[0])) * read(size_of(arguments[1]))


def joins(result: Any) -> int:
    return read(size_of(result) * 2)


def traverses(arguments: Sequence[Any]) -> int:
    """Goes through a list once, and through the texts in it."""
    return traversal(arguments[0])


def traversal(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value) // 10
    if isinstance(value, list):
        return sum(map(traversal, value))
    if isinstance(value, dict):
        return sum(traversal(key) + traversal(item) for key, item in value.items())
    return 1
