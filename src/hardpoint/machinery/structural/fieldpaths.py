"""Paths that definitions name fields by, `.spec['a.b'].c`: where they lead in a schema, and how refusals spell them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from hardpoint.machinery.fielderrors import at, under

Json = dict[str, Any]

_PART = re.compile(r"'(?:\\.|[^'\\])*'|[.\[\]]|[^.\[\]]+")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


class BadPath(ValueError):
    """A path does not lead to a field of the schema."""


class Followed(NamedTuple):
    """Where a path leads."""

    steps: tuple[str, ...]
    schema: Json
    spelled: str
    """As refusals spell it: fields after a dot, entries of maps in brackets."""


def follow(schema: Json, path: str, *, allow_brackets: bool = True) -> Followed:
    """Follow a path from a schema. Raises BadPath."""
    parts = iter(_PART.findall(path))
    found = Followed((), schema, "")
    for opening in parts:
        if opening == "[" and not allow_brackets:
            raise BadPath("array notation is not allowed")
        if opening not in (".", "["):
            raise BadPath(f"expected [ or . but got: {opening}")
        name = next(parts, None)
        if name is None:
            raise BadPath("unexpected end of JSON path")
        found = _further(found, _unquoted(name) if opening == "[" else name)
        if opening == "[" and (closing := next(parts, None)) != "]":
            raise BadPath("unexpected end of JSON path" if closing is None else f"expected ] but got {closing}")
    return found


def _further(found: Followed, name: str) -> Followed:
    steps, schema, spelled = found
    properties, additional = schema.get("properties"), schema.get("additionalProperties")
    if properties:
        if name not in properties:
            raise BadPath("does not refer to a valid field")
        return Followed((*steps, name), dict(properties[name]), under(spelled, name))
    if additional is not None:
        return Followed((*steps, name), additional if isinstance(additional, dict) else {}, at(spelled, key=name))
    raise BadPath("does not refer to a valid field")


def _unquoted(text: str) -> str:
    if len(text) < 2 or not (text.startswith("'") and text.endswith("'")):
        raise BadPath(f"expected single quoted string but got {text}")
    return re.sub(r"\\(.)", _unescaped, text[1:-1], flags=re.DOTALL)


def _unescaped(found: re.Match[str]) -> str:
    if found[1] not in _ESCAPES:
        raise BadPath(f"invalid string literal: invalid escape char {found[0]}")
    return _ESCAPES[found[1]]
