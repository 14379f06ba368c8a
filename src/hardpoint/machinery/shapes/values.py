"""Values that decode by themselves: scalars, times, amounts, and what is passed through as it is.

Each decoder takes a value that is not null and returns it as Go writes it, or raises Misfit. Why it does not fit is for
`explained` to find out.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.jsonexact import HugeNumber
from hardpoint.machinery.quantity import BadQuantity, canonical
from hardpoint.machinery.shapes import gotime

META = "apimachinery.pkg.apis.meta.v1."
SCHEMAS = "apiextensions-apiserver.pkg.apis.apiextensions.v1."
TIME = META + "Time"
MICRO_TIME = META + "MicroTime"
QUANTITY = "apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING = "apimachinery.pkg.util.intstr.IntOrString"
AS_THEY_ARE = frozenset({"apimachinery.pkg.runtime.RawExtension", META + "FieldsV1", SCHEMAS + "JSON"})
LISTS_OF_STRINGS = frozenset(
    {
        "api.authentication.v1.AttestationValue",
        "api.authentication.v1.ExtraValue",
        "api.authorization.v1.ExtraValue",
        "api.certificates.v1.ExtraValue",
        META + "Verbs",
    }
)

INTEGERS: Mapping[str, int] = {"int32": 2**31, "int64": 2**63}
"""The integer types, each with the first number that is too large."""

# From here on Go writes an exponent.
_EXPONENT_FROM = 1e21


class Misfit(Exception):
    """The value does not fit the type."""


def string(item: Any, _: list[str]) -> Any:
    if item.__class__ is not str:
        raise Misfit
    return item


def boolean(item: Any, _: list[str]) -> Any:
    if item.__class__ is not bool:
        raise Misfit
    return item


def int32(item: Any, _: list[str]) -> Any:
    if item.__class__ is int and -0x80000000 <= item < 0x80000000:
        return item
    raise Misfit


def int64(item: Any, _: list[str]) -> Any:
    if item.__class__ is int and -0x8000000000000000 <= item < 0x8000000000000000:
        return item
    raise Misfit


def double(item: Any, _: list[str]) -> Any:
    if item.__class__ is not float and item.__class__ is not int:
        raise Misfit
    try:
        number = float(item)
    except OverflowError:
        raise Misfit from None
    if number - number != 0:
        raise Misfit
    return int(number) if number.is_integer() and abs(number) < _EXPONENT_FROM else number


def base64(item: Any, _: list[str]) -> Any:
    """Bytes: base64 with padding, which Go allows to be broken into lines, or a list of numbers."""
    try:
        if item.__class__ is str:
            content = binascii.a2b_base64(item.replace("\n", "").replace("\r", ""), strict_mode=True)
        elif item.__class__ is list and all(byte.__class__ is int for byte in item):
            content = bytes(item)
        else:
            raise Misfit
    except ValueError:
        raise Misfit from None
    return binascii.b2a_base64(content, newline=False).decode()


def time(item: Any, _: list[str]) -> Any:
    return _moment(item, gotime.seconds)


def micro_time(item: Any, _: list[str]) -> Any:
    return _moment(item, gotime.microseconds)


def _moment(item: Any, rewritten: Callable[[str], str | None]) -> str | None:
    if item.__class__ is not str:
        raise Misfit
    try:
        return rewritten(item)
    except gotime.BadTime:
        raise Misfit from None


def quantity(item: Any, _: list[str]) -> Any:
    try:
        if item.__class__ is str:
            return canonical(item)
        if isinstance(item, int | float) and item.__class__ is not bool:
            return canonical(amount(item))
    except BadQuantity:
        raise Misfit from None
    raise Misfit


def amount(item: Any) -> Any:
    """A quantity as it was written: no float holds a huge number, but the text that it keeps is one."""
    return str(item) if isinstance(item, HugeNumber) else item


def int_or_string(item: Any, strange: list[str]) -> Any:
    return item if item.__class__ is str else int32(item, strange)


def as_it_is(item: Any, _: list[str]) -> Any:
    return item


def strings(items: Any, _: list[str]) -> Any:
    """A list of strings; null is the empty one."""
    if items.__class__ is not list:
        raise Misfit
    for item in items:
        if item.__class__ is not str:
            return [_string_or_null(item) for item in items]
    return items


def string_map(items: Any, _: list[str]) -> Any:
    """A map of strings; null is the empty one."""
    if items.__class__ is not dict:
        raise Misfit
    for item in items.values():
        if item.__class__ is not str:
            return {key: _string_or_null(item) for key, item in items.items()}
    return items


def _string_or_null(item: Any) -> str:
    if item is None:
        return ""
    if item.__class__ is not str:
        raise Misfit
    text: str = item
    return text


Decoder = Callable[[Any, list[str]], Any]

DECODERS: Mapping[str, Decoder] = {
    "string": string,
    "bool": boolean,
    "int32": int32,
    "int64": int64,
    "double": double,
    "bytes": base64,
    TIME: time,
    MICRO_TIME: micro_time,
    QUANTITY: quantity,
    INT_OR_STRING: int_or_string,
    **dict.fromkeys(AS_THEY_ARE, as_it_is),
    **dict.fromkeys(LISTS_OF_STRINGS, strings),
}

ZEROS: Mapping[str, Any] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "double": 0,
    "bytes": None,
    TIME: None,
    MICRO_TIME: None,
    QUANTITY: "0",
    INT_OR_STRING: 0,
    **dict.fromkeys(AS_THEY_ARE),
    **dict.fromkeys(LISTS_OF_STRINGS),
    SCHEMAS + "JSONSchemaPropsOrBool": False,
    SCHEMAS + "JSONSchemaPropsOrArray": None,
    SCHEMAS + "JSONSchemaPropsOrStringArray": None,
}
"""How Go writes the zero value of each of these types."""
