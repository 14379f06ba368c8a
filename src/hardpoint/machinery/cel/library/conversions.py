"""From one type to another: `int('7')`, `string(3.5)`, `timestamp('2026-01-02T03:04:05Z')`."""

from __future__ import annotations

import math
import re
from typing import Any

from hardpoint.machinery import durations
from hardpoint.machinery.cel.costs import reads
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import function
from hardpoint.machinery.cel.instants import format_duration, format_timestamp, parse_timestamp
from hardpoint.machinery.cel.types import BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT
from hardpoint.machinery.cel.values import (
    INT_MAX,
    INT_MIN,
    Duration,
    UInt,
    checked_int,
    checked_timestamp,
    checked_uint,
)

_INTEGER = re.compile("[+-]?[0-9]+")
_UNSIGNED = re.compile("[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)|nan", re.IGNORECASE)
_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))
_DIGITS_MAX = 400
_TEXT_LENGTH_MAX = 10_000
"""No number or duration that is meant is longer, and long ones take long to read, but cost nothing."""


def format_double(value: float) -> str:
    """As Go's %g: the shortest digits, with an exponent when it is below -4 or above 5."""
    if not math.isfinite(value):
        return "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
    mantissa, exponent = f"{value!r}e0".split("e")[:2] if "e" in repr(value) else (repr(value), "0")
    digits = mantissa.replace(".", "").replace("-", "").strip("0") or "0"
    point = _magnitude(value, mantissa, int(exponent))
    if -4 <= point < 6:
        return _plain(value, digits, point)
    shown = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{'-' if value < 0 else ''}{shown}e{'-' if point < 0 else '+'}{abs(point):02d}"


def _magnitude(value: float, mantissa: str, exponent: int) -> int:
    """The power of ten of the first digit that is not zero."""
    if value == 0:
        return 0
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    if whole.strip("0"):
        return len(whole.lstrip("0")) - 1 + exponent
    return -(len(fraction) - len(fraction.lstrip("0")) + 1) + exponent


def _plain(value: float, digits: str, point: int) -> str:
    sign = "-" if math.copysign(1, value) < 0 else ""
    if point < 0:
        return f"{sign}0.{'0' * (-point - 1)}{digits}"
    whole = digits[: point + 1].ljust(point + 1, "0")
    rest = digits[point + 1 :]
    return f"{sign}{whole}{'.' + rest if rest else ''}"


def _wrong(source: str, target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{source}' to '{target}'")


def _int_of_double(value: float) -> int:
    if not math.isfinite(value) or not INT_MIN < value < INT_MAX:
        raise EvaluationError("integer overflow")
    return int(value)


def _uint_of_double(value: float) -> UInt:
    if not math.isfinite(value) or not 0 <= value < 2.0**64:
        raise EvaluationError("unsigned integer overflow")
    return UInt(int(value))


def _int_of_string(text: str) -> int:
    if len(text) > _DIGITS_MAX or not _INTEGER.fullmatch(text) or not INT_MIN <= (value := int(text)) <= INT_MAX:
        raise _wrong("string", "int")
    return value


def _uint_of_string(text: str) -> UInt:
    if len(text) > _DIGITS_MAX or not _UNSIGNED.fullmatch(text) or (value := int(text)) >= 2**64:
        raise _wrong("string", "uint")
    return UInt(value)


def _double_of_string(text: str) -> float:
    if len(text) > _TEXT_LENGTH_MAX or not _FLOAT.fullmatch(text):
        raise _wrong("string", "double")
    value = float(text)
    if math.isinf(value) and "n" not in text.lower():
        raise _wrong("string", "double")
    return value


def _bool_of_string(text: str) -> bool:
    if text not in _TRUE and text not in _FALSE:
        raise _wrong("string", "bool")
    return text in _TRUE


def _string_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def _duration_of_string(text: str) -> Duration:
    if len(text) > _TEXT_LENGTH_MAX:
        raise _wrong("string", "google.protobuf.Duration")
    try:
        return Duration(durations.parse(text))
    except durations.BadDuration:
        raise _wrong("string", "google.protobuf.Duration") from None


def _same(value: Any) -> Any:
    return value


OVERLOADS = (
    function("bool", (BOOL,), BOOL, _same),
    function("bool", (STRING,), BOOL, _bool_of_string),
    function("bytes", (BYTES,), BYTES, _same),
    function("bytes", (STRING,), BYTES, str.encode, cost=reads(0)),
    function("double", (DOUBLE,), DOUBLE, _same),
    function("double", (INT,), DOUBLE, float),
    function("double", (STRING,), DOUBLE, _double_of_string),
    function("double", (UINT,), DOUBLE, float),
    function("duration", (DURATION,), DURATION, _same),
    function("duration", (STRING,), DURATION, _duration_of_string),
    function("int", (INT,), INT, _same),
    function("int", (DOUBLE,), INT, _int_of_double),
    function("int", (DURATION,), INT, lambda value: value.nanoseconds),
    function("int", (STRING,), INT, _int_of_string),
    function("int", (TIMESTAMP,), INT, lambda value: value.nanoseconds // 10**9),
    function("int", (UINT,), INT, lambda value: checked_int(int(value))),
    function("string", (STRING,), STRING, _same),
    function("string", (BOOL,), STRING, lambda value: "true" if value else "false"),
    function("string", (BYTES,), STRING, _string_of_bytes, cost=reads(0)),
    function("string", (DOUBLE,), STRING, format_double),
    function("string", (DURATION,), STRING, format_duration),
    function("string", (INT,), STRING, str),
    function("string", (TIMESTAMP,), STRING, format_timestamp),
    function("string", (UINT,), STRING, lambda value: str(int(value))),
    function("timestamp", (TIMESTAMP,), TIMESTAMP, _same),
    function("timestamp", (INT,), TIMESTAMP, lambda seconds: checked_timestamp(seconds * 10**9)),
    function("timestamp", (STRING,), TIMESTAMP, parse_timestamp),
    function("uint", (UINT,), UINT, _same),
    function("uint", (DOUBLE,), UINT, _uint_of_double),
    function("uint", (INT,), UINT, checked_uint),
    function("uint", (STRING,), UINT, _uint_of_string),
)
