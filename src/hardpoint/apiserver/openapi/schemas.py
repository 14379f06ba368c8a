"""Shapes as OpenAPI v3 schemas: the same names, types, references and `x-kubernetes-*` extensions as upstream's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hardpoint.apiserver.openapi.descriptions import Descriptions
from hardpoint.apiserver.openapi.names import meta_name
from hardpoint.machinery import shapes
from hardpoint.machinery.shapes import Field, Shape

Json = dict[str, Any]

PREFIX = "#/components/schemas/"

_SCALARS: Mapping[str, Json] = {
    "bool": {"type": "boolean"},
    "bytes": {"type": "string", "format": "byte"},
    "double": {"type": "number", "format": "double"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "string": {"type": "string"},
}
_ABOUT_VALUES = frozenset(("enum", "format"))
"""What is said about each value of a list or map, not about the list or map."""

# Types whose JSON has nothing to do with their fields on the wire: objects with any fields, and values of any type.
_OPAQUE = frozenset(("FieldsV1", "Patch", "RawExtension"))
_ANYTHING = frozenset(("JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"))
IN_EVERY_GROUP = (meta_name("DeleteOptions"), meta_name("WatchEvent"))
"""What every group understands, and says so."""


def built_in(roots: Iterable[str], group: str, version: str) -> dict[str, Json]:
    """The schemas of these names and of all they refer to, as the document of `group` and `version` has them."""
    descriptions = Descriptions()
    found: dict[str, Json] = {}
    waiting = [name.removeprefix("io.k8s.") for name in roots]
    while waiting:
        name = waiting.pop()
        if f"io.k8s.{name}" not in found:
            shape = shapes.named(name)
            found[f"io.k8s.{name}"] = _schema(shape, descriptions)
            waiting += _referred(shape)
    for name in IN_EVERY_GROUP:
        if group and name in found:
            _add_group(found[name], group, version)
    return found


def _referred(shape: Shape) -> Iterator[str]:
    if _is_structure(shape):
        yield from (field.type for field in shape.fields.values() if "." in field.type and not _is_list_type(field))


def _schema(shape: Shape, descriptions: Descriptions) -> Json:
    described = descriptions.of(shape.name)
    schema: Json = {"description": described.text} if described.text else {}
    if _is_structure(shape):
        schema |= _structure(shape, described.fields)
    elif shape.name.rpartition(".")[2] in _OPAQUE:
        schema["type"] = "object"
    return schema | dict(shape.about)


def _structure(shape: Shape, descriptions: Mapping[str, str]) -> Json:
    schema: Json = {"type": "object"}
    fields = sorted(_fields(shape), key=lambda field: field.name)
    if fields:
        schema["properties"] = {field.name: _property(field, descriptions.get(field.name, "")) for field in fields}
    if required := [field.name for field in shape.fields.values() if field.required]:
        schema["required"] = required
    return schema


def _fields(shape: Shape) -> Iterator[Field]:
    """The fields in JSON. A WatchEvent is named like a kind but does not say so itself."""
    says_kind = not shape.name.endswith(".WatchEvent")
    return (field for field in shape.fields.values() if field.number or says_kind)


def _is_structure(shape: Shape) -> bool:
    """Whether the JSON is an object with the shape's fields."""
    kind = shape.name.rpartition(".")[2]
    return not (kind in _OPAQUE or kind in _ANYTHING or "type" in shape.about or "oneOf" in shape.about)


def _property(field: Field, description: str) -> Json:
    facts = {key: value for key, value in field.facts.items() if key != "go"}
    about_value = {key: facts.pop(key) for key in _ABOUT_VALUES & facts.keys()}
    value = _value(field) | about_value
    if field.is_list:
        schema: Json = {"type": "array", "items": value}
    elif field.is_map:
        schema = {"type": "object", "additionalProperties": value}
    elif "$ref" in value and (facts or description):
        # A reference stands alone: what is said beside it is only heard if it is wrapped.
        schema = {"allOf": [value]}
    else:
        schema = value
    if description:
        schema["description"] = description
    return schema | facts


def _value(field: Field) -> Json:
    """The schema of the field's value, of a list's items or of a map's values."""
    if "." not in field.type:
        return dict(_SCALARS[field.type])
    if _is_list_type(field):
        return {"type": "array", "items": {"type": "string"}}
    return {"$ref": f"{PREFIX}io.k8s.{field.type}"}


def _is_list_type(field: Field) -> bool:
    """Whether a value is of a Go type that is nothing but a list of strings; JSON has no name for those."""
    fields = shapes.named(field.type).fields
    return list(fields) == ["items"] and fields["items"].type == "string"


def _add_group(schema: Json, group: str, version: str) -> None:
    """Tell that a kind every group understands is also this group's own."""
    (core, *_) = schema["x-kubernetes-group-version-kind"]
    schema["x-kubernetes-group-version-kind"] = [core, {**core, "group": group, "version": version}]
