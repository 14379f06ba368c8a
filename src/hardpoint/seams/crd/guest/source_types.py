"""From a schema to the Python type that has it, and the models that type needs.

What Python's types and pydantic's Field can say is said with them; keywords that are left go into `json_schema_extra`,
so that nothing a schema says is lost.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from pydantic_core import SchemaError, SchemaValidator, core_schema

from hardpoint.seams.crd.guest.layout import Expr, call, listed, literal, mapped, subscript
from hardpoint.seams.crd.guest.markers import VALIDATIONS, Rule
from hardpoint.seams.crd.guest.naming import camel, snake
from hardpoint.seams.crd.guest.schema import INT_OR_STRING, INT_OR_STRING_CHOICES, PRESERVE
from hardpoint.seams.crd.guest.values import QUANTITY_PATTERN

Json = dict[str, Any]

LIST_TYPE, MAP_KEYS, MAP_TYPE = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
EMBEDDED = "x-kubernetes-embedded-resource"

FORMATTED: Mapping[tuple[str, str], str] = {
    ("string", "date-time"): "datetime",
    ("string", "date"): "date",
    ("string", "duration"): "timedelta",
    ("string", "byte"): "bytes",
    ("string", "uuid"): "UUID",
    ("string", "ipv4"): "IPv4Address",
    ("string", "ipv6"): "IPv6Address",
    ("integer", "int32"): "Int32",
    ("integer", "int64"): "Int64",
}
PLAIN_NUMBERS = ("Int32", "Int64")
"""Formatted types that are written as JSON writes them, so that defaults and bounds may stand beside them."""
WRITTEN_OTHERWISE = frozenset(FORMATTED) - {("integer", "int32"), ("integer", "int64")}
"""Types whose values JSON writes in another way than Python."""
SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
BOUNDS: Mapping[str, Mapping[str, str]] = {
    "string": {"minLength": "min_length", "maxLength": "max_length"},
    "array": {"minItems": "min_length", "maxItems": "max_length"},
    "object": {"minProperties": "min_length", "maxProperties": "max_length"},
}
TAKEN = frozenset(dir(BaseModel)) | {
    *("rules", "date", "datetime", "timedelta", "bytes", "str", "int", "float", "bool", "list", "dict")
}
"""Names that a field would hide from its own class."""
PROTECTED = ("model_validate", "model_dump")


@dataclass
class Model:
    """A class to be written."""

    name: str
    doc: str
    fields: list[Field]
    rules: list[Expr]
    extra: Json
    names: dict[str, str] = field(default_factory=dict)
    """Python's names of the fields, by JSON's."""
    models: dict[str, Model | None] = field(default_factory=dict)
    """The models of the fields, or of what is in them, by JSON's names."""

    def content(self) -> tuple[Any, ...]:
        """What makes two models the same but for the name."""
        return (
            self.doc,
            [each.content() for each in self.fields],
            [rule.flat() for rule in self.rules],
            repr(self.extra),
        )


@dataclass
class Field:
    """A line of a class."""

    name: str
    type: Expr
    default: Expr | None

    def content(self) -> tuple[str, str, str]:
        return self.name, self.type.flat(), self.default.flat() if self.default else ""


