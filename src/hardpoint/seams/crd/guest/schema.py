"""The structural schema of an author's classes: pydantic's JSON Schema, told in the words that Kubernetes knows.

Kubernetes wants a type at every place, no references, no unions but a number or a text, and bounds as OpenAPI 3.0 has
them. What cannot be said that way raises `NotStructural`, with the path of the field and a way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, SchemaSerializer, core_schema

from hardpoint.machinery.structural.defaulted import defaulter
from hardpoint.seams.crd.guest.markers import VALIDATIONS, Rule
from hardpoint.seams.crd.guest.wire import (
    Node,
    NotStructural,
    is_explicitly_nullable,
    is_required,
    json_name,
    without_default,
)

Json = dict[str, Any]

PRESERVE, INT_OR_STRING = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"
INT_OR_STRING_CHOICES = [{"type": "integer"}, {"type": "string"}]
DECIMAL_PATTERN = r"^[+-]?[0-9]+(\.[0-9]+)?$"

KEYWORDS = frozenset(
    (
        *("type", "format", "enum", "default", "nullable", "description", "example", "externalDocs"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "pattern", "items", "minItems", "maxItems"),
        *("properties", "additionalProperties", "required", "minProperties", "maxProperties"),
        *("allOf", "anyOf", "oneOf", "not"),
    )
)
UNSAID = frozenset(("title", "deprecated", "examples", "readOnly", "writeOnly", "contentMediaType"))
"""What pydantic may say and a CustomResourceDefinition has no place for."""
FORMATS: Mapping[str, str] = {
    "binary": "byte",
    "ipv4network": "cidr",
    "ipv6network": "cidr",
    "ipv4interface": "cidr",
    "ipv6interface": "cidr",
    "multi-host-uri": "uri",
    "ipvanyaddress": "",
    "ipvanynetwork": "cidr",
    "ipvanyinterface": "cidr",
    "path": "",
    "file-path": "",
    "directory-path": "",
    "json-string": "",
    "regex": "",
}
"""Formats that Kubernetes calls otherwise; "" where it has none. An unknown one is a warning for whoever applies it."""
EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def structural(plan: Node) -> Json:
    """The schema of a wired plan. Raises NotStructural."""
    generator = _Structural(by_alias=True)
    try:
        return generator.generate(plan)
    except PydanticInvalidForJsonSchema as wrong:
        raise NotStructural(f"has a type that JSON does not have ({wrong})", generator.path) from wrong
    except ValueError as wrong:
        raise NotStructural(str(wrong), generator.path) from wrong


class _Structural(GenerateJsonSchema):
    """Pydantic asks for each kind of node by the name of a method."""

    def __init__(self, *, by_alias: bool) -> None:
        super().__init__(by_alias=by_alias)
        self._path: list[str] = []

    @property
    def path(self) -> str:
        return ".".join(self._path)

    def sort(self, value: Json, parent_key: str | None = None) -> Json:
        return value

    def generate_inner(self, schema: Any) -> Json:
        described = super().generate_inner(schema)
        # Some of pydantic's types describe themselves and forget what Field said of them.
        updates = schema.get("metadata", {}).get("pydantic_js_updates") or {}
        if "description" in updates:
            described.setdefault("description", updates["description"])
        return _said(described, self._wrong)

    def model_schema(self, schema: Any) -> Json:
        return self._of_class(super().model_schema(schema), schema["cls"])

    def dataclass_schema(self, schema: Any) -> Json:
        return self._of_class(super().dataclass_schema(schema), schema["cls"])

    def _of_class(self, schema: Json, cls: type[Any]) -> Json:
        schema.pop("additionalProperties", None)
        rules = vars(cls).get("rules")
        if isinstance(rules, list | tuple) and all(isinstance(rule, Rule) for rule in rules):
            schema[VALIDATIONS] = [rule.to_json() for rule in rules]
        return schema

    def model_fields_schema(self, schema: Any) -> Json:
        return self._properties(schema["fields"].items())

    def dataclass_args_schema(self, schema: Any) -> Json:
        return self._properties((field["name"], field) for field in schema["fields"])

    def typed_dict_schema(self, schema: Any) -> Json:
        raise self._wrong("is a TypedDict; use a pydantic model or a dataclass, or dict[str, Any]")

    def _properties(self, fields: Iterable[tuple[str, Node]]) -> Json:
        properties, required = {}, []
        for name, field in fields:
            wire = json_name(field, name)
            if wire in properties:
                raise self._wrong(f"has two fields that are {wire!r} in JSON")
            with self._at(wire):
                properties[wire] = self._property(field)
            if is_required(field):
                required.append(wire)
        schema: Json = {"type": "object"}
        if required:
            schema["required"] = required
        if properties:
            schema["properties"] = properties
        return schema

    def _property(self, field: Node) -> Json:
        schema = self.generate_inner(field)
        if not is_required(field) and not is_explicitly_nullable(without_default(field)):
            schema.pop("nullable", None)
        return schema

    def default_schema(self, schema: Any) -> Json:
        described = self.generate_inner(schema["schema"])
        default = self._default(schema)
        # The API server checks a default as it stands, before it fills in the defaults of what is inside.
        if default is not None and (complete := defaulter(described)):
            complete(default)
        return described if default is None else {**described, "default": default}

    def _default(self, schema: Any) -> Any:
        """What stands in for an absent value, in JSON; None if nothing does."""
        if schema.get("default_factory_takes_data"):
            raise self._wrong("has a default that depends on other fields; the API server has to know it beforehand")
        writer = SchemaSerializer(schema["schema"], _use_prebuilt=False)
        makes = schema.get("default_factory", lambda: schema.get("default"))
        try:
            first, second = (
                writer.to_python(makes(), mode="json", by_alias=True, exclude_unset=True, warnings="error")
                for _ in range(2)
            )
        except PydanticSerializationError as wrong:
            raise self._wrong(f"has a default that does not fit its type ({wrong})") from wrong
        if first != second:
            raise self._wrong("has a default that is another one each time; the API server has to know it beforehand")
        return first

    def nullable_schema(self, schema: Any) -> Json:
        return {**self.generate_inner(schema["schema"]), "nullable": True}

    def union_schema(self, schema: Any) -> Json:
        described: list[Json] = []
        for choice in schema["choices"]:
            try:
                one = self.generate_inner(choice[0] if isinstance(choice, tuple) else choice)
            except PydanticInvalidForJsonSchema:
                continue  # It is for values made by hand, such as a Path that is one already.
            if one not in described:
                described.append(one)
        if len(described) == 1:
            return described[0]
        if len(described) == 2 and all(choice in described for choice in INT_OR_STRING_CHOICES):
            return {INT_OR_STRING: True}
        raise self._wrong(
            "is a union, which no structural schema describes; use one model with optional fields and a Rule that says "
            "which go together, or Any"
        )

    def tagged_union_schema(self, schema: Any) -> Json:
        raise self._wrong(
            "is a discriminated union, which no structural schema describes; use one model with an optional field for "
            "each case, and a Rule that exactly one is set"
        )

    def literal_schema(self, schema: Any) -> Json:
        described = super().literal_schema(schema)
        if "type" not in described or described["type"] == "null":
            raise self._wrong("is a Literal of several types; all its values are texts, or all numbers")
        return described

    def enum_schema(self, schema: Any) -> Json:
        described = super().enum_schema(schema)
        if "type" not in described:
            raise self._wrong("is an Enum of several types; all its values are texts, or all numbers")
        return described

    def set_schema(self, schema: Any) -> Json:
        described = super().set_schema(schema)
        described.pop("uniqueItems", None)
        return {**described, "x-kubernetes-list-type": "set"}

    frozenset_schema = set_schema

    def list_schema(self, schema: Any) -> Json:
        described = super().list_schema(schema)
        return {**described, "items": described.get("items") or {PRESERVE: True}}

    def tuple_schema(self, schema: Any) -> Json:
        if "variadic_item_index" not in schema or len(schema["items_schema"]) != 1:
            raise self._wrong("is a tuple of several types; use a list, or a model with a field for each")
        return self.list_schema({**core_schema.list_schema(schema["items_schema"][0]), **_lengths(schema)})

    def dict_schema(self, schema: Any) -> Json:
        keys = schema.get("keys_schema", {"type": "any"})
        if keys["type"] not in ("str", "any") or set(keys) - {"type", "strict", "metadata"}:
            raise self._wrong("is a dict whose keys are not plain texts; JSON has no others: use dict[str, ...]")
        values = self.generate_inner(schema.get("values_schema", {"type": "any"}))
        bounds = {"min_length": "minProperties", "max_length": "maxProperties"}
        described: Json = {"type": "object", **{bounds[key]: schema[key] for key in bounds if key in schema}}
        if values == {PRESERVE: True}:
            return {**described, PRESERVE: True}
        return {**described, "additionalProperties": values}

    def any_schema(self, schema: Any) -> Json:
        return {PRESERVE: True}

    def decimal_schema(self, schema: Any) -> Json:
        return {"type": "string", "pattern": DECIMAL_PATTERN}

    def bytes_schema(self, schema: Any) -> Json:
        return {"type": "string", "format": "byte"}

    def timedelta_schema(self, schema: Any) -> Json:
        return {"type": "string", "format": "duration"}

    def time_schema(self, schema: Any) -> Json:
        raise self._wrong("is a time of day, for which Kubernetes has no format; use a str with a pattern")

    @contextmanager
    def _at(self, name: str) -> Iterator[None]:
        """While something is described that is called `name`. An error leaves it there, to be told."""
        self._path.append(name)
        yield
        self._path.pop()

    def _wrong(self, why: str) -> NotStructural:
        return NotStructural(why, self.path)


def _lengths(schema: Node) -> Node:
    return {key: schema[key] for key in ("min_length", "max_length") if key in schema}


def _said(schema: Json, wrong: Any) -> Json:
    """The same in Kubernetes' words."""
    said = {key: value for key, value in schema.items() if key not in UNSAID}
    if "const" in said:
        said["enum"] = [said.pop("const")]
    for exclusive, bound in EXCLUSIVE.items():
        if exclusive in said and not isinstance(said[exclusive], bool):
            said[bound], said[exclusive] = said[exclusive], True
    if said.get("format") in FORMATS:
        said["format"] = FORMATS[said["format"]]
    if said.get("format") == "":
        del said["format"]
    strange = [key for key in said if key not in KEYWORDS and not key.startswith("x-kubernetes-")]
    if strange:
        raise wrong(f"says {strange[0]!r}, which is no keyword of a CustomResourceDefinition's schema")
    return said
