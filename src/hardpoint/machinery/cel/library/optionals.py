"""Values that may be missing: `optional.of(x)`, `o.hasValue()`, `o.value()`, the first and the last of a list."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.cel.functions import function, member
from hardpoint.machinery.cel.types import BOOL, list_of, optional_of, parameter
from hardpoint.machinery.cel.values import NONE, Duration, Optional, Timestamp

V = parameter("V")
_ZEROES: tuple[Any, ...] = (None, False, 0, 0.0, "", b"", [], {}, Duration(0))


def _of_non_zero(value: Any) -> Optional:
    is_zero = not isinstance(value, Timestamp) and any(value == zero for zero in _ZEROES)
    return NONE if is_zero else Optional(value)


def _unwrap(items: list[Optional]) -> list[Any]:
    return [item.value() for item in items if item.has_value]


def _special(*_: Any) -> Any:
    raise AssertionError("the planner has a step of its own for this")


OVERLOADS = (
    function("optional.none", (), optional_of(V), lambda: NONE),
    function("optional.of", (V,), optional_of(V), Optional),
    function("optional.ofNonZeroValue", (V,), optional_of(V), _of_non_zero),
    function("optional.unwrap", (list_of(optional_of(V)),), list_of(V), _unwrap),
    member("unwrapOpt", (list_of(optional_of(V)),), list_of(V), _unwrap),
    member("hasValue", (optional_of(V),), BOOL, lambda optional: optional.has_value),
    member("value", (optional_of(V),), V, lambda optional: optional.value()),
    member("or", (optional_of(V), optional_of(V)), optional_of(V), _special),
    member("orValue", (optional_of(V), V), V, _special),
    member("first", (list_of(V),), optional_of(V), lambda items: Optional(items[0]) if items else NONE),
    member("last", (list_of(V),), optional_of(V), lambda items: Optional(items[-1]) if items else NONE),
)
