"""Values as rules see them: numbers that are doubles, texts that are points in time, names that are identifiers.

Most values are seen as they are, and then nothing is done; the rest is copied as far down as something differs.
Follows apiserver's UnstructuredToVal, except that all is done at once and not where an expression looks.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import cel, patience
from hardpoint.machinery.cel.instants import parse_timestamp
from hardpoint.machinery.cel.values import Timestamp, checked_duration
from hardpoint.machinery.structural import formats
from hardpoint.machinery.structural.declared import with_identity
from hardpoint.machinery.structural.keywords import EMBEDDED, INT_OR_STRING

Json = dict[str, Any]
View = Callable[[Any], Any]

_ITEM_STEPS = 10

# Where the number of fields that are null is kept: no rule can say this name.
_NULLS = "\0"


def viewer(schema: Json, *, is_resource: bool = False) -> View | None:
    """The function that gives a value as rules see it; None if they see it as it is."""
    if schema.get(INT_OR_STRING):
        return None
    if is_resource or schema.get(EMBEDDED):
        schema = with_identity(schema)
    match schema.get("type"):
        case "array":
            return _list(schema)
        case "object":
            return _object(schema["properties"]) if schema.get("properties") else _map(schema)
        case "string":
            return _TEXTS.get(schema.get("format", ""))
        case "number":
            return _double
    return None


def _double(value: Any) -> Any:
    return float(value) if value.__class__ is int else value


def _list(schema: Json) -> View | None:
    items = schema.get("items")
    each = viewer(items) if isinstance(items, dict) else None
    if each is None:
        return None

    def view(value: Any) -> Any:
        if value.__class__ is not list:
            return value
        patience.spend(_ITEM_STEPS * len(value))
        return [each(item) for item in value]

    return view


def _map(schema: Json) -> View | None:
    said = schema.get("additionalProperties")
    each = viewer(said) if isinstance(said, dict) else None
    if each is None:
        return None

    def view(value: Any) -> Any:
        if value.__class__ is not dict:
            return value
        patience.spend(_ITEM_STEPS * len(value))
        return {name: None if item is None else each(item) for name, item in value.items()}

    return view


def _object(properties: Mapping[str, Json]) -> View | None:
    """Fields that are null are not there, but objects with more or fewer of them are not equal."""
    views = {name: made for name, child in properties.items() if (made := viewer(child)) is not None}
    names = {name: said for name in properties if (said := _names(name)) != (name,)}
    if not views and not names and not any(child.get("nullable") for child in properties.values()):
        return None

    def view(value: Any) -> Any:
        if value.__class__ is not dict:
            return value
        seen: Json = {}
        for name, item in value.items():
            if item is None:
                seen[_NULLS] = seen.get(_NULLS, 0) + 1
                continue
            if name in views:
                item = views[name](item)
            for known_as in names.get(name, (name,)):
                seen[known_as] = item
        return seen

    return view


def _names(name: str) -> tuple[str, ...]:
    """The names under which rules know a field; what has none keeps its own, which no rule can say."""
    escaped = cel.escape(name)
    if escaped is None:
        return (name,)
    return (name, escaped) if name in cel.RESERVED else (escaped,)


def _read(read: Callable[[str], Any]) -> View:
    """What cannot be read was stored under another schema, and stays a text."""

    def view(value: Any) -> Any:
        if value.__class__ is not str:
            return value
        try:
            return read(value)
        except (ValueError, cel.EvaluationError):
            return value

    return view


def _timestamp(text: str) -> Timestamp:
    """A point in time; one without a zone is in UTC."""
    return parse_timestamp(text if text[-1:] == "Z" or text[-6:-5] in ("+", "-") else f"{text}Z")


def _duration(text: str) -> Any:
    nanoseconds = formats.duration_nanoseconds(text)
    return text if nanoseconds is None else checked_duration(nanoseconds)


_TEXTS: Mapping[str, View] = {
    "byte": _read(lambda text: b64decode(text, validate=True)),
    "date": _read(lambda text: parse_timestamp(f"{text}T00:00:00Z")),
    "date-time": _read(_timestamp),
    "duration": _read(_duration),
}
