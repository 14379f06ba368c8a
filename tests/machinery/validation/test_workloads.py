"""Controllers of pods: selectors, roll-outs, templates and what stays as it was."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hardpoint.machinery import defaults, kinds, validation
from hardpoint.machinery.fielderrors import FieldError
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]

KINDS = {kind.kind: kind for kind in kinds.builtin() if kind.group in ("", "apps")}
POD = {"containers": [{"name": "c", "image": "nginx"}]}
CLAIM = {
    "metadata": {"name": "d"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
MISSED = "`selector` does not match template `labels`"


def told(errors: list[FieldError]) -> list[str]:
    return [str(error) for error in errors]


def complete(name: str, **spec: Any) -> tuple[Kind, Json]:
    """A controller that selects its own pods, with defaults; `spec` overrides, None removes."""
    plain = name == "ReplicationController"
    asked: Json = {
        "selector": {"app": "w"} if plain else {"matchLabels": {"app": "w"}},
        "template": {"metadata": {"labels": {"app": "w"}}, "spec": deepcopy(POD)},
        **spec,
    }
    obj: Json = {
        "metadata": {"name": "t", "namespace": "default"},
        "spec": {field: value for field, value in asked.items() if value is not None},
    }
    defaults.apply(KINDS[name], obj)
    return KINDS[name], obj


def created(name: str, **spec: Any) -> list[str]:
    return told(validation.on_create(*complete(name, **spec)))


@pytest.mark.parametrize("name", ["DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"])
def test_a_controller_that_finds_its_pods_is_valid(name: str) -> None:
    assert created(name) == []


@pytest.mark.parametrize(
    ("name", "spec", "expected"),
    [
        (
            "Deployment",
            {"selector": None},
            [
                "spec.selector: Required value",
                f'spec.template.metadata.labels: Invalid value: {{"app":"w"}}: {MISSED}',
            ],
        ),
        (
            "Deployment",
            {"selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
        ),
        (
            "ReplicaSet",
            {"selector": {}},
            ["spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
        ),
        ("DaemonSet", {"selector": {}}, ["spec.selector: Invalid value: {}: empty selector is invalid for daemonset"]),
        (
            "DaemonSet",
            {"selector": None},
            [f'spec.template.metadata.labels: Invalid value: {{"app":"w"}}: {MISSED}'],
        ),
        (
            "StatefulSet",
            {"selector": {"matchExpressions": [{"key": "app", "operator": "Near"}]}},
            [
                'spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator',
                'spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"Near"}]}',
            ],
        ),
        (
            "Deployment",
            {"replicas": -1, "minReadySeconds": 600},
            [
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
                "spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds",
            ],
        ),
        (
            "ReplicationController",
            {"replicas": -1, "minReadySeconds": -2, "selector": {"app": "x"}},
            [
                f'spec.template.metadata.labels: Invalid value: {{"app":"w"}}: {MISSED}',
                "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
                "spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0",
            ],
        ),
        ("ReplicationController", {"template": None}, ["spec.template: Required value"]),
        (
            "Deployment",
            {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}},
            [
                "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
            ],
        ),
        (
            "Deployment",
            {"strategy": {"type": "Fast"}},
            [
                'spec.strategy: Unsupported value: {"Type":"Fast","RollingUpdate":null}: supported values: "Recreate",'
                ' "RollingUpdate"'
            ],
        ),
        (
            "Deployment",
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}},
            [
                "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
            ],
        ),
        (
            "Deployment",
            {"strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}},
            [
                'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
            ],
        ),
        (
            "DaemonSet",
            {"updateStrategy": {"rollingUpdate": {"maxUnavailable": 1, "maxSurge": "10%"}}},
            [
                'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "10%": may not be set when maxUnavailable'
                " is non-zero"
            ],
        ),
        (
            "StatefulSet",
            {"updateStrategy": {"type": "10x", "rollingUpdate": {"partition": 1}}},
            [
                'spec.updateStrategy: Invalid value: {"Type":"10x","RollingUpdate":{"Partition":1,"MaxUnavailable":'
                "null}}: must be 'RollingUpdate' or 'OnDelete'"
            ],
        ),
        (
            "StatefulSet",
            {"podManagementPolicy": "Random", "serviceName": "S", "ordinals": {"start": -1}},
            [
                "spec.podManagementPolicy: Invalid value: \"Random\": must be 'OrderedReady' or 'Parallel'",
                "spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0",
                'spec.serviceName: Invalid value: "S": a lowercase RFC 1123 label must consist of lower case'
                " alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name'"
                ",  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
            ],
        ),
        (
            "StatefulSet",
            {"persistentVolumeClaimRetentionPolicy": {"whenScaled": "Burn"}, "volumeClaimTemplates": [{"spec": {}}]},
            [
                'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Burn": supported values:'
                ' "Retain", "Delete"',
                "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required",
                "spec.volumeClaimTemplates[0].spec.resources[storage]: Required value",
                "spec.template.spec.volumes[0].persistentVolumeClaim.claimName: Required value",
                "spec.template.spec.volumes[0].name: Required value",
            ],
        ),
    ],
)
def test_what_a_controller_may_not_ask_for(name: str, spec: Json, expected: list[str]) -> None:
    assert created(name, **spec) == expected


@pytest.mark.parametrize("name", ["DaemonSet", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"])
def test_controllers_keep_pods_that_never_end(name: str) -> None:
    template = {"metadata": {"labels": {"app": "w"}}, "spec": {**deepcopy(POD), "restartPolicy": "Never"}}
    assert created(name, template=template) == [
        'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'
    ]


def test_pods_of_a_stateful_set_may_mount_its_claims() -> None:
    container = {"name": "c", "image": "nginx", "volumeMounts": [{"name": "d", "mountPath": "/d"}]}
    template = {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [container], "hostname": "Not Checked"}}
    assert created("StatefulSet", template=deepcopy(template), volumeClaimTemplates=[deepcopy(CLAIM)]) == []
    assert created("Deployment", template=deepcopy(template)) != []


def test_what_was_wrong_with_claims_may_stay() -> None:
    kind, old = complete("StatefulSet", volumeClaimTemplates=[{"metadata": {"name": "d"}, "spec": {}}])
    old["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    assert told(validation.on_create(kind, old)) != []
    assert told(validation.on_update(kind, deepcopy(old), old)) == []


@pytest.mark.parametrize("name", ["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"])
def test_a_selector_stays(name: str) -> None:
    kind, old = complete(name)
    old["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    new = deepcopy(old)
    new["spec"]["selector"] = {"matchLabels": {"app": "w", "v": "2"}}
    new["spec"]["template"]["metadata"]["labels"]["v"] = "2"
    assert told(validation.on_update(kind, new, old)) == [
        'spec.selector: Invalid value: {"matchLabels":{"app":"w","v":"2"}}: field is immutable'
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"a": 1}, []),
        (None, ["data: Required value: data is mandatory"]),
        ([1], ["data: Required value: data must be a valid JSON object"]),
    ],
)
def test_a_controller_revision_holds_an_object(data: Any, expected: list[str]) -> None:
    obj = {"metadata": {"name": "r", "namespace": "default"}, "revision": 1, "data": data}
    assert told(validation.on_create(KINDS["ControllerRevision"], obj)) == expected


def test_a_controller_revision_keeps_what_it_holds() -> None:
    metadata = {"name": "r", "namespace": "default", "uid": "u", "resourceVersion": "1"}
    old, new = ({"metadata": metadata, "revision": 1, "data": {"a": value}} for value in (1, 2))
    assert told(validation.on_update(KINDS["ControllerRevision"], new, old)) == [
        'data: Invalid value: {"a":2}: field is immutable'
    ]