class Types:
    """Writes the types of one file, and collects the models they need."""

    def __init__(self, taken: set[str]) -> None:
        self.models: dict[str, Model] = {}
        """By name, each after those it needs."""
        self._taken = taken

    def model(self, schema: Json, name: str, *, is_listed: bool = True) -> Model:
        """The class of an object's schema. A model that is there already in all but name is taken again."""
        left = dict(schema)
        left.pop("type", None)
        required = left.pop("required", [])
        fields, models, names = [], {}, self._names(left.get("properties", {}))
        for wire, child in left.pop("properties", {}).items():
            models[wire], found = self._field(names[wire], wire, child, name, is_required=wire in required)
            fields.append(found)
        doc = _docstring(left)
        rules = [_rule(rule) for rule in left.pop(VALIDATIONS, ())]
        # pydantic's own default for a class of this name would be taken for a title.
        left.pop("title", None)
        model = Model(name, doc, fields, rules, left, names, models)
        return self._listed(model) if is_listed else model

    def _listed(self, model: Model) -> Model:
        for there in self.models.values():
            if there.content() == model.content():
                self._taken.remove(model.name)
                return there
        self.models[model.name] = model
        return model

    def free_name(self, wanted: str, parent: str) -> str:
        """A class name nobody has: the field's, else with its parent's before it."""
        name = _pascal(wanted)
        if name in self._taken:
            name = parent + name
        number = 2
        while name in self._taken:
            name, number = f"{name.rstrip('0123456789')}{number}", number + 1
        self._taken.add(name)
        return name

    def _names(self, properties: Json) -> dict[str, str]:
        names: dict[str, str] = {}
        for wire in properties:
            name = snake(wire)
            if name in TAKEN:
                name += "_"
            if name.startswith(PROTECTED):
                name = f"field_{name}"
            while name in names.values():
                name += "_"
            names[wire] = name
        return names

    def part(self, wire: str, name: str, schema: Json, *, is_required: bool) -> tuple[Model | None, Field]:
        """The class for a part of the top level, if it is an object with fields, and the field that holds it."""
        if not _is_model(schema):
            return None, self._field(wire, wire, schema, name, is_required=is_required)[1]
        beside = ("default", "nullable", PRESERVE)
        model = self.model({key: schema[key] for key in schema if key not in beside}, name, is_listed=False)
        notes = [call("PreserveUnknown")] if schema.get(PRESERVE) else []
        left = {key: schema[key] for key in ("default",) if schema.get(key) is not None}
        typed = Typed(Expr(name), left, notes, model=model)
        return model, self._presence(wire, typed, schema, is_required=is_required)

    def _field(
        self, name: str, wire: str, schema: Json, parent: str, *, is_required: bool
    ) -> tuple[Model | None, Field]:
        notes = [] if camel(name) == wire else [call("JsonName", [literal(wire)])]
        left = {key: value for key, value in schema.items() if key != "nullable"}
        typed = self.typed(left, wire, parent, notes)
        return typed.model, self._presence(name, typed, schema, is_required=is_required)

    def _presence(self, name: str, typed: Typed, schema: Json, *, is_required: bool) -> Field:
        """A field that must be there, has a default, or may be absent."""
        is_nullable, default = bool(schema.get("nullable")), schema.get("default")
        written = None if default is None else self._default(schema, default, typed.model)
        if written is not None:
            del typed.left["default"]
            return Field(name, self._annotated(typed, is_nullable, explicit=True), written)
        if is_required and default is None:
            return Field(name, self._annotated(typed, is_nullable, explicit=False), None)
        return Field(name, self._annotated(typed, True, explicit=is_nullable), Expr("None"))

    def _annotated(self, typed: Typed, is_nullable: bool, *, explicit: bool) -> Expr:
        expr = typed.type.optional() if is_nullable and typed.type.head != "Any" else typed.type
        notes = list(typed.notes)
        if is_nullable and explicit:
            notes.append(call("Nullable"))
        bounds = {key: literal(value) for key, value in typed.bounds.items()}
        if typed.left:
            bounds["json_schema_extra"] = literal(typed.left)
        if bounds:
            notes.insert(0, call("Field", (), bounds))
        return subscript("Annotated", expr, *notes) if notes else expr

    def typed(self, schema: Json, name: str, parent: str, notes: list[Expr] | None = None) -> Typed:
        """The type of a schema, and what has to be said beside it."""
        typed = Typed(Expr("Any"), dict(schema), list(notes or ()))
        typed.left.pop("title", None)
        if not _is_model(schema):
            typed.bounds |= {"description": typed.left.pop("description")} if typed.left.get("description") else {}
            typed.notes += [_rule(rule) for rule in typed.left.pop(VALIDATIONS, ())]
        for marker, keyword, wanted in MARKERS:
            if typed.left.get(keyword) == wanted:
                del typed.left[keyword]
                typed.notes.append(call(marker))
        for keyword, usual in USUAL:
            if typed.left.get(keyword, ...) == usual:
                del typed.left[keyword]
        self._read(typed, name, parent)
        return typed

    def _read(self, typed: Typed, name: str, parent: str) -> None:
        left = typed.left
        if left.get(INT_OR_STRING):
            _int_or_string(typed)
        elif _is_model(left):
            self._model(typed, name, parent)
        elif left.get("type") in self._readers:
            self._readers[left["type"]](self, typed, name, parent)
        elif left.get(PRESERVE) and "type" not in left:
            del left[PRESERVE]

    def _model(self, typed: Typed, name: str, parent: str) -> None:
        own = {key: typed.left.pop(key) for key in list(typed.left) if key not in ("default", PRESERVE)}
        if typed.left.pop(PRESERVE, False):
            typed.notes.append(call("PreserveUnknown"))
        found = self.model(own, self.free_name(name, parent))
        typed.model, typed.type = found, Expr(found.name)

    def _object(self, typed: Typed, name: str, parent: str) -> None:
        left = typed.left
        del left["type"]
        values = left.pop("additionalProperties", None)
        if isinstance(values, dict):
            typed.type = subscript("dict", Expr("str"), self._item(typed, values, name, parent))
        else:
            left.pop(PRESERVE, None)
            typed.type = subscript("dict", Expr("str"), Expr("Any"))
        typed.bound(BOUNDS["object"])

    def _array(self, typed: Typed, name: str, parent: str) -> None:
        left = typed.left
        del left["type"]
        typed.type = subscript("list", self._item(typed, left.pop("items", {}), name, parent))
        if left.get(LIST_TYPE) == "map":
            del left[LIST_TYPE]
            typed.notes.append(call("MapKeys", [literal(key) for key in left.pop(MAP_KEYS, [])]))
        typed.bound(BOUNDS["array"])

    def _item(self, whole: Typed, schema: Json, name: str, parent: str) -> Expr:
        left = dict(schema)
        is_nullable = bool(left.pop("nullable", False))
        typed = self.typed(left, _singular(name), parent)
        whole.model = typed.model
        return self._annotated(typed, is_nullable, explicit=False)

    def _scalar(self, typed: Typed, name: str, parent: str) -> None:
        left = typed.left
        type_of = left.pop("type")
        typed.type = Expr(SCALARS[type_of])
        if _is_literal(type_of, left.get("enum")):
            typed.type = subscript("Literal", *(literal(value) for value in left.pop("enum")))
            return
        formatted = FORMATTED.get((type_of, left.get("format", "")))
        if formatted in PLAIN_NUMBERS or (formatted and set(left) == {"format"}):
            del left["format"]
            typed.type = Expr(formatted or "")
        if type_of == "string" and typed.type.head == "str":
            typed.bound(BOUNDS["string"])
            if "pattern" in left and _compiles(left["pattern"]):
                typed.bounds["pattern"] = left.pop("pattern")
        if type_of in ("integer", "number"):
            _number_bounds(typed, is_whole=type_of == "integer")

    _readers: Mapping[str, Callable[[Types, Typed, str, str], None]] = {
        "object": _object,
        "array": _array,
        **dict.fromkeys(SCALARS, _scalar),
    }

    def _default(self, schema: Json, value: Any, model: Model | None) -> Expr | None:
        """A default in Python; None if only the schema can say it."""
        if value is None or (schema.get("type"), schema.get("format", "")) in WRITTEN_OTHERWISE:
            return None
        if schema.get("type") in SCALARS or (schema.get(INT_OR_STRING) and "pattern" not in schema):
            return literal(value)
        if schema.get("type") == "array" and schema.get(LIST_TYPE) != "set":
            items = [self._default(schema.get("items", {}), item, model) for item in value]
            return listed([item for item in items if item is not None]) if None not in items else None
        if _is_model(schema):
            return self._made(schema, value, model) if model is not None else None
        values = schema.get("additionalProperties")
        if schema.get("type") == "object" and isinstance(values, dict):
            found = {key: self._default(values, item, model) for key, item in value.items()}
            said = {key: item for key, item in found.items() if item is not None}
            return mapped(said) if len(said) == len(found) else None
        return None

    def _made(self, schema: Json, value: Json, model: Model) -> Expr | None:
        """A model with the fields that are said, and no others."""
        named: dict[str, Expr] = {}
        for wire, said in value.items():
            child = schema.get("properties", {}).get(wire)
            written = self._default(child, said, model.models[wire]) if child is not None else None
            if written is None:
                return None
            named[model.names[wire]] = written
        return call(model.name, (), named)


