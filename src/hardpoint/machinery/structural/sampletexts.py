"""Texts that fit what a schema says of strings: a pattern, a format, a length.

A text for a pattern is found by walking the pattern as Python's own parser reads it, which for all but rare patterns is
as Go reads it. What it makes of lookarounds and back-references is only a guess.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from re import _parser as parser  # type: ignore[attr-defined]  # not public, and without an equal in the library
from typing import Any

from hardpoint.machinery.structural import patterns

Json = dict[str, Any]

TRIES = 20
REPEATED_MAX = 4
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ORDINARY = [*map(ord, _LETTERS), *map(ord, "0123456789")]
_PRINTABLE = range(33, 127)
_ODD = ("", " ", "-", "ünïcödé", "\u202e", "a" * 63, "0", "null", "true", "../..", "{}", "x\ny")
_FORMATS: Mapping[str, str] = {
    "byte": "c2FtcGxl",
    "bsonobjectid": "507f1f77bcf86cd799439011",
    "cidr": "10.0.0.0/24",
    "creditcard": "4111111111111111",
    "date": "2026-01-02",
    "datetime": "2026-01-02T03:04:05Z",
    "duration": "90s",
    "email": "sample@example.com",
    "hexcolor": "#aabbcc",
    "hostname": "sample.example.com",
    "ipv4": "10.0.0.1",
    "ipv6": "2001:db8::1",
    "isbn": "9780306406157",
    "isbn10": "0306406152",
    "isbn13": "9780306406157",
    "k8slongname": "sample.example.com",
    "k8sshortname": "sample",
    "mac": "00:00:5e:00:53:01",
    "password": "sample",
    "rgbcolor": "rgb(1,2,3)",
    "ssn": "111-22-3333",
    "uri": "https://example.com/sample",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "uuid3": "123e4567-e89b-32d3-a456-426614174000",
    "uuid4": "123e4567-e89b-42d3-a456-426614174000",
    "uuid5": "123e4567-e89b-52d3-a456-426614174000",
}


def text(schema: Json, roll: random.Random, *, odd: bool = False) -> str:
    """A text that fits, as far as one is found."""
    least: int = schema.get("minLength", 0)
    most: int | None = schema.get("maxLength")
    known = _FORMATS.get(schema.get("format", "").replace("-", ""))
    if schema.get("pattern"):
        return _matching(schema["pattern"], roll, least, most)
    if known is not None:
        return known
    chosen = roll.choice(_ODD) if odd else "sample-" + "".join(roll.choices(_LETTERS, k=4))
    return (chosen + "x" * max(least - len(chosen), 0))[:most]


def _matching(pattern: str, roll: random.Random, least: int, most: int | None) -> str:
    made = ""
    for _ in range(TRIES):
        made = _walk(_parsed(pattern), roll)
        if len(made) < least and not pattern.endswith("$"):
            made += "x" * (least - len(made))
        if least <= len(made) and (most is None or len(made) <= most) and patterns.matches(pattern, made):
            break
    return made


def _parsed(pattern: str) -> Sequence[Any]:
    try:
        found: Sequence[Any] = parser.parse(pattern.replace(r"\z", r"\Z"))
    except re.error:
        return ()
    return found


def _walk(parsed: Sequence[Any], roll: random.Random) -> str:
    return "".join(_part(str(operation), argument, roll) for operation, argument in parsed)


def _part(operation: str, argument: Any, roll: random.Random) -> str:
    if operation == "LITERAL":
        return chr(argument)
    if operation == "NOT_LITERAL":
        return chr(roll.choice([each for each in _ORDINARY if each != argument]))
    if operation == "ANY":
        return chr(roll.choice(_ORDINARY))
    if operation == "IN":
        return chr(roll.choice(_members(argument)))
    if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inner = argument
        times = roll.randint(least, min(int(most), least + REPEATED_MAX))
        return "".join(_walk(inner, roll) for _ in range(times))
    if operation == "BRANCH":
        return _walk(roll.choice(argument[1]), roll)
    if operation in ("SUBPATTERN", "ATOMIC_GROUP"):
        return _walk(argument[-1] if operation == "SUBPATTERN" else argument, roll)
    return ""


_CATEGORIES: Mapping[str, Sequence[int]] = {
    "CATEGORY_DIGIT": [*map(ord, "0123456789")],
    "CATEGORY_SPACE": [ord(" ")],
    "CATEGORY_WORD": _ORDINARY,
    "CATEGORY_NOT_DIGIT": [*map(ord, _LETTERS)],
    "CATEGORY_NOT_SPACE": _ORDINARY,
    "CATEGORY_NOT_WORD": [ord("-"), ord(".")],
}


def _members(argument: Sequence[Any]) -> Sequence[int]:
    """The characters of a class; of one that excludes, the ordinary ones it leaves."""
    named: list[int] = []
    is_negated = False
    for operation, value in argument:
        if str(operation) == "NEGATE":
            is_negated = True
        elif str(operation) == "LITERAL":
            named.append(value)
        elif str(operation) == "RANGE":
            named.extend(range(value[0], min(value[1], value[0] + 255) + 1))
        elif str(operation) == "CATEGORY":
            named.extend(_CATEGORIES.get(str(value), ()))
    if not is_negated:
        return named or _ORDINARY
    excluded = set(named)
    return [each for each in _ORDINARY if each not in excluded] or [each for each in _PRINTABLE if each not in excluded]
