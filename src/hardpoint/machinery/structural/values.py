"""What schemas ask of single values: enums, the formats of strings, and all about numbers.

Shared by `checked`, which wants a yes or no, and `explained`, which wants words. The numbers follow kube-openapi to
the letter, down to limits that are themselves out of range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, invalid, number_as_go
from hardpoint.machinery.sameness import is_same
from hardpoint.machinery.structural import formats
from hardpoint.machinery.structural.keywords import INT_OR_STRING

Json = dict[str, Any]

NOWHERE = "<nil>"
"""How Go prints the path of a problem that has none."""

_LIMITS = {"int32": 2**31, "int64": 2**63}
_FLOAT_MAX = 3.4028235677973366e38
_EXACT_MAX = float(2**53 - 1)
_NEAR_ENOUGH = 1e-9
_ABOUT_NUMBERS = ("multipleOf", "minimum", "maximum")


def where(path: str, name: str) -> str:
    """The path of a problem: kube-openapi's name of the value, below the path of what is validated."""
    name = name.removeprefix(".")
    if not name:
        return path or NOWHERE
    return f"{path}.{name}" if path else name


def single_type(schema: Json) -> str:
    return "" if schema.get(INT_OR_STRING) else schema.get("type", "")


def string_format(schema: Json) -> formats.Format | None:
    """The check of the format of strings, where the schema names one that is known."""
    name = schema.get("format")
    return formats.find(name) if name and single_type(schema) in ("", "string") else None


def enum_check(enum: Sequence[Any]) -> Callable[[Any], bool]:
    """Whether a value is listed. Go compares a number with a listed one as a number of the listed one's type."""
    texts = frozenset(each for each in enum if isinstance(each, str))
    numbers = [each for each in enum if isinstance(each, int | float) and not isinstance(each, bool)]
    rest = [each for each in enum if isinstance(each, bool | list | dict)]

    def is_listed(value: Any) -> bool:
        if value.__class__ is str:
            return value in texts
        if value.__class__ is int or value.__class__ is float:
            return any((int(value) if isinstance(each, int) else float(value)) == each for each in numbers)
        return any(is_same(each, value) for each in rest)

    return is_listed


def is_whole(number: float) -> bool:
    """Whether Go takes a float for an integer: near enough is good enough, too large is not."""
    if not abs(number) <= _EXACT_MAX:
        return False
    rounded = float(int(number))
    return number == rounded or abs(number - rounded) / (abs(number) + abs(rounded)) < _NEAR_ENOUGH


def range_of(schema: Json) -> float | None:
    """The number that is too large, and below whose negative numbers are too small; None where more is asked."""
    if any(schema.get(word) is not None for word in _ABOUT_NUMBERS):
        return None
    if single_type(schema) == "integer":
        return _LIMITS.get(schema.get("format", ""), _LIMITS["int64"])
    return inf if schema.get("format") != "float" else None


def number_problems(path: str, name: str, value: float, schema: Json) -> Iterator[FieldError]:
    """What is wrong with a number."""
    yield from _range(path, name, value, schema, "Checked")
    factor, least, most = (schema.get(word) for word in _ABOUT_NUMBERS)
    if factor is not None:
        unfit = list(_range(path, name, factor, schema, "MultipleOf"))
        yield from unfit
        yield from _multiple(path, name, value, factor, as_integers=isinstance(value, int) and not unfit)
    if least is not None:
        unfit = list(_range(path, name, least, schema, "Minimum boundary"))
        yield from unfit
        limit = int(least) if isinstance(value, int) and not unfit else float(least)
        exclusive = schema.get("exclusiveMinimum")
        if value <= limit if exclusive else value < limit:
            words = "greater than" if exclusive else "greater than or equal to"
            yield invalid(where(path, name), value, f"{name} in body should be {words} {number_as_go(limit)}")
    if most is not None:
        unfit = list(_range(path, name, most, schema, "Maximum boundary"))
        yield from unfit
        limit = int(most) if isinstance(value, int) and not unfit else float(most)
        exclusive = schema.get("exclusiveMaximum")
        if value >= limit if exclusive else value > limit:
            words = "less than" if exclusive else "less than or equal to"
            yield invalid(where(path, name), value, f"{name} in body should be {words} {number_as_go(limit)}")


def _range(path: str, name: str, value: float, schema: Json, what: str) -> Iterator[FieldError]:
    """A number must fit its type and format; so must the limits that the schema sets."""
    kind, layout = single_type(schema), schema.get("format", "")
    if kind == "integer":
        limit = _LIMITS.get(layout, _LIMITS["int64"])
        fits = float(value).is_integer() and -limit <= value < limit
        layout = layout if layout in _LIMITS else ""
    else:
        layout = layout if kind == "number" and layout == "float" else ""
        fits = not layout or abs(value) <= _FLOAT_MAX
    if not fits:
        told = f"with format {layout}" if layout else "(default format)"
        yield invalid(path or NOWHERE, "", f"{what} value must be of type {kind} {told} in {name}")


def _multiple(path: str, name: str, value: float, factor: float, *, as_integers: bool) -> Iterator[FieldError]:
    divisor = int(factor) if as_integers else float(factor)
    if divisor <= 0:
        told = f"factor MultipleOf declared for {name} must be positive: {number_as_go(divisor)}"
        yield invalid(where(path, name), divisor, told)
        return
    if as_integers:
        fits = value % divisor == 0
    else:
        fits = is_whole(1 / divisor * value if divisor < 1 else value / divisor)
    if not fits:
        yield invalid(where(path, name), value, f"{name} in body should be a multiple of {number_as_go(divisor)}")
