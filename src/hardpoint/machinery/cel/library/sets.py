"""Lists taken for sets: `sets.contains`, `sets.intersects`, `sets.equivalent`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hardpoint.machinery.cel.functions import Pause, function
from hardpoint.machinery.cel.types import BOOL, list_of, parameter
from hardpoint.machinery.cel.values import is_in_patiently, size_of

_PAIR = (list_of(parameter("T")), list_of(parameter("T")))


def _contains(pause: Pause, items: list[Any], wanted: list[Any]) -> bool:
    return all(is_in_patiently(pause, item, items) for item in wanted)


def _intersects(pause: Pause, items: list[Any], others: list[Any]) -> bool:
    return any(is_in_patiently(pause, item, items) for item in others)


def _equivalent(pause: Pause, items: list[Any], others: list[Any]) -> bool:
    return _contains(pause, items, others) and _contains(pause, others, items)


def _cost(times: int) -> Callable[[Sequence[Any]], int]:
    return lambda arguments: 1 + times * size_of(arguments[0]) * size_of(arguments[1])


OVERLOADS = (
    function("sets.contains", _PAIR, BOOL, _contains, cost=_cost(1), is_slow=True),
    function("sets.intersects", _PAIR, BOOL, _intersects, cost=_cost(1), is_slow=True),
    function("sets.equivalent", _PAIR, BOOL, _equivalent, cost=_cost(2), is_slow=True),
)
