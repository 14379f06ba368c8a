"""Custom resource definitions: names, versions, structural schemas, defaults, conversion."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.structural import explained
from tests.machinery.walk import GONE, Json, changed, complaints, replaced, warnings

STRING = {"type": "string"}
DEFINITION: Json = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "boats.sea.example.com"},
    "spec": {
        "group": "sea.example.com",
        "scope": "Namespaced",
        "names": {"plural": "boats", "kind": "Boat"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
            }
        ],
    },
}
SCHEMA = "spec.versions.0.schema.openAPIV3Schema"
SPEC = f"{SCHEMA}.properties.spec"
TOLD_SPEC = "spec.validation.openAPIV3Schema.properties[spec]"


def with_field(schema: Json) -> Json:
    """The definition with one field in its spec."""
    return changed(DEFINITION, f"{SPEC}.properties", {"f": schema})


def test_a_plain_definition_is_fine() -> None:
    assert complaints(DEFINITION) == []


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (
            "metadata.name",
            "ships.sea.example.com",
            ['metadata.name: Invalid value: "ships.sea.example.com": must be spec.names.plural+"."+spec.group'],
        ),
        ("spec.scope", "World", ['spec.scope: Unsupported value: "World": supported values: "Cluster", "Namespaced"']),
        (
            "spec.names.listKind",
            "Boat",
            ['spec.names.listKind: Invalid value: "Boat": kind and listKind may not be the same'],
        ),
        (
            "spec.preserveUnknownFields",
            True,
            [
                "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set"
                " x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
            ],
        ),
        ("spec.versions.0.schema", GONE, ["spec.versions[0].schema.openAPIV3Schema: Required value"]),
        (
            "spec.versions.0.deprecationWarning",
            "old",
            ['spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions'],
        ),
        (
            "spec.conversion",
            {"strategy": "Webhook"},
            [
                "spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook",
                "spec.conversion.conversionReviewVersions: Required value",
            ],
        ),
        (
            "spec.versions.0.subresources",
            {"scale": {"specReplicasPath": ".status.n", "statusReplicasPath": ".status.n"}},
            ['spec.subresources.scale.specReplicasPath: Invalid value: ".status.n": should be a json path under .spec'],
        ),
        (
            "spec.versions.0.selectableFields",
            [{"jsonPath": ".spec"}],
            [
                'spec.selectableFields[0].jsonPath: Invalid value: ".spec": must point to a field of type string,'
                " boolean or integer. Enum string fields and strings with formats are allowed."
            ],
        ),
    ],
)
def test_the_frame_of_a_definition(path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(DEFINITION, path, value)) == told


def test_a_group_of_the_project_needs_its_approval() -> None:
    body = changed(changed(DEFINITION, "spec.group", "boats.k8s.io"), "metadata.name", "boats.boats.k8s.io")
    assert [text.partition(": ")[0] for text in complaints(body)] == [
        "metadata.annotations[api-approved.kubernetes.io]"
    ]
    approved = changed(body, "metadata.annotations", {"api-approved.kubernetes.io": "https://example.com/pull/1"})
    assert complaints(approved) == []


def test_schemas_that_differ_are_told_by_version() -> None:
    other = changed(DEFINITION["spec"]["versions"][0], "name", "v2")
    other = changed(changed(other, "storage", False), "schema.openAPIV3Schema.properties.spec.type", GONE)
    body = changed(DEFINITION, "spec.versions", [DEFINITION["spec"]["versions"][0], other])
    assert complaints(body) == [
        "spec.versions[1].schema.openAPIV3Schema.properties[spec].type: Required value:"
        " must not be empty for specified object fields"
    ]


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (STRING, []),
        ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}, []),
        ({"x-kubernetes-preserve-unknown-fields": True}, []),
        ({}, ["type: Required value: must not be empty for specified object fields"]),
        ({"type": "array"}, ["items: Required value: must be specified"]),
        (
            {"type": "float"},
            [
                'type: Unsupported value: "float": supported values: "array", "boolean", "integer", "number",'
                ' "object", "string"'
            ],
        ),
        (
            {"type": "string", "anyOf": [{"type": "string"}]},
            ["anyOf[0].type: Forbidden: must be empty to be structural"],
        ),
        (
            {"type": "object", "properties": {"a": STRING}, "additionalProperties": STRING},
            ["additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive"],
        ),
        (
            {"type": "array", "items": STRING, "uniqueItems": True},
            [
                "uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes"
                " quadratic"
            ],
        ),
        ({"type": "string", "$ref": "#/x"}, ["$ref: Forbidden: $ref is not supported"]),
        (
            {"type": "string", "pattern": "(?=a)"},
            [
                'pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn\'t: error parsing'
                " regexp: invalid or unsupported Perl syntax: `(?=`"
            ],
        ),
        (
            {"type": "array", "items": STRING, "x-kubernetes-list-type": "map"},
            [
                "x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map",
                'items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
            ],
        ),
        (
            {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["k"],
                "items": {"type": "object", "properties": {"k": STRING}},
            },
            [
                "items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it"
                " must have a default or be a required property"
            ],
        ),
        (
            {"type": "string", "x-kubernetes-validations": [{"rule": " ", "reason": "Bad"}]},
            [
                "x-kubernetes-validations[0].rule: Required value: rule is not specified",
                'x-kubernetes-validations[0].reason: Unsupported value: "Bad": supported values:'
                ' "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
            ],
        ),
        (
            {"type": "integer", "default": 3, "minimum": 5},
            ["default: Invalid value: 3:  in body should be greater than or equal to 5"],
        ),
        (
            {"type": "string", "default": 3},
            ['default: Invalid value: "integer":  in body must be of type string: "integer"'],
        ),
        (
            {"type": "object", "properties": {"a": STRING}, "default": {"b": "x"}},
            ['default: Invalid value: {"b":"x"}: must not have unknown fields'],
        ),
        (
            {"type": "object", "properties": {"a": STRING}, "required": ["a"], "default": {}},
            ["default.a: Required value"],
        ),
    ],
)
def test_one_field_of_a_schema(schema: Json, told: list[str]) -> None:
    path = f"{TOLD_SPEC}.properties[f]."
    assert complaints(with_field(schema)) == [path + text for text in told]


def test_logic_may_not_talk_about_unknown_fields() -> None:
    body = changed(DEFINITION, f"{SCHEMA}.anyOf", [{"properties": {"ghost": {}}}])
    assert complaints(body) == [
        "spec.validation.openAPIV3Schema.properties[ghost]: Required value: because it is defined in"
        " spec.validation.openAPIV3Schema.anyOf[0].properties[ghost]"
    ]


def test_root_metadata_only_constrains_names() -> None:
    metadata = f"{SCHEMA}.properties.metadata"
    fine = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 9}}}
    assert complaints(changed(DEFINITION, metadata, fine)) == []
    told = complaints(changed(DEFINITION, metadata, {"type": "object", "properties": {"labels": {"type": "object"}}}))
    assert [text.split(": ")[1] for text in told] == ["Forbidden"]


def test_a_stored_version_stays() -> None:
    moved = changed(changed(DEFINITION, "spec.versions.0.name", "v2"), "spec.group", "sea.example.com")
    obj, told = replaced(moved, DEFINITION)
    assert obj["status"]["storedVersions"] == ["v1", "v2"]
    assert len(told) == 1
    assert told[0].startswith('status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was')


def test_the_group_stays() -> None:
    _, told = replaced(changed(DEFINITION, "spec.group", "lake.example.com"), DEFINITION)
    assert told == ['spec.group: Invalid value: "lake.example.com": field is immutable']


def test_an_unknown_format_is_a_warning() -> None:
    assert warnings(with_field({"type": "string", "format": "phone"})) == ['unrecognized format "phone"']
    assert warnings(with_field({"type": "string", "format": "date-time"})) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_an_open_schema_fits_every_value(value: Any) -> None:
    assert explained.problems("x", value, {"nullable": True}) == []


@given(json_values)
def test_a_value_fits_its_own_type_and_no_other(value: Any) -> None:
    own = explained.TYPES[type(value)]
    fits = {
        kind for kind in ("string", "boolean", "array", "object") if not explained.problems("x", value, {"type": kind})
    }
    assert fits == ({own} & {"string", "boolean", "array", "object"})