@dataclass
class Typed:
    """A type on its way: what is `left` of the schema has not been said yet."""

    type: Expr
    left: Json
    notes: list[Expr]
    bounds: dict[str, Any] = field(default_factory=dict)
    model: Model | None = None
    """The model it is, or that its items or values are."""

    def bound(self, names: Mapping[str, str]) -> None:
        for keyword, name in names.items():
            if keyword in self.left:
                self.bounds[name] = self.left.pop(keyword)


MARKERS = (
    ("Atomic", LIST_TYPE, "atomic"),
    ("Atomic", MAP_TYPE, "atomic"),
    ("Unique", LIST_TYPE, "set"),
    ("EmbeddedResource", EMBEDDED, True),
)
USUAL = ((MAP_TYPE, "granular"), (PRESERVE, False), (EMBEDDED, False), (INT_OR_STRING, False), ("default", None))
"""What says no more than leaving it out."""


SINGULARS = (
    *(("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")),
    *(("ss", "ss"), ("us", "us"), ("is", "is"), ("s", "")),
)


def _is_model(schema: Json) -> bool:
    """Objects with fields are models; so are those that have none and take none."""
    if schema.get("type") != "object":
        return False
    return "properties" in schema or not ("additionalProperties" in schema or schema.get(PRESERVE))


