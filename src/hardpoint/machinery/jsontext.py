"""JSON as kube-apiserver reads it, at orjson's speed.

`parse` reads what orjson reads, and where orjson stops early `jsonexact` reads it again, slowly: lone surrogates, bytes
that are no UTF-8, more than 1,024 levels, numbers beyond any float, duplicate keys, and the wording of syntax errors.
`encode` writes any value that `parse` returns.
"""

from __future__ import annotations

from typing import Any

import orjson

from hardpoint.machinery import jsonexact
from hardpoint.machinery.jsonexact import BadJson, HugeNumber, Parsed

_ESCAPED_COLONS = (b"\\u003a", b"\\u003A")

__all__ = ["BadJson", "Parsed", "encode", "parse"]


def parse(data: bytes) -> Parsed:
    """The value of a JSON text, and the paths of its duplicate keys, of which the last one counts. Raises BadJson."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return jsonexact.parse(data)
    if _may_have_duplicates(data, value):
        return jsonexact.parse(data)
    return Parsed(value, [])


def encode(value: Any) -> bytes:
    """The value as compact JSON."""
    try:
        return orjson.dumps(value, default=_huge_number)
    except orjson.JSONEncodeError:
        return jsonexact.encode(value)


def _may_have_duplicates(data: bytes, value: Any) -> bool:
    """Whether the text may hold more than the value does.

    Every key has a colon after it, all other colons are in strings, and orjson writes these as they are. So the same
    number of colons is the same number of keys, unless a string spells its colons in another way.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return True
    if data.count(b":") != written.count(b":"):
        return True
    return b"\\" in data and any(colon in data for colon in _ESCAPED_COLONS)


def _huge_number(value: Any) -> orjson.Fragment:
    if isinstance(value, HugeNumber):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} has no JSON form")
