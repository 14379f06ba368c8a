"""Object metadata: the rules every kind shares, and the few by which kinds differ."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import validation
from hardpoint.machinery.fielderrors import FieldError
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.validation import metadata

Json = dict[str, Any]

CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", "configmap", True, ())
EVENT = Kind("", "v1", "Event", "events", "event", True, ())
LEASE = Kind("coordination.k8s.io", "v1", "Lease", "leases", "lease", True, ())
NODE = Kind("", "v1", "Node", "nodes", "node", False, ())
ROLE = Kind("rbac.authorization.k8s.io", "v1", "Role", "roles", "role", True, ())
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", "namespace", False, ())
REVIEW = Kind("authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews", "", False, ())

KEY = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric"
    " character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is"
    " '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}


def told(errors: list[FieldError]) -> list[str]:
    return [str(error) for error in errors]


def created(kind: Kind = CONFIG_MAP, **fields: Any) -> list[str]:
    namespace = {"namespace": "default"} if kind.namespaced else {}
    return told(metadata.on_create(kind, {"metadata": {"name": "a", **namespace, **fields}}))


def updated(new: Json, old: Json | None = None) -> list[str]:
    before = {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1", **(old or {})}
    return told(metadata.on_update(CONFIG_MAP, {"metadata": {**before, **new}}, {"metadata": before}))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"name": ""}, ["metadata.name: Required value: name or generateName is required"]),
        ({"name": "a" * 254}, [f'metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters']),
        ({"generateName": "a-"}, []),
        ({"namespace": ""}, ["metadata.namespace: Required value"]),
        ({"generation": -1}, ["metadata.generation: Invalid value: -1: must be greater than or equal to 0"]),
        ({"labels": {"a b": ""}}, [f'metadata.labels: Invalid value: "a b": {KEY}']),
        ({"annotations": {"Upper/Case": "x"}}, []),
        (
            {"annotations": {"a": "x" * (256 * 1024)}},
            ["metadata.annotations: Too long: may not be more than 262144 bytes"],
        ),
        ({"finalizers": ["a.io/b", "kubernetes"]}, []),
        (
            {"finalizers": ["orphan", "foregroundDeletion"]},
            [
                'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]:'
                " finalizer orphan and foregroundDeletion cannot be both set"
            ],
        ),
        ({"ownerReferences": [OWNER]}, []),
        (
            {"ownerReferences": [{"apiVersion": "a/b/c", "kind": "Pod"}]},
            [
                'metadata.ownerReferences[0].apiVersion: Invalid value: "a/b/c":'
                " must be <group>/<version> or <version>",
                "metadata.ownerReferences[0].name: Required value: must not be empty",
                "metadata.ownerReferences[0].uid: Required value: must not be empty",
            ],
        ),
        (
            {"ownerReferences": [{**OWNER, "kind": "Event"}]},
            [
                'metadata.ownerReferences[0]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}:'
                " /v1, Kind=Event is disallowed from being an owner"
            ],
        ),
        (
            {"managedFields": [{"operation": "Steal", "fieldsType": "V2", "manager": "a\x07"}]},
            [
                'metadata.managedFields[0].operation: Unsupported value: "Steal": supported values: "Apply", "Update"',
                'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
                'metadata.managedFields[0].manager: Invalid value: "a\\a": invalid character U+0007 (at position 1)',
            ],
        ),
    ],
)
def test_what_a_new_object_may_say_about_itself(fields: Json, expected: list[str]) -> None:
    assert created(**fields) == expected


def test_one_owner_at_most_is_the_controller() -> None:
    owners = [{**OWNER, "controller": True}, {**OWNER, "name": "q", "controller": True}]
    (error,) = created(ownerReferences=owners)
    assert error.endswith(
        'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q'
    )


@pytest.mark.parametrize(
    ("kind", "name", "is_valid"),
    [
        (CONFIG_MAP, "a.b", True),
        (CONFIG_MAP, "A", False),
        (NAMESPACE, "a-b", True),
        (NAMESPACE, "a.b", False),
        (ROLE, "system:Any Thing!", True),
        (ROLE, "a/b", False),
        (ROLE, "..", False),
    ],
)
def test_kinds_differ_in_the_form_of_their_names(kind: Kind, name: str, is_valid: bool) -> None:
    assert (created(kind, name=name) == []) is is_valid


def test_cluster_wide_kinds_have_no_namespace() -> None:
    assert created(NODE, namespace="default") == ["metadata.namespace: Forbidden: not allowed on this type"]


def test_questions_need_no_name() -> None:
    assert metadata.on_create(REVIEW, {}) == []


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ({}, {}, []),
        ({"labels": {"a": "b"}}, {"labels": {"c": "d"}}, []),
        ({"resourceVersion": ""}, {}, ['metadata.resourceVersion: Invalid value: "": must be specified for an update']),
        ({"generation": 1}, {"generation": 2}, ["metadata.generation: Invalid value: 1: must not be decremented"]),
        ({"name": "b"}, {}, ['metadata.name: Invalid value: "b": field is immutable']),
        ({"uid": "v"}, {}, ['metadata.uid: Invalid value: "v": field is immutable']),
        (
            {"deletionTimestamp": None},
            {"deletionTimestamp": "2026-01-01T00:00:00Z"},
            ["metadata.deletionTimestamp: Invalid value: null: field is immutable"],
        ),
        (
            {"finalizers": ["a.io/x", "b.io/y"]},
            {"finalizers": ["a.io/x"], "deletionTimestamp": "2026-01-01T00:00:00Z"},
            [
                "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted,"
                ' found new finalizers []string{"b.io/y"}'
            ],
        ),
    ],
)
def test_what_an_update_may_change(new: Json, old: Json, expected: list[str]) -> None:
    assert updated(new, old) == expected


@given(st.dictionaries(st.text(max_size=70), st.text(max_size=70), max_size=3))
def test_labels_are_valid_one_by_one_or_not_at_all(labels: dict[str, str]) -> None:
    each = [error for key, value in labels.items() for error in created(labels={key: value})]
    assert created(labels=labels) == each


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        pytest.param(CONFIG_MAP, ["metadata.finalizers", "metadata.finalizers[0]"], id="most kinds ask"),
        pytest.param(EVENT, ["metadata.finalizers"], id="an Event does not"),
        pytest.param(LEASE, ["metadata.finalizers"], id="a Lease does not"),
    ],
)
def test_where_a_finalizer_comes_from_matters_to_most_kinds(kind: Kind, fields: list[str]) -> None:
    assert [error.field for error in metadata.finalizers(kind, {"metadata": {"finalizers": ["bad!"]}})] == fields
    assert [error.field for error in metadata.finalizers(kind, {"metadata": {"finalizers": ["a.io/b"]}})] == []


def test_what_replaces_another_has_finalizers_to_check() -> None:
    old = {"metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1"}}
    new = {"metadata": {**old["metadata"], "finalizers": ["bad!"]}}
    fields = ["metadata.finalizers", "metadata.finalizers[0]"]
    assert [error.field for error in validation.on_update(CONFIG_MAP, new, old)] == fields