def _is_literal(type_of: str, enum: Any) -> bool:
    known = {"string": str, "integer": int}.get(type_of)
    return bool(enum) and known is not None and all(type(value) is known for value in enum)


def _int_or_string(typed: Typed) -> None:
    del typed.left[INT_OR_STRING]
    typed.left.pop("type", None)
    if typed.left.get("anyOf") == INT_OR_STRING_CHOICES:
        del typed.left["anyOf"]
    typed.type = Expr("IntOrString")
    if typed.left.get("pattern") == QUANTITY_PATTERN and "default" not in typed.left:
        del typed.left["pattern"]
        typed.type = Expr("Quantity")


def _number_bounds(typed: Typed, *, is_whole: bool) -> None:
    left = typed.left
    for bound, exclusive, names in (("minimum", "exclusiveMinimum", "ge gt"), ("maximum", "exclusiveMaximum", "le lt")):
        value = left.get(bound)
        if value is None or (is_whole and value != int(value)):
            continue
        inclusive, open_ended = names.split()
        typed.bounds[open_ended if left.pop(exclusive, False) else inclusive] = int(value) if is_whole else value
        del left[bound]
    factor = left.get("multipleOf")
    if factor is not None and is_whole and factor == int(factor):
        typed.bounds["multiple_of"] = int(left.pop("multipleOf"))


def _rule(rule: Json) -> Expr:
    named = {name: literal(rule[wire]) for name, wire in Rule.NAMES.items() if wire in rule}
    first = [named.pop(name) for name in ("rule", "message") if name in named]
    return call("Rule", first, named)


def _docstring(left: Json) -> str:
    """The description, if a docstring says it to the letter; else it stays where it is."""
    doc = left.get("description", "")
    lines = doc.splitlines()
    is_plain = inspect.cleandoc(doc) == doc and all(line == line.rstrip() for line in lines)
    if not is_plain or any(sign in doc for sign in ('"""', "\\", "\t", "\r")) or doc.endswith('"') or not doc.isascii():
        return ""
    left.pop("description", None)
    return str(doc)


def _compiles(pattern: str) -> bool:
    """Whether pydantic's regular expressions know it; Go's know a little more."""
    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern))
    except SchemaError:
        return False
    return True


def _pascal(name: str) -> str:
    word = "".join(part[:1].upper() + part[1:] for part in snake(name).split("_"))
    return word if word.isidentifier() else f"Field{word}"


def _singular(name: str) -> str:
    for ending, instead in SINGULARS:
        if name.endswith(ending) and len(name) > len(ending) + 1:
            return name[: -len(ending)] + instead
    return name
