"""Values while an expression is evaluated, and the rules that hold for all of them: equality, order, size, type.

Most are plain Python: None, bool, int, float, str, bytes, list, dict; objects are dicts too. What Python lacks is here:
unsigned integers, points and lengths of time in nanoseconds, optionals. Python takes True for 1, CEL does not, so that
containers are compared by `equal`, never by `==`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from hardpoint.machinery.cel.errors import EvaluationError

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
UINT_MAX = 2**64 - 1
TIMESTAMP_MIN, TIMESTAMP_MAX = -62_135_596_800 * 10**9, 253_402_300_800 * 10**9 - 1


class UInt(int):
    """An unsigned 64-bit integer. Arithmetic on it gives a plain int, which the operators check and wrap again."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    nanoseconds: int


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """Nanoseconds since 1970 in UTC, within the years 1 to 9999."""

    nanoseconds: int


class Optional:
    """A value that may be missing. `NONE` is the one that is."""

    __slots__ = ("_value", "has_value")

    def __init__(self, value: Any, has_value: bool = True) -> None:
        self._value = value
        self.has_value = has_value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Optional) and equal(self, other)

    __hash__ = None  # type: ignore[assignment]  # It may hold a list.

    def value(self) -> Any:
        """Raises EvaluationError if there is none."""
        if not self.has_value:
            raise EvaluationError("optional.none() dereference")
        return self._value


NONE: Final = Optional(None, has_value=False)


@dataclass(frozen=True, slots=True)
class TypeValue:
    """What `type(x)` gives."""

    name: str


class Opaque:
    """A value that only functions look into. Subclasses say which type they are, and compare as Python does."""

    type_name: str
    size = 1

    __slots__ = ()


_NAMES: dict[type, str] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    dict: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeValue: "type",
}
_NUMBERS = frozenset((int, UInt, float))
_CONFUSED = frozenset((bool, list, dict, Optional))


def type_name(value: Any) -> str:
    """The name of a value's type, as `type()` and error messages have it."""
    name = _NAMES.get(type(value))
    return name if name is not None else getattr(value, "type_name", type(value).__name__)


def equal(left: Any, right: Any) -> bool:
    """Numbers are equal across their types; everything else needs the same type on both sides."""
    kind, other = type(left), type(right)
    if kind is list or kind is dict:
        # Python finds more things equal than CEL does, and finds it fast.
        return other is kind and left == right and _is_alike(left, right)
    if kind is Optional:
        return other is Optional and _equal_optionals(left, right)
    return (kind is other or (kind in _NUMBERS and other in _NUMBERS)) and bool(left == right)


def _is_alike(left: Any, right: Any) -> bool:
    """Do two values that Python finds equal have the same types throughout?"""
    kind = type(left)
    if kind is list:
        if _CONFUSED.isdisjoint(map(type, left)) and _CONFUSED.isdisjoint(map(type, right)):
            return True
        return type(right) is list and all(map(_is_alike, left, right))
    if kind is dict:
        return type(right) is dict and _has_same_values(left, right)
    return (kind is bool) is (type(right) is bool)


def _has_same_values(left: dict[Any, Any], right: dict[Any, Any]) -> bool:
    if set(map(type, left)) != {str}:
        return all(_has_equal(right, key, value) for key, value in left.items())
    if _CONFUSED.isdisjoint(map(type, left.values())) and _CONFUSED.isdisjoint(map(type, right.values())):
        return True
    return all(_is_alike(value, right[key]) for key, value in left.items())


def _has_equal(mapping: dict[Any, Any], key: Any, value: Any) -> bool:
    found = find(mapping, key)
    return found is not MISSING and equal(value, found)


def _equal_optionals(left: Optional, right: Optional) -> bool:
    if left.has_value and right.has_value:
        return equal(left.value(), right.value())
    return left.has_value == right.has_value


class _Missing:
    """Stands for what a map does not have."""


MISSING: Final = _Missing()


def find(mapping: dict[Any, Any], key: Any) -> Any:
    """The value of a key, or MISSING. Keys of a map are of one type, so that the first tells whether they are bools."""
    if type(key) is str:
        return mapping.get(key, MISSING)
    found = mapping.get(checked_key(key), MISSING)
    if found is not MISSING and (type(key) is bool) is not (type(next(iter(mapping))) is bool):
        return MISSING
    return found


def checked_key(key: Any) -> Any:
    """The key itself. Raises EvaluationError for what no map has as a key."""
    if type(key) not in _KEYS:
        raise EvaluationError(f"unsupported key type: {type_name(key)}")
    return key


_KEYS = frozenset((str, bool, int, UInt, float))


def is_in(value: Any, container: Any) -> bool:
    """`value in list` or `key in map`."""
    if type(container) is dict:
        return find(container, value) is not MISSING
    # What Python does not find equal is not equal; what it does may still be True for 1.
    return value in container and (type(value) is str or any(equal(value, item) for item in container))


def is_in_patiently(pause: Callable[[], None], value: Any, items: list[Any]) -> bool:
    """`value in items`; between two items that have much in them, `pause` is called."""
    if type(value) not in (list, dict):
        return is_in(value, items)
    for item in items:
        pause()
        if equal(value, item):
            return True
    return False


def size_of(value: Any) -> int:
    """How big a value is for those who count costs: characters, items, entries; 1 for all else."""
    kind = type(value)
    if kind is str or kind is list or kind is dict or kind is bytes:
        return len(value)
    if kind is Optional:
        return size_of(value.value()) if value.has_value else 1
    return value.size if isinstance(value, Opaque) else 1


def checked_int(value: int) -> int:
    if INT_MIN <= value <= INT_MAX:
        return value
    raise EvaluationError("integer overflow")


def checked_uint(value: int) -> UInt:
    if 0 <= value <= UINT_MAX:
        return UInt(value)
    raise EvaluationError("unsigned integer overflow")


def checked_duration(nanoseconds: int) -> Duration:
    if INT_MIN <= nanoseconds <= INT_MAX:
        return Duration(nanoseconds)
    raise EvaluationError("duration overflow")


def checked_timestamp(nanoseconds: int) -> Timestamp:
    if TIMESTAMP_MIN <= nanoseconds <= TIMESTAMP_MAX:
        return Timestamp(nanoseconds)
    raise EvaluationError("timestamp overflow")
