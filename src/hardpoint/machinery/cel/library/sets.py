"""Lists taken for sets: `sets.contains`, `sets.intersects`, `sets.equivalent`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hardpoint.machinery.cel.functions import function
from hardpoint.machinery.cel.types import BOOL, list_of, parameter
from hardpoint.machinery.cel.values import is_in, size_of

_PAIR = (list_of(parameter("T")), list_of(parameter("T")))


def _contains(items: list[Any], wanted: list[Any]) -> bool:
    return all(is_in(item, items) for item in wanted)


def _intersects(items: list[Any], others: list[Any]) -> bool:
    return any(is_in(item, items) for item in others)


def _equivalent(items: list[Any], others: list[Any]) -> bool:
    return _contains(items, others) and _contains(others, items)


def _cost(times: int) -> Callable[[Sequence[Any]], int]:
    return lambda arguments: 1 + times * size_of(arguments[0]) * size_of(arguments[1])


OVERLOADS = (
    function("sets.contains", _PAIR, BOOL, _contains, cost=_cost(1)),
    function("sets.intersects", _PAIR, BOOL, _intersects, cost=_cost(1)),
    function("sets.equivalent", _PAIR, BOOL, _equivalent, cost=_cost(2)),
)
