"""From a schema to the Python type that has it, and the models that type needs.

What Python's types and pydantic's Field can say is said with them; keywords that are left go into `json_schema_extra`,
so that nothing a schema says is lost.
"""

from __future__ import annotations

import inspect
from typing import Any

from pydantic import BaseModel

from hardpoint.seams.crd.guest.drafts import EMBEDDED, LIST_TYPE, MAP_KEYS, MAP_TYPE, Field, Model, Typed, is_model
from hardpoint.seams.crd.guest.layout import Expr, call, literal, subscript
from hardpoint.seams.crd.guest.markers import VALIDATIONS, Rule
from hardpoint.seams.crd.guest.naming import camel, pascal, singular_of, snake
from hardpoint.seams.crd.guest.schema import INT_OR_STRING, PRESERVE
from hardpoint.seams.crd.guest.source_defaults import default_of
from hardpoint.seams.crd.guest.source_scalars import SCALARS, int_or_string, scalar

Json = dict[str, Any]

LIST_BOUNDS = {"minItems": "min_length", "maxItems": "max_length"}
OBJECT_BOUNDS = {"minProperties": "min_length", "maxProperties": "max_length"}
TAKEN = frozenset(dir(BaseModel)) | {
    *("rules", "date", "datetime", "timedelta", "bytes", "str", "int", "float", "bool", "list", "dict")
}
"""Names that a field would hide from its own class."""
MARKERS = (
    ("Atomic", LIST_TYPE, "atomic"),
    ("Atomic", MAP_TYPE, "atomic"),
    ("Unique", LIST_TYPE, "set"),
    ("EmbeddedResource", EMBEDDED, True),
)
USUAL = ((MAP_TYPE, "granular"), (PRESERVE, False), (EMBEDDED, False), (INT_OR_STRING, False), ("default", None))
"""What says no more than leaving it out."""
PROTECTED = ("model_validate", "model_dump")


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
        name = pascal(wanted)
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
        if not is_model(schema):
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
        written = None if default is None else default_of(schema, default, typed.model)
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
        if not is_model(schema):
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
            int_or_string(typed)
        elif is_model(left):
            self._model(typed, name, parent)
        elif left.get("type") == "object":
            self._object(typed, name, parent)
        elif left.get("type") == "array":
            self._array(typed, name, parent)
        elif left.get("type") in SCALARS:
            scalar(typed)
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
        typed.bound(OBJECT_BOUNDS)

    def _array(self, typed: Typed, name: str, parent: str) -> None:
        left = typed.left
        del left["type"]
        typed.type = subscript("list", self._item(typed, left.pop("items", {}), name, parent))
        if left.get(LIST_TYPE) == "map":
            del left[LIST_TYPE]
            typed.notes.append(call("MapKeys", [literal(key) for key in left.pop(MAP_KEYS, [])]))
        typed.bound(LIST_BOUNDS)

    def _item(self, whole: Typed, schema: Json, name: str, parent: str) -> Expr:
        left = dict(schema)
        is_nullable = bool(left.pop("nullable", False))
        typed = self.typed(left, singular_of(name), parent)
        whole.model = typed.model
        return self._annotated(typed, is_nullable, explicit=False)


def _rule(rule: Json) -> Expr:
    named = {name: literal(rule[wire]) for name, wire in Rule.NAMES.items() if wire in rule}
    first = [named.pop(name) for name in ("rule", "message") if name in named]
    return call("Rule", first, named)


def _docstring(left: Json) -> str:
    """The description, if a docstring says it to the letter; else it stays where it is."""
    doc = left.get("description", "")
    lines = doc.splitlines()
    is_plain = inspect.cleandoc(doc) == doc and all(line == line.rstrip() for line in lines)
    is_legible = doc.isascii() and doc.replace("\n", "").isprintable()
    if not is_plain or not is_legible or '"""' in doc or "\\" in doc or doc.endswith('"'):
        return ""
    left.pop("description", None)
    return str(doc)
