"""JSON as kube-apiserver reads it, at orjson's speed.

`parse` reads what orjson reads, and where orjson stops early `jsonexact` reads it again, slowly: lone surrogates, bytes
that are no UTF-8, more than 1,024 levels, numbers beyond any float, duplicate keys, and the wording of syntax errors.
`encode` writes any value that `parse` returns.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from hardpoint.machinery import jsonexact
from hardpoint.machinery.jsonexact import BadJson, HugeNumber, Parsed

# Where this is found, the number of `":` is not the number of keys; it is looked for only where one of the marks is.
_KEYS_ENDING_OTHERWISE = re.compile(rb'"[ \t\r\n]+:|\\u00(?:22|3[aA])')
_MARKS = (b" :", b"\n:", b"\t:", b"\r:", b"\\u0022", b"\\u003a", b"\\u003A")

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
    """Whether the text held more than the value does.

    A compact text is as long as the value written again. Others are told apart by counting what ends a key, which says
    nothing where quotes or colons are escaped or stand apart.
    """
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return True
    if len(written) == len(data) - data.endswith(b"\n"):
        return False
    if data.count(b'":') != written.count(b'":'):
        return True
    return any(mark in data for mark in _MARKS) and _KEYS_ENDING_OTHERWISE.search(data) is not None


def _huge_number(value: Any) -> orjson.Fragment:
    if isinstance(value, HugeNumber):
        return orjson.Fragment(str(value))
    raise TypeError(f"{type(value).__name__} has no JSON form")
