"""What is wrong with one field of an object, in kube-apiserver's words.

A validation returns a list of FieldErrors and raises nothing; `errors.invalid` turns the list into a 422. Paths are
plain strings: `at("spec.containers", 0)` is `spec.containers[0]`, `at("data", key="a.b")` is `data[a.b]`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import orjson

# causes[].reason to (the printed name, whether the bad value is shown).
PRINTED = {
    "FieldValueRequired": ("Required value", False),
    "FieldValueForbidden": ("Forbidden", False),
    "FieldValueTooLong": ("Too long", False),
    "FieldValueTooShort": ("Too short", False),
    "InternalError": ("Internal error", False),
    "FieldValueInvalid": ("Invalid value", True),
    "FieldValueTypeInvalid": ("Invalid value", True),
    "FieldValueNotSupported": ("Unsupported value", True),
    "FieldValueNotFound": ("Not found", True),
    "FieldValueDuplicate": ("Duplicate value", True),
    "FieldValueTooMany": ("Too many", True),
    "FieldValueTooFew": ("Too few", True),
}


class FieldError(NamedTuple):
    """One problem with one field. `shown` is the bad value as it is printed, "" where it is not."""

    reason: str
    field: str
    shown: str
    detail: str
    is_tolerated: bool = False
    """Whether it was there before and did not change: then it is told, and refuses nothing."""

    def tolerated(self, is_tolerated: bool) -> FieldError:
        return self._replace(is_tolerated=True) if is_tolerated else self

    def body(self) -> str:
        """The text without the field: `Invalid value: "x": must be no more than 63 characters`."""
        printed, shows_value = PRINTED[self.reason]
        text = f"{printed}: {self.shown}" if shows_value and self.shown else printed
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body()}"

    def cause(self) -> dict[str, str]:
        """Its entry in `details.causes`."""
        return {"reason": self.reason, "message": self.body(), "field": self.field}


def at(path: str, index: int | None = None, *, key: str | None = None) -> str:
    """The path of a list's item, or of a map's entry."""
    return f"{path}[{index if key is None else key}]"


def under(path: str, name: str) -> str:
    """The path of a field below `path`, which may be empty."""
    return f"{path}.{name}" if path else name


def show(value: Any) -> str:
    """A bad value as it is printed: strings and numbers as Go prints them, everything else as JSON."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, float):
        return number_as_go(value)
    return json_as_go(value, orjson.OPT_SORT_KEYS)


_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def number_as_go(number: float) -> str:
    """Go's %v: integers in digits, floats in as few as tell them apart, with an exponent from 1e+06 on."""
    if isinstance(number, int):
        return str(number)
    if number == 0 or 1e-4 <= abs(number) < 1e6:
        return repr(number).removesuffix(".0")
    written = (f"{number:.{places}e}" for places in range(18))
    mantissa, _, exponent = next(text for text in written if float(text) == number).partition("e")
    return f"{mantissa}e{int(exponent):+03d}"


def json_as_go(value: Any, option: int = 0) -> str:
    """JSON as Go's encoder writes it: what HTML would mind is escaped."""
    return orjson.dumps(value, option=option).decode().translate(_HTML)


_QUOTED = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def quote(text: str) -> str:
    """Go's %q."""
    return '"' + "".join(_quoted(character) for character in text) + '"'


def _quoted(character: str) -> str:
    if character in _QUOTED:
        return _QUOTED[character]
    if character.isprintable():
        return character
    point = ord(character)
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def required(field: str, detail: str = "") -> FieldError:
    return FieldError("FieldValueRequired", field, "", detail)


def invalid(field: str, value: Any, detail: str) -> FieldError:
    return FieldError("FieldValueInvalid", field, show(value), detail)


def invalids(field: str, value: Any, details: Iterable[str]) -> list[FieldError]:
    """One error for each thing wrong with a value, as the functions of `names` tell them."""
    return [invalid(field, value, detail) for detail in details]


def type_invalid(field: str, value: Any, detail: str) -> FieldError:
    return FieldError("FieldValueTypeInvalid", field, show(value), detail)


def forbidden(field: str, detail: str) -> FieldError:
    return FieldError("FieldValueForbidden", field, "", detail)


def duplicate(field: str, value: Any) -> FieldError:
    return FieldError("FieldValueDuplicate", field, show(value), "")


def not_found(field: str, value: Any) -> FieldError:
    return FieldError("FieldValueNotFound", field, show(value), "")


def not_supported(field: str, value: Any, supported: Iterable[str]) -> FieldError:
    """`supported` is listed as given; kube-apiserver sorts it nearly everywhere, so callers pass `sorted(...)`."""
    listed = ", ".join(quote(value) for value in supported)
    return FieldError("FieldValueNotSupported", field, show(value), f"supported values: {listed}" if listed else "")


def too_long(field: str, limit: int) -> FieldError:
    unit = "byte" if limit == 1 else "bytes"
    return FieldError("FieldValueTooLong", field, "", f"may not be more than {limit} {unit}")


def too_many(field: str, actual: int, limit: int) -> FieldError:
    items = "item" if limit == 1 else "items"
    return FieldError("FieldValueTooMany", field, str(actual), f"must have at most {limit} {items}")
