"""Lists: order, sums, extremes, positions, cutting and rearranging."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hardpoint.machinery.cel.costs import LIST, traverses
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import Cost, Overload, Pause, function, member
from hardpoint.machinery.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    parameter,
)
from hardpoint.machinery.cel.values import (
    Duration,
    checked_duration,
    checked_int,
    checked_uint,
    equal,
    is_in,
    is_in_patiently,
    size_of,
)

T = parameter("T")
RANGE_MAX = 1_000_000
"""A longer one would cost more than any expression may."""
_COMPARABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)


def _allocates(size: Callable[[Sequence[Any]], float]) -> Cost:
    return lambda arguments: int(size(arguments)) + LIST + 1


def _whole(result: list[Any]) -> int:
    return len(result) + LIST + 1


def _compares_all(items: list[Any]) -> float:
    """Every item with every other."""
    factor = 2.1 if items and isinstance(items[0], str | bytes) else 2
    return factor * len(items) ** 2


def _is_sorted(items: list[Any]) -> bool:
    return all(not items[index] > items[index + 1] for index in range(len(items) - 1))


def _extreme(name: str, find: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    def of(items: list[Any]) -> Any:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        return find(items)

    return of


def _sum_double(items: list[float]) -> float:
    # Not sum() or fsum(), which are more exact than Go.
    total = 0.0
    for item in items:
        total += item
    return total


def _running(check: Callable[[int], Any]) -> Callable[[list[int]], Any]:
    """A sum that may not leave its range on the way."""

    def of(items: list[int]) -> Any:
        total = 0
        for item in items:
            total = int(check(total + item))
        return check(total)

    return of


def _sum_durations(items: list[Duration]) -> Duration:
    total = Duration(0)
    for item in items:
        total = checked_duration(total.nanoseconds + item.nanoseconds)
    return total


_SUMS: tuple[tuple[Type, Callable[[list[Any]], Any]], ...] = (
    (INT, _running(checked_int)),
    (UINT, _running(checked_uint)),
    (DOUBLE, _sum_double),
    (DURATION, _sum_durations),
)


def _index_of(items: list[Any], wanted: Any) -> int:
    if wanted not in items:
        return -1
    return next((index for index, item in enumerate(items) if equal(item, wanted)), -1)


def _last_index_of(items: list[Any], wanted: Any) -> int:
    if wanted not in items:
        return -1
    return next((index for index in range(len(items) - 1, -1, -1) if equal(items[index], wanted)), -1)


def _includes(target: Any, wanted: Any) -> bool:
    return is_in(wanted, target) if type(target) is list else equal(target, wanted)


def _range(count: int) -> list[int]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > RANGE_MAX:
        raise EvaluationError(f"lists.range: size {count} exceeds maximum allowed ({RANGE_MAX})")
    return list(range(count))


def _slice(items: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _flatten(items: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Any] = []
    for item in items:
        if type(item) is list and depth:
            flat += _flatten(item, depth - 1)
        else:
            flat.append(item)
    return flat


def _distinct(pause: Pause, items: list[Any]) -> list[Any]:
    found: list[Any] = []
    texts: set[str] = set()
    for item in items:
        if type(item) is str:
            if item not in texts:
                texts.add(item)
                found.append(item)
        elif not is_in_patiently(pause, item, found):
            found.append(item)
    return found


def _sort(items: list[Any]) -> list[Any]:
    return _sort_by(items, items)


def _sort_by(items: list[Any], keys: list[Any]) -> list[Any]:
    if len({type(key) for key in keys}) > 1:
        raise EvaluationError("list elements must have the same type")
    return [items[index] for index in sorted(range(len(items)), key=keys.__getitem__)]


def _of_comparable(type: Type) -> list[Overload]:
    items = list_of(type)
    return [
        member("isSorted", (items,), BOOL, _is_sorted, cost=traverses),
        member("max", (items,), type, _extreme("max", max), cost=traverses),
        member("min", (items,), type, _extreme("min", min), cost=traverses),
        # Each has a rule of its own: where it is not known which one is meant, cel-go takes none.
        member("sort", (items,), items, _sort, cost=_compared(0)),
        member("@sortByAssociatedKeys", (list_of(T), items), list_of(T), _sort_by, cost=_compared(1)),
    ]


def _compared(argument: int) -> Cost:
    return _allocates(lambda arguments: _compares_all(arguments[argument]))


_FLATTEN = _allocates(lambda arguments: size_of(arguments[0]) * (arguments[1] if len(arguments) > 1 else 1))
OVERLOADS = (
    *(overload for type in _COMPARABLE for overload in _of_comparable(type)),
    *(member("sum", (list_of(type),), type, add, cost=traverses) for type, add in _SUMS),
    member("indexOf", (list_of(T), T), INT, _index_of, cost=traverses),
    member("lastIndexOf", (list_of(T), T), INT, _last_index_of, cost=traverses),
    member("includes", (DYN, DYN), BOOL, _includes, cost=traverses),
    function("lists.range", (INT,), list_of(INT), _range, result_cost=_whole),
    member("slice", (list_of(T), INT, INT), list_of(T), _slice, result_cost=_whole),
    member("reverse", (list_of(T),), list_of(T), lambda items: items[::-1], result_cost=_whole),
    member("flatten", (list_of(list_of(T)),), list_of(T), _flatten, cost=_FLATTEN),
    member("flatten", (list_of(DYN), INT), list_of(DYN), _flatten, cost=_FLATTEN),
    member("distinct", (list_of(T),), list_of(T), _distinct, cost=_compared(0), is_slow=True),
)
