"""Priority classes, runtime classes, leases, API services, flow control, migrations, reviews."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import GONE, Json, changed, complaints, replaced


def made(api_version: str, kind: str, name: str = "x", **fields: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name} if name else {}, **fields}


PRIORITY = made("scheduling.k8s.io/v1", "PriorityClass", value=1000)
RUNTIME = made("node.k8s.io/v1", "RuntimeClass", handler="runc")
LEASE = made("coordination.k8s.io/v1", "Lease", spec={"leaseDurationSeconds": 15})
API_SERVICE = made(
    "apiregistration.k8s.io/v1",
    "APIService",
    "v1.sea.example.com",
    spec={
        "group": "sea.example.com",
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 10,
        "service": {"namespace": "n", "name": "s"},
    },
)
FLOW = "flowcontrol.apiserver.k8s.io/v1"
RULE = {
    "subjects": [{"kind": "User", "user": {"name": "u"}}],
    "resourceRules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["*"]}],
}
FLOW_SCHEMA = made(FLOW, "FlowSchema", spec={"priorityLevelConfiguration": {"name": "p"}, "rules": [RULE]})
LEVEL = made(
    FLOW,
    "PriorityLevelConfiguration",
    spec={"type": "Limited", "limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 64}}}},
)
MIGRATION = made("storagemigration.k8s.io/v1", "StorageVersionMigration", spec={"resource": {"resource": "secrets"}})
REVIEW = made(
    "authorization.k8s.io/v1",
    "SubjectAccessReview",
    "",
    spec={"user": "u", "resourceAttributes": {"verb": "get", "resource": "pods"}},
)


@pytest.mark.parametrize("body", [PRIORITY, RUNTIME, LEASE, API_SERVICE, FLOW_SCHEMA, LEVEL, MIGRATION, REVIEW])
def test_a_plain_one_is_fine(body: Json) -> None:
    assert complaints(body) == []


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (
            PRIORITY,
            "value",
            1000000001,
            ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
        ),
        (
            PRIORITY,
            "metadata.name",
            "system-mine",
            [
                "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only."
                " error: system-mine is not a known system priority class"
            ],
        ),
        (
            RUNTIME,
            "handler",
            "Run_C",
            [
                'handler: Invalid value: "Run_C": a lowercase RFC 1123 label must consist of lower case alphanumeric'
                " characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or"
                " '123-abc',"
                " regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
            ],
        ),
        (
            RUNTIME,
            "scheduling",
            {"tolerations": [{"key": "k", "operator": "Exists"}] * 2},
            [
                'scheduling.tolerations[1]: Duplicate value: {"Key":"k","Operator":"Exists","Value":"","Effect":"",'
                '"TolerationSeconds":null}'
            ],
        ),
        (
            LEASE,
            "spec.leaseDurationSeconds",
            0,
            ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
        ),
        (
            API_SERVICE,
            "spec.version",
            "v2",
            [
                'metadata.name: Invalid value: "v1.sea.example.com": must be `spec.version+"."+spec.group`:'
                ' "v2.sea.example.com"'
            ],
        ),
        (
            API_SERVICE,
            "spec.versionPriority",
            1001,
            ["spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"],
        ),
        (
            FLOW_SCHEMA,
            "spec.matchingPrecedence",
            1,
            ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
        ),
        (
            FLOW_SCHEMA,
            "spec.rules.0.subjects.0.group",
            {"name": "g"},
            ["spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'"],
        ),
        (
            FLOW_SCHEMA,
            "spec.rules.0.nonResourceRules",
            [{"verbs": ["get"], "nonResourceURLs": ["/a*"]}],
            [
                'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a*": wildcard can only'
                " do suffix"
                " matching"
            ],
        ),
        (
            LEVEL,
            "spec.limited.limitResponse.queuing.handSize",
            65,
            ["spec.limited.limitResponse.queuing.handSize: Invalid value: 65: should not be greater than queues (64)"],
        ),
        (
            LEVEL,
            "spec.limited.limitResponse.queuing.handSize",
            11,
            [
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 11: required entropy bits of"
                " deckSize 64 and"
                " handSize 11 should not be greater than 60"
            ],
        ),
        (
            LEVEL,
            "spec.limited.lendablePercent",
            101,
            ["spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive"],
        ),
        (
            MIGRATION,
            "spec.resource.resource",
            GONE,
            ["spec.resource.resource: Required value: resource is required to be set"],
        ),
        (
            REVIEW,
            "spec.nonResourceAttributes",
            {"path": "/x", "verb": "get"},
            [
                'spec: Invalid value: {"Path":"/x","Verb":"get"}: exactly one of nonResourceAttributes or'
                " resourceAttributes must be specified"
            ],
        ),
        (
            REVIEW,
            "spec.resourceAttributes.labelSelector",
            {},
            [
                "spec.resourceAttributes.labelSelector.requirements: Required value: when"
                " spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required"
            ],
        ),
    ],
)
def test_what_they_may_say(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(body, path, value)) == told


@pytest.mark.parametrize(
    ("body", "path", "value", "told"),
    [
        (PRIORITY, "value", 2000, ["value: Forbidden: may not be changed in an update."]),
        (PRIORITY, "preemptionPolicy", "Never", ['preemptionPolicy: Invalid value: "Never": field is immutable']),
        (PRIORITY, "description", "d", []),
        (RUNTIME, "handler", "runsc", ["handler: Invalid value: null: field is immutable"]),
        (
            MIGRATION,
            "spec.resource.resource",
            "pods",
            ['spec: Invalid value: {"Resource":{"group":"","resource":"pods"}}: field is immutable'],
        ),
    ],
)
def test_what_may_change(body: Json, path: str, value: Any, told: list[str]) -> None:
    assert replaced(changed(body, path, value), body)[1] == told
