"""What a YAML scalar means to Go: which plain words are booleans, numbers or nothing, and how keys become strings."""

from __future__ import annotations

import binascii
import math
import re
from typing import Any, Final

from hardpoint.machinery.errors import HardpointError

MERGE: Final = object()
"""The key `<<`."""

_TAG: Final = "tag:yaml.org,2002:"
_WORDS: Final[dict[str, Any]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"([-+]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|([1-9][0-9]*|0))", re.ASCII)
_BASES: Final = (16, 2, 8, 10)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
# Dates, and numbers to the base 60, are strings to JSON all the same, but not to YAML.
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:(?:[Tt]|[ ]+)[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]*)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?",
    re.ASCII,
)
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?", re.ASCII)
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_INTEGER_LENGTH_MAX: Final = 100
_EXPONENT_FROM: Final = 1e21
_SHOWN_LENGTH_MAX: Final = 60


class BadScalar(HardpointError):
    """A scalar that has no JSON form; the message says why."""


def resolved(text: str, tag: str | None, *, is_plain: bool) -> Any:
    """The JSON value of a scalar, which is a string unless it is plain or tagged. Raises BadScalar."""
    if tag is None or tag == "!":
        return _json(_meaning(text)) if is_plain and tag is None else text
    kind = tag.removeprefix(_TAG)
    if kind in ("str", "timestamp"):
        return text
    if kind == "binary":
        return _binary(text)
    value = _meaning(text)
    if kind == "float" and type(value) is int:
        value = float(value)
    if kind not in _KINDS or type(value) is not _KINDS[kind]:
        raise BadScalar(f"cannot decode `{_start(text)}` as a !!{_start(kind)}")
    return _json(value)


_KINDS: Final = {"bool": bool, "int": int, "float": float, "null": type(None)}


def _start(text: str) -> str:
    """Enough of a text to recognise it by."""
    return text if len(text) <= _SHOWN_LENGTH_MAX else f"{text[:_SHOWN_LENGTH_MAX]}..."


def is_read_as_text(text: str) -> bool:
    """Whether a plain scalar with this text is a string to Go, too."""
    if not isinstance(_meaning(text), str) or text in ("<<", "="):
        return False
    return text[0] not in _NUMBER_STARTS or not (_DATE.fullmatch(text) or _BASE_60.fullmatch(text))


def key(value: Any) -> str:
    """The string a scalar becomes as the key of an object. Raises BadScalar."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    raise BadScalar("a key must be a string, a number or a boolean")


def _meaning(text: str) -> Any:
    """A plain scalar as a Python value; dates are strings."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    plain = text.replace("_", "")
    integer = _INTEGER.fullmatch(plain) if len(plain) <= _INTEGER_LENGTH_MAX else None
    if integer is not None:
        number = _integer(integer)
        if -(2**63) <= number < 2**64:
            return number
    if _FLOAT.fullmatch(plain if text[0] != "." else text):
        return _float(plain, text)
    return text


def _integer(match: re.Match[str]) -> int:
    sign, *digits = match.groups()
    number = next(int(found, base) for found, base in zip(digits, _BASES, strict=True) if found is not None)
    return -number if sign == "-" else number


def _float(plain: str, text: str) -> float | str:
    number = float(plain)
    # Go cannot read it as a float, and so leaves it a string.
    return text if math.isinf(number) else number


def _json(value: Any) -> Any:
    """A value after its way through Go's JSON, which writes whole floats without a point."""
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadScalar(f"json: unsupported value: {_GO_NAMES.get(value, 'NaN')}")
        if value.is_integer() and abs(value) < _EXPONENT_FROM:
            return int(value)
    return value


_GO_NAMES: Final = {math.inf: "+Inf", -math.inf: "-Inf"}


def _binary(text: str) -> str:
    try:
        return binascii.a2b_base64("".join(text.split()), strict_mode=True).decode("utf-8", "replace")
    except ValueError as bad:
        raise BadScalar("!!binary value contains invalid base64 data") from bad
