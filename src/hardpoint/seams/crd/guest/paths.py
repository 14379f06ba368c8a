"""Paths into a schema: what a column, a selectable field or the scale subresource points at."""

from __future__ import annotations

import difflib
import re
from typing import Any

from hardpoint.machinery.errors import HardpointError

Json = dict[str, Any]

_STEP = re.compile(r"\.([A-Za-z_$][\w$-]*)|\['((?:[^'\\]|\\.)*)'\]|\[[^\]]*\]|\.\*")
_UNKNOWN: Json = {"x-kubernetes-preserve-unknown-fields": True}
_METADATA: Json = {"creationTimestamp": {"type": "string", "format": "date-time"}, "generation": {"type": "integer"}}
_DATES = ("date", "date-time")


class UnknownPath(HardpointError):
    """A path that leads to nothing the schema knows; the text says how far it led."""


def find(schema: Json, path: str) -> Json:
    """The schema of what a JSON path points at. Raises UnknownPath."""
    at, found = 0, {**schema, "properties": {**_top(schema), **schema.get("properties", {})}}
    if not path.startswith("."):
        raise UnknownPath("paths begin with a dot, such as .spec.replicas")
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise UnknownPath(f"{path[at:]!r} is no step of a path")
        found = _child(found, step[1] or step[2], path[:at] or ".")
        at = step.end()
    return found


def column_type(schema: Json) -> str:
    """What kind of column shows it."""
    type_of = schema.get("type", "")
    if type_of == "string":
        return "date" if schema.get("format") in _DATES else "string"
    return type_of if type_of in ("integer", "number", "boolean") else "string"


def _top(schema: Json) -> Json:
    """What every object has."""
    text = {"type": "string"}
    return {"apiVersion": text, "kind": text, "metadata": {"type": "object", "properties": _METADATA, **_UNKNOWN}}


def _child(schema: Json, name: str | None, so_far: str) -> Json:
    properties: Json = schema.get("properties", {})
    child: Json | None = schema.get("items") if name is None else properties.get(name)
    if child is None and isinstance(schema.get("additionalProperties"), dict):
        child = schema["additionalProperties"]
    if child is None and schema.get("x-kubernetes-preserve-unknown-fields"):
        child = _UNKNOWN
    if child is None:
        raise UnknownPath(_told(name, properties, so_far))
    return child


def _told(name: str | None, properties: Json, so_far: str) -> str:
    if not properties:
        return f"{so_far} has no fields"
    close = difflib.get_close_matches((name or "").replace("_", ""), properties, n=1)
    there = f"did you mean {close[0]}?" if close else f"there are {', '.join(properties)}"
    return f"{so_far} has no {name}; {there}"
