"""Texts, numbers and truth values: from a schema to Python's type, with the bounds that Field knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import SchemaError, SchemaValidator, core_schema

from hardpoint.seams.crd.guest.drafts import Typed
from hardpoint.seams.crd.guest.layout import Expr, literal, subscript
from hardpoint.seams.crd.guest.schema import INT_OR_STRING, INT_OR_STRING_CHOICES
from hardpoint.seams.crd.guest.values import QUANTITY_PATTERN

FORMATTED: Mapping[tuple[str, str], str] = {
    ("string", "date-time"): "datetime",
    ("string", "date"): "date",
    ("string", "duration"): "timedelta",
    ("string", "byte"): "bytes",
    ("string", "uuid"): "UUID",
    ("string", "ipv4"): "IPv4Address",
    ("string", "ipv6"): "IPv6Address",
    ("integer", "int32"): "Int32",
    ("integer", "int64"): "Int64",
}
PLAIN_NUMBERS = ("Int32", "Int64")
"""Formatted types that are written as JSON writes them, so that defaults and bounds may stand beside them."""
WRITTEN_OTHERWISE = frozenset(FORMATTED) - {("integer", "int32"), ("integer", "int64")}
"""Types whose values JSON writes in another way than Python."""
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
TEXT_BOUNDS = {"minLength": "min_length", "maxLength": "max_length"}


def scalar(typed: Typed) -> None:
    """Work out the type of a schema whose `type` is one of SCALARS."""
    left = typed.left
    type_of = left.pop("type")
    typed.type = Expr(SCALARS[type_of])
    if _is_literal(type_of, left.get("enum")):
        typed.type = subscript("Literal", *(literal(value) for value in left.pop("enum")))
        return
    formatted = FORMATTED.get((type_of, left.get("format", "")), "")
    if formatted in PLAIN_NUMBERS or (formatted and set(left) == {"format"}):
        del left["format"]
        typed.type = Expr(formatted)
    if typed.type.head == "str":
        _text_bounds(typed)
    if type_of in ("integer", "number"):
        _number_bounds(typed, is_whole=type_of == "integer")


def _is_literal(type_of: str, enum: Any) -> bool:
    known = {"string": str, "integer": int}.get(type_of)
    return bool(enum) and known is not None and all(type(value) is known for value in enum)


def int_or_string(typed: Typed) -> None:
    """Work out the type of a number or a text."""
    del typed.left[INT_OR_STRING]
    typed.left.pop("type", None)
    if typed.left.get("anyOf") == INT_OR_STRING_CHOICES:
        del typed.left["anyOf"]
    typed.type = Expr("IntOrString")
    if typed.left.get("pattern") == QUANTITY_PATTERN and "default" not in typed.left:
        del typed.left["pattern"]
        typed.type = Expr("Quantity")


def _number_bounds(typed: Typed, *, is_whole: bool) -> None:
    left = typed.left
    for bound, exclusive, names in (("minimum", "exclusiveMinimum", "ge gt"), ("maximum", "exclusiveMaximum", "le lt")):
        value = left.get(bound)
        if value is None or (is_whole and value != int(value)):
            continue
        inclusive, open_ended = names.split()
        typed.bounds[open_ended if left.pop(exclusive, False) else inclusive] = int(value) if is_whole else value
        del left[bound]
    factor = left.get("multipleOf")
    if factor is not None and is_whole and factor == int(factor):
        typed.bounds["multiple_of"] = int(left.pop("multipleOf"))


def _text_bounds(typed: Typed) -> None:
    typed.bound(TEXT_BOUNDS)
    if "pattern" in typed.left and _compiles(typed.left["pattern"]):
        typed.bounds["pattern"] = typed.left.pop("pattern")


def _compiles(pattern: str) -> bool:
    """Whether pydantic's regular expressions know it; Go's know a little more."""
    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError:
        return False
    return True
