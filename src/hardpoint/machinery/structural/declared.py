"""What rules may know of a schema before there are values: the CEL type of every part, and how large it can become.

Sizes decide which rules are cheap enough, so they are computed as apiserver's cel/common does it, down to the bytes
that JSON needs for quotes and commas. A part whose type cannot be told is not there for rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hardpoint.machinery import cel
from hardpoint.machinery.structural.keywords import EMBEDDED, INT_OR_STRING, LIST_MAP_KEYS, LIST_TYPE

Json = dict[str, Any]

REQUEST_BYTES_MAX = 3 * 1024 * 1024
NAME_LENGTH_MAX = 253
_TEXT_MAX = REQUEST_BYTES_MAX - 2
_BYTES_PER_CHARACTER_MAX = 4
# The type of a string with a format, its shortest form in JSON with its quotes, and the longest.
_FORMATS: Mapping[str, tuple[cel.Type, int, int]] = {
    "duration": (cel.DURATION, 3, 32),
    "date": (cel.TIMESTAMP, 12, 12),
    "date-time": (cel.TIMESTAMP, 21, 32),
}


@dataclass(frozen=True, slots=True)
class Declared:
    """A part of a schema as rules see it."""

    size_min: int
    """The bytes its smallest value takes in JSON."""
    elements_max: int = 0
    """How many bytes, items or entries a value has at most; 0 for what has no size."""
    scalar: cel.Type | None = None
    fields: Mapping[str, Declared] | None = None
    """Of an object, by the names under which rules know them."""
    items: Declared | None = None
    keys: tuple[str, ...] | None = None
    """Of a list-map: the fields, as rules know them, that tell its items apart; empty for a list that is a set."""
    values: Declared | None = None

    def type(self, name: str) -> cel.Type:
        """Its type; objects in it are named after it."""
        if self.fields is not None:
            return cel.object_of(name, _with_keywords(self.fields, name))
        if self.items is not None:
            return _list_of(self.items.type(f"{name}.@idx"), self.keys)
        if self.values is not None:
            return cel.map_of(cel.STRING, self.values.type(f"{name}.@elem"))
        assert self.scalar is not None, "what is not made of parts has a type of its own"
        return self.scalar

    def sizes(self, path: cel.Path) -> cel.SizeRange | None:
        """The size of what lies at a path that begins with a variable of this type, for `cel.estimate`."""
        found: Declared | None = self
        for step in path[1:]:
            found = found._step(step) if found is not None else None
        return None if found is None else cel.SizeRange(0, found.elements_max)

    def _step(self, step: str) -> Declared | None:
        if step in ("@items", "@values"):
            return self.items or self.values
        if step == "@keys":
            return _KEY if self.values is not None else None
        return self.fields.get(step) if self.fields is not None else None

    @property
    def count_max(self) -> int:
        """How many values fit into one request, where nothing else says how many there may be."""
        return REQUEST_BYTES_MAX // (self.size_min + 1)


_KEY = Declared(2, scalar=cel.STRING)
_ANY_TEXT = Declared(2, _TEXT_MAX, scalar=cel.STRING)
_SAYING_NOTHING = frozenset(("type", "description", "title", "pattern", "minLength", "nullable"))
_NUMBERS = {
    "boolean": Declared(4, scalar=cel.BOOL),
    "integer": Declared(1, scalar=cel.INT),
    "number": Declared(1, scalar=cel.DOUBLE),
}


def _list_of(item: cel.Type, keys: tuple[str, ...] | None) -> cel.Type:
    if keys is None:
        return cel.list_of(item)
    return cel.map_list_of(item, keys) if keys else cel.set_list_of(item)


def _with_keywords(fields: Mapping[str, Declared], name: str) -> dict[str, cel.Type]:
    """A field whose name is a word of the language is known under both names."""
    types = {field: declared.type(f"{name}.{field}") for field, declared in fields.items()}
    for field in fields:
        if field.startswith("__") and (word := cel.unescape(field)) in cel.RESERVED:
            types[word] = types[field]
    return types


def declare(schema: Json, *, is_resource: bool = False) -> Declared | None:
    """A schema as rules see it; None if they cannot see it. `is_resource` has its own apiVersion, kind and metadata."""
    if schema.get(INT_OR_STRING):
        return Declared(1, _text_max(schema, _TEXT_MAX), scalar=cel.DYN)
    if is_resource:
        schema = with_identity(schema)
    match schema.get("type"):
        case "array":
            return _array(schema)
        case "object":
            return _map(schema) if isinstance(schema.get("additionalProperties"), dict) else _object(schema)
        case "string":
            return _string(schema)
        case other:
            return _NUMBERS.get(str(other))


def with_identity(schema: Json) -> Json:
    """The schema of an object of its own, with what rules may know of every such object."""
    properties = schema.get("properties") or {}
    names = (properties.get("metadata") or {}).get("properties") or {}
    if _is_text(properties, "kind", "apiVersion") and _is_text(names, "name", "generateName"):
        return schema
    metadata = {
        "type": "object",
        "properties": {
            "name": _name(names.get("name"), NAME_LENGTH_MAX),
            "generateName": _name(names.get("generateName"), NAME_LENGTH_MAX - 1),
        },
    }
    identity = {"kind": {"type": "string"}, "apiVersion": {"type": "string"}, "metadata": metadata}
    return {**schema, "properties": {**properties, **identity}}


def _is_text(properties: Json, *names: str) -> bool:
    return all((properties.get(name) or {}).get("type") == "string" for name in names)


def _name(said: Json | None, most: int) -> Json:
    return {"type": "string", "maxLength": min(most, (said or {}).get("maxLength", most))}


def _array(schema: Json) -> Declared | None:
    said = schema.get("items")
    items = declare(said, is_resource=bool(said.get(EMBEDDED))) if isinstance(said, dict) else None
    if items is None:
        return None
    fitting = _TEXT_MAX // (items.size_min + 1)
    return Declared(2, _at_most(schema, "maxItems", fitting), items=items, keys=_keys(schema))


def _keys(schema: Json) -> tuple[str, ...] | None:
    if schema.get(LIST_TYPE) == "map":
        return tuple(cel.escape(key) or key for key in schema.get(LIST_MAP_KEYS) or ())
    return () if schema.get(LIST_TYPE) == "set" else None


def _map(schema: Json) -> Declared | None:
    said = schema["additionalProperties"]
    values = declare(said, is_resource=bool(said.get(EMBEDDED)))
    if values is None:
        return None
    # Quotes of a key, colon, comma, and two characters of the key.
    fitting = _TEXT_MAX // (values.size_min + 6)
    return Declared(2, _at_most(schema, "maxProperties", fitting), values=values)


def _object(schema: Json) -> Declared:
    fields: dict[str, Declared] = {}
    size = 2
    required = frozenset(schema.get("required") or ())
    for name, child in (schema.get("properties") or {}).items():
        declared = declare(child, is_resource=bool(child.get(EMBEDDED)))
        if declared is None:
            continue
        if (escaped := cel.escape(name)) is not None:
            fields[escaped] = declared
        if name in required and child.get("default") is None:
            # Quotes, colon and comma.
            size += len(name.encode()) + declared.size_min + 4
    return Declared(size, fields=fields)


def _string(schema: Json) -> Declared:
    if schema.keys() <= _SAYING_NOTHING:
        return _ANY_TEXT
    layout = schema.get("format", "")
    if layout == "byte":
        return Declared(2, _at_most(schema, "maxLength", _TEXT_MAX), scalar=cel.BYTES)
    if layout in _FORMATS:
        scalar, least, most = _FORMATS[layout]
        return Declared(least, most, scalar=scalar)
    listed = [len(each.encode()) for each in schema.get("enum") or () if isinstance(each, str)]
    most = max(listed, default=0) if schema.get("enum") else _TEXT_MAX
    return Declared(2, _text_max(schema, most), scalar=cel.STRING)


def _text_max(schema: Json, otherwise: int) -> int:
    """The most bytes of a text; what a schema limits are characters."""
    most = schema.get("maxLength")
    return otherwise if most is None else max(most, 0) * _BYTES_PER_CHARACTER_MAX


def _at_most(schema: Json, word: str, otherwise: int) -> int:
    most = schema.get(word)
    return otherwise if most is None else max(most, 0)
