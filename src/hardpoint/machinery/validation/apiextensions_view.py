"""How Go prints the internal form of a CRD's parts, which has no JSON tags: `{"Name":"v1","Served":true,...}`.

Needed only where a message shows a whole version or schema as the bad value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardpoint.machinery.fielderrors import json_as_go

Json = dict[str, Any]
Printed = Callable[[Any], Any]


def versions_as_go(versions: list[Json]) -> str:
    return json_as_go([_struct(version, VERSION) for version in versions])


def schema_as_go(schema: Json) -> str:
    return json_as_go(_schema(schema))


def rule_as_go(rule: Json) -> str:
    return json_as_go(_struct(rule, RULE))


def _struct(value: Json, fields: list[tuple[str, str, Any, Printed]]) -> Json:
    """A struct's fields under their Go names; `zero` is what an absent one prints as."""
    return {go: printed(value[name]) if name in value else zero for go, name, zero, printed in fields}


def _pointer(fields: list[tuple[str, str, Any, Printed]]) -> Printed:
    return lambda value: None if value is None else _struct(value, fields)


def _list_of(printed: Printed) -> Printed:
    return lambda values: None if values is None else [printed(value) for value in values]


def _map_of(printed: Printed) -> Printed:
    return lambda values: {key: printed(values[key]) for key in sorted(values)}


def _as_is(value: Any) -> Any:
    return value


def _number(value: Any) -> Any:
    """Go prints a float that is whole without its point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _schema(schema: Any) -> Any:
    return None if schema is None else _struct(schema, SCHEMA)


def _schema_or_array(value: Any) -> Any:
    if isinstance(value, list):
        return {"Schema": None, "JSONSchemas": [_schema(each) for each in value]}
    return {"Schema": _schema(value), "JSONSchemas": None}


def _schema_or_bool(value: Any) -> Any:
    if isinstance(value, dict):
        return {"Allows": True, "Schema": _schema(value)}
    return {"Allows": bool(value), "Schema": None}


def _schema_or_strings(value: Any) -> Any:
    if isinstance(value, list):
        return {"Schema": None, "Property": value}
    return {"Schema": _schema(value), "Property": None}


RULE: list[tuple[str, str, Any, Printed]] = [
    ("Rule", "rule", "", _as_is),
    ("Message", "message", "", _as_is),
    ("MessageExpression", "messageExpression", "", _as_is),
    ("Reason", "reason", None, _as_is),
    ("FieldPath", "fieldPath", "", _as_is),
    ("OptionalOldSelf", "optionalOldSelf", None, _as_is),
]

DOCS: list[tuple[str, str, Any, Printed]] = [
    ("Description", "description", "", _as_is),
    ("URL", "url", "", _as_is),
]

SCHEMA: list[tuple[str, str, Any, Printed]] = [
    ("ID", "id", "", _as_is),
    ("Schema", "$schema", "", _as_is),
    ("Ref", "$ref", None, _as_is),
    ("Description", "description", "", _as_is),
    ("Type", "type", "", _as_is),
    ("Nullable", "nullable", False, _as_is),
    ("Format", "format", "", _as_is),
    ("Title", "title", "", _as_is),
    ("Default", "default", None, _as_is),
    ("Maximum", "maximum", None, _number),
    ("ExclusiveMaximum", "exclusiveMaximum", False, _as_is),
    ("Minimum", "minimum", None, _number),
    ("ExclusiveMinimum", "exclusiveMinimum", False, _as_is),
    ("MaxLength", "maxLength", None, _as_is),
    ("MinLength", "minLength", None, _as_is),
    ("Pattern", "pattern", "", _as_is),
    ("MaxItems", "maxItems", None, _as_is),
    ("MinItems", "minItems", None, _as_is),
    ("UniqueItems", "uniqueItems", False, _as_is),
    ("MultipleOf", "multipleOf", None, _number),
    ("Enum", "enum", None, _as_is),
    ("MaxProperties", "maxProperties", None, _as_is),
    ("MinProperties", "minProperties", None, _as_is),
    ("Required", "required", None, _as_is),
    ("Items", "items", None, _schema_or_array),
    ("AllOf", "allOf", None, _list_of(_schema)),
    ("OneOf", "oneOf", None, _list_of(_schema)),
    ("AnyOf", "anyOf", None, _list_of(_schema)),
    ("Not", "not", None, _schema),
    ("Properties", "properties", None, _map_of(_schema)),
    ("AdditionalProperties", "additionalProperties", None, _schema_or_bool),
    ("PatternProperties", "patternProperties", None, _map_of(_schema)),
    ("Dependencies", "dependencies", None, _map_of(_schema_or_strings)),
    ("AdditionalItems", "additionalItems", None, _schema_or_bool),
    ("Definitions", "definitions", None, _map_of(_schema)),
    ("ExternalDocs", "externalDocs", None, _pointer(DOCS)),
    ("Example", "example", None, _as_is),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", None, _as_is),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", False, _as_is),
    ("XIntOrString", "x-kubernetes-int-or-string", False, _as_is),
    ("XListMapKeys", "x-kubernetes-list-map-keys", None, _as_is),
    ("XListType", "x-kubernetes-list-type", None, _as_is),
    ("XMapType", "x-kubernetes-map-type", None, _as_is),
    ("XValidations", "x-kubernetes-validations", None, _list_of(_pointer(RULE))),
]

SCALE: list[tuple[str, str, Any, Printed]] = [
    ("SpecReplicasPath", "specReplicasPath", "", _as_is),
    ("StatusReplicasPath", "statusReplicasPath", "", _as_is),
    ("LabelSelectorPath", "labelSelectorPath", None, _as_is),
]

COLUMN: list[tuple[str, str, Any, Printed]] = [
    ("Name", "name", "", _as_is),
    ("Type", "type", "", _as_is),
    ("Format", "format", "", _as_is),
    ("Description", "description", "", _as_is),
    ("Priority", "priority", 0, _as_is),
    ("JSONPath", "jsonPath", "", _as_is),
]

VERSION: list[tuple[str, str, Any, Printed]] = [
    ("Name", "name", "", _as_is),
    ("Served", "served", False, _as_is),
    ("Storage", "storage", False, _as_is),
    ("Deprecated", "deprecated", False, _as_is),
    ("DeprecationWarning", "deprecationWarning", None, _as_is),
    ("Schema", "schema", None, _pointer([("OpenAPIV3Schema", "openAPIV3Schema", None, _schema)])),
    (
        "Subresources",
        "subresources",
        None,
        _pointer([("Status", "status", None, _pointer([])), ("Scale", "scale", None, _pointer(SCALE))]),
    ),
    ("AdditionalPrinterColumns", "additionalPrinterColumns", None, _list_of(_pointer(COLUMN))),
    ("SelectableFields", "selectableFields", None, _list_of(_pointer([("JSONPath", "jsonPath", "", _as_is)]))),
]
