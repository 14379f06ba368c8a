"""Arithmetic, order, membership and size."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from hardpoint.machinery.cel.costs import compares, concatenates
from hardpoint.machinery.cel.errors import CostExceeded, EvaluationError
from hardpoint.machinery.cel.functions import Cost, Overload, function, member
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
    map_of,
    optional_of,
    parameter,
    type_of,
)
from hardpoint.machinery.cel.values import (
    Duration,
    Timestamp,
    TypeValue,
    UInt,
    checked_duration,
    checked_int,
    checked_timestamp,
    checked_uint,
    equal,
    is_in,
    is_in_patiently,
    size_of,
    type_name,
)

A, B = parameter("A"), parameter("B")
_ORDERED = (BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION)
_NUMBERS = (INT, UINT, DOUBLE)
_ITEMS_MAX = 2_000_000


def _ordering(name: str, compare: Callable[[Any, Any], bool]) -> list[Overload]:
    def cost(type: Type) -> Cost:
        return compares if type in (STRING, BYTES) else 1

    def compare_numbers(left: Any, right: Any) -> bool:
        if left != left or right != right:
            raise EvaluationError("NaN values cannot be ordered")
        return compare(left, right)

    same = [
        function(name, (type, type), BOOL, compare_numbers if type == DOUBLE else compare, cost=cost(type))
        for type in _ORDERED
    ]
    mixed = [
        function(name, (left, right), BOOL, compare_numbers) for left in _NUMBERS for right in _NUMBERS if left != right
    ]
    return same + mixed


def _divide_int(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("division by zero")
    # Go truncates towards zero where Python rounds down.
    quotient = abs(left) // abs(right)
    return checked_int(quotient if (left < 0) == (right < 0) else -quotient)


def _modulo_int(left: int, right: int) -> int:
    if right == 0:
        raise EvaluationError("modulus by zero")
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def _divide_uint(left: int, right: int) -> UInt:
    if right == 0:
        raise EvaluationError("division by zero")
    return UInt(left // right)


def _modulo_uint(left: int, right: int) -> UInt:
    if right == 0:
        raise EvaluationError("modulus by zero")
    return UInt(left % right)


def _divide_double(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:
        return float("nan")
    return float("inf") if (left > 0) == (str(right)[0] != "-") else float("-inf")


def _multiply_double(left: float, right: float) -> float:
    return left * right


def _concatenate(left: list[Any], right: list[Any]) -> list[Any]:
    # For cel-go this is free, because it copies nothing.
    if len(left) + len(right) > _ITEMS_MAX:
        raise CostExceeded
    return left + right


def _later(moment: Timestamp, length: Duration) -> Timestamp:
    return checked_timestamp(moment.nanoseconds + length.nanoseconds)


def _not_special(*_: Any) -> Any:
    raise AssertionError("the planner has a step of its own for this")


def _specials() -> list[Overload]:
    """What the checker must know, and the planner does without calling anything."""
    return [
        function("_==_", (A, A), BOOL, equal),
        function("_!=_", (A, A), BOOL, lambda left, right: not equal(left, right)),
        function("_&&_", (BOOL, BOOL), BOOL, _not_special),
        function("_||_", (BOOL, BOOL), BOOL, _not_special),
        function("_?_:_", (BOOL, A, A), A, _not_special),
        function("_[_]", (list_of(A), INT), A, _not_special),
        function("_[_]", (map_of(A, B), A), B, _not_special),
        function("_[_]", (optional_of(list_of(A)), INT), optional_of(A), _not_special),
        function("_[_]", (optional_of(map_of(A, B)), A), optional_of(B), _not_special),
        function("_[?_]", (list_of(A), INT), optional_of(A), _not_special),
        function("_[?_]", (optional_of(list_of(A)), INT), optional_of(A), _not_special),
        function("_[?_]", (map_of(A, B), A), optional_of(B), _not_special),
        function("_[?_]", (optional_of(map_of(A, B)), A), optional_of(B), _not_special),
        function("dyn", (A,), DYN, lambda value: value),
    ]


def _arithmetic() -> list[Overload]:
    return [
        function("_+_", (INT, INT), INT, lambda left, right: checked_int(left + right)),
        function("_+_", (STRING, STRING), STRING, operator.add, cost=concatenates),
        function("_+_", (DOUBLE, DOUBLE), DOUBLE, operator.add),
        function("_+_", (UINT, UINT), UINT, lambda left, right: checked_uint(left + right)),
        function("_+_", (BYTES, BYTES), BYTES, operator.add, cost=concatenates),
        function("_+_", (list_of(A), list_of(A)), list_of(A), _concatenate),
        function(
            "_+_", (DURATION, DURATION), DURATION, lambda one, two: checked_duration(one.nanoseconds + two.nanoseconds)
        ),
        function("_+_", (TIMESTAMP, DURATION), TIMESTAMP, _later),
        function("_+_", (DURATION, TIMESTAMP), TIMESTAMP, lambda length, moment: _later(moment, length)),
        function("_-_", (INT, INT), INT, lambda left, right: checked_int(left - right)),
        function("_-_", (DOUBLE, DOUBLE), DOUBLE, operator.sub),
        function("_-_", (UINT, UINT), UINT, lambda left, right: checked_uint(left - right)),
        function(
            "_-_", (DURATION, DURATION), DURATION, lambda one, two: checked_duration(one.nanoseconds - two.nanoseconds)
        ),
        function(
            "_-_",
            (TIMESTAMP, DURATION),
            TIMESTAMP,
            lambda moment, length: checked_timestamp(moment.nanoseconds - length.nanoseconds),
        ),
        function(
            "_-_",
            (TIMESTAMP, TIMESTAMP),
            DURATION,
            lambda one, two: checked_duration(one.nanoseconds - two.nanoseconds),
        ),
        function("_*_", (INT, INT), INT, lambda left, right: checked_int(left * right)),
        function("_*_", (DOUBLE, DOUBLE), DOUBLE, _multiply_double),
        function("_*_", (UINT, UINT), UINT, lambda left, right: checked_uint(left * right)),
        function("_/_", (INT, INT), INT, _divide_int),
        function("_/_", (DOUBLE, DOUBLE), DOUBLE, _divide_double),
        function("_/_", (UINT, UINT), UINT, _divide_uint),
        function("_%_", (INT, INT), INT, _modulo_int),
        function("_%_", (UINT, UINT), UINT, _modulo_uint),
        function("-_", (INT,), INT, lambda value: checked_int(-value)),
        function("-_", (DOUBLE,), DOUBLE, operator.neg),
        function("!_", (BOOL,), BOOL, operator.not_),
    ]


def _sizes() -> list[Overload]:
    sized = (STRING, BYTES, list_of(A), map_of(A, B))
    return [style("size", (type,), INT, len) for type in sized for style in (function, member)]


OVERLOADS = (
    *_specials(),
    *_arithmetic(),
    *_ordering("_<_", operator.lt),
    *_ordering("_<=_", operator.le),
    *_ordering("_>_", operator.gt),
    *_ordering("_>=_", operator.ge),
    *_sizes(),
    function("@in", (A, list_of(A)), BOOL, is_in_patiently, cost=lambda arguments: size_of(arguments[1]), is_slow=True),
    function("@in", (A, map_of(A, B)), BOOL, is_in),
    function("type", (A,), type_of(A), lambda value: TypeValue(type_name(value))),
)
