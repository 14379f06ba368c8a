"""Pods and pod templates: what is refused, in which words and in which order."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import defaults, kinds, validation
from hardpoint.machinery.fielderrors import FieldError

Json = dict[str, Any]

POD = next(kind for kind in kinds.builtin() if kind.kind == "Pod")
TEMPLATE = next(kind for kind in kinds.builtin() if kind.kind == "PodTemplate")
DELETE = object()

LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with"
    " an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is"
    " '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
NODE_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


def pod() -> Json:
    """A pod that uses a bit of everything and is valid once it is complete."""
    body = {
        "metadata": {"name": "web", "namespace": "default", "annotations": {"x": "y"}},
        "spec": {
            "serviceAccountName": "default",
            "containers": [
                {
                    "name": "c",
                    "image": "nginx",
                    "ports": [{"containerPort": 80, "name": "web"}],
                    "env": [
                        {"name": "A", "value": "b"},
                        {"name": "P", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    ],
                    "resources": {"limits": {"cpu": "1", "memory": "128Mi"}, "requests": {"cpu": "100m"}},
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                    "livenessProbe": {"httpGet": {"port": 80}},
                    "lifecycle": {"preStop": {"exec": {"command": ["true"]}}},
                    "securityContext": {"runAsUser": 1},
                }
            ],
            "initContainers": [{"name": "i", "image": "busybox", "restartPolicy": "Always"}],
            "volumes": [
                {"name": "v", "emptyDir": {}},
                {"name": "cm", "configMap": {"name": "x", "items": [{"key": "k", "path": "p"}]}},
                {"name": "pr", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}},
                {"name": "h", "hostPath": {"path": "/x"}},
            ],
            "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "z", "operator": "In", "values": ["a"]}]}]
                    }
                }
            },
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
            ],
        },
    }
    defaults.apply(POD, body)
    return body


def changed(body: Json, path: str, value: Any) -> Json:
    """The body with another value at a dotted path, or without one."""
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place: Any = body
    for step in way:
        place = place[step]
    if value is DELETE:
        del place[last]
    else:
        place[last] = value
    return body


def told(errors: list[FieldError]) -> list[str]:
    return [str(error) for error in errors]


def test_a_complete_pod_is_valid() -> None:
    assert told(validation.on_create(POD, pod())) == []


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.containers", [], ["spec.containers: Required value"]),
        ("spec.containers.0.name", "", ["spec.containers[0].name: Required value"]),
        ("spec.containers.0.name", "A_b", [f'spec.containers[0].name: Invalid value: "A_b": {LABEL}']),
        ("spec.containers.0.name", "a.b", ['spec.containers[0].name: Invalid value: "a.b": must not contain dots']),
        ("spec.containers.0.image", "", ["spec.containers[0].image: Required value"]),
        (
            "spec.containers.0.image",
            " nginx",
            ['spec.containers[0].image: Invalid value: " nginx": must not have leading or trailing whitespace'],
        ),
        ("spec.initContainers.0.name", "c", ['spec.initContainers[0].name: Duplicate value: "c"']),
        ("spec.containers.0.ports.0.containerPort", 0, ["spec.containers[0].ports[0].containerPort: Required value"]),
        (
            "spec.containers.0.ports.0.protocol",
            "ICMP",
            ['spec.containers[0].ports[0].protocol: Unsupported value: "ICMP": supported values: "SCTP", "TCP", "UDP"'],
        ),
        ("spec.containers.0.env.0.name", "", ["spec.containers[0].env[0].name: Required value"]),
        (
            "spec.containers.0.env.1.valueFrom",
            {},
            [
                'spec.containers[0].env[1].valueFrom: Invalid value: "": must specify one of: `fieldRef`,'
                " `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
            ],
        ),
        (
            "spec.containers.0.env.1.valueFrom.fieldRef.fieldPath",
            "spec.hostname",
            [
                'spec.containers[0].env[1].valueFrom.fieldRef.fieldPath: Invalid value: "spec.hostname":'
                " error converting fieldPath: field label not supported: spec.hostname"
            ],
        ),
        (
            "spec.containers.0.env.1.valueFrom.fieldRef.fieldPath",
            "metadata.labels['a b']",
            [
                'spec.containers[0].env[1].valueFrom.fieldRef: Invalid value: "a b": name part must consist of'
                " alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
                " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is"
                " '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
            ],
        ),
        (
            "spec.containers.0.resources.requests.cpu",
            "2",
            ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
        ),
        (
            "spec.containers.0.resources.requests",
            {"example.com/gpu": "1", "cpu": "-1"},
            [
                "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable"
                " resources",
                'spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0',
            ],
        ),
        (
            "spec.containers.0.resources",
            {"limits": {"hugepages-2Mi": "3Mi"}, "requests": {"hugepages-2Mi": "3Mi"}},
            [
                'spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: "3Mi":'
                " 3Mi is not positive integer multiple of hugepages-2Mi",
                'spec.containers[0].resources.requests[hugepages-2Mi]: Invalid value: "3Mi":'
                " 3Mi is not positive integer multiple of hugepages-2Mi",
                "spec.containers[0].resources: Forbidden: HugePages require cpu or memory",
            ],
        ),
        (
            "spec.containers.0.resources.claims",
            [{"name": "gpu"}],
            [
                'spec.containers[0].resources.claims[0]: Not found: "gpu": must be one of the names in'
                " pod.spec.resourceClaims which is empty"
            ],
        ),
        ("spec.containers.0.volumeMounts.0.name", "w", ['spec.containers[0].volumeMounts[0].name: Not found: "w"']),
        (
            "spec.containers.0.volumeMounts.0.subPath",
            "../up",
            ["spec.containers[0].volumeMounts.subPath: Invalid value: \"../up\": must not contain '..'"],
        ),
        (
            "spec.containers.0.volumeMounts.0.mountPropagation",
            "Bidirectional",
            [
                "spec.containers[0].volumeMounts.mountPropagation: Forbidden: Bidirectional mount propagation is"
                " available only to privileged containers"
            ],
        ),
        (
            "spec.containers.0.livenessProbe",
            {"exec": {"command": ["a"]}, "tcpSocket": {"port": 1}, "successThreshold": 2},
            [
                "spec.containers[0].livenessProbe.tcpSocket: Forbidden: may not specify more than 1 handler type",
                "spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
            ],
        ),
        (
            "spec.containers.0.lifecycle.preStop",
            {"sleep": {"seconds": 31}},
            [
                "spec.containers[0].lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than"
                " terminationGracePeriodSeconds (30)"
            ],
        ),
        (
            "spec.containers.0.securityContext.runAsUser",
            -1,
            [
                "spec.containers[0].securityContext.runAsUser: Invalid value: -1:"
                " must be between 0 and 2147483647, inclusive"
            ],
        ),
        (
            "spec.containers.0.securityContext.seccompProfile",
            {"type": "RuntimeDefault", "localhostProfile": "x"},
            [
                "spec.containers[0].securityContext.seccompProfile.localhostProfile: Invalid value:"
                ' {"Type":"RuntimeDefault","LocalhostProfile":"x"}: can only be set when seccomp type is Localhost'
            ],
        ),
        (
            "spec.initContainers.0.restartPolicy",
            DELETE,
            [],
        ),
        (
            "spec.volumes.0",
            {"name": "v"},
            [
                "spec.volumes[0]: Required value: must specify a volume type",
                'spec.containers[0].volumeMounts[0].name: Not found: "v"',
            ],
        ),
        (
            "spec.volumes.0",
            {"name": "v", "emptyDir": {}, "hostPath": {"path": "/"}},
            [
                "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type",
                'spec.containers[0].volumeMounts[0].name: Not found: "v"',
            ],
        ),
        ("spec.volumes.3.name", "cm", ['spec.volumes[3].name: Duplicate value: "cm"']),
        (
            "spec.volumes.1.configMap.items.0.path",
            "/abs",
            ['spec.volumes[1].configMap.items[0].path: Invalid value: "/abs": must be a relative path'],
        ),
        (
            "spec.volumes.2.projected.sources.0.serviceAccountToken.path",
            "",
            ["spec.volumes[2].projected.path: Required value"],
        ),
        (
            "spec.volumes.2.projected.sources.0.serviceAccountToken.expirationSeconds",
            599,
            [
                "spec.volumes[2].projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 599:"
                " may not specify a duration less than 10 minutes"
            ],
        ),
        (
            "spec.volumes.3",
            {"name": "h", "iscsi": {"targetPortal": "1.2.3.4", "iqn": "iqn.bad", "lun": 256}},
            [
                'spec.volumes[3].iscsi.iqn: Invalid value: "iqn.bad": must be valid format',
                "spec.volumes[3].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
            ],
        ),
        (
            "spec.volumes.3",
            {"name": "h", "ephemeral": {"volumeClaimTemplate": {"metadata": {"name": "no"}, "spec": {}}}},
            [
                "spec.volumes[3].ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
                "spec.volumes[3].ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode"
                " is required",
                "spec.volumes[3].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
            ],
        ),
        (
            "spec.restartPolicy",
            "Sometimes",
            ['spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"'],
        ),
        (
            "spec.dnsPolicy",
            "None",
            ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
        ),
        (
            "spec.tolerations.0",
            {"value": "v", "operator": "Exists", "tolerationSeconds": 1},
            [
                "spec.tolerations[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds`"
                " is set",
                "spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'",
            ],
        ),
        (
            "spec.tolerations.0.operator",
            "Lt",
            ['spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", "Exists", "Lt", "Gt"'],
        ),
        (
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
            [],
            [f"{NODE_TERMS}: Required value: must have at least one node selector term"],
        ),
        (
            "spec.affinity",
            {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"matchLabelKeys": ["a"]}]}},
            [
                "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden:"
                " must not be specified when labelSelector is not set",
                "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required"
                " value: can not be empty",
                "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid"
                ' value: "": name part must be non-empty',
                "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid"
                " value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start"
                " and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for"
                " validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
            ],
        ),
        (
            "spec.topologySpreadConstraints.0.minDomains",
            0,
            ["spec.topologySpreadConstraints[0].minDomains: Invalid value: 0: must be greater than zero"],
        ),
        ("spec.hostUsers", False, []),
        (
            "spec.serviceAccount",
            "other",
            [
                'spec.deprecatedServiceAccount: Invalid value: "other":'
                ' must be the same as serviceAccountName: "default"'
            ],
        ),
        (
            "spec.ephemeralContainers",
            [
                {
                    "name": "e",
                    "image": "b",
                    "ports": [{"containerPort": 1, "protocol": "TCP"}],
                    "imagePullPolicy": "Always",
                    "terminationMessagePolicy": "File",
                }
            ],
            [
                "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
                "spec.ephemeralContainers: Forbidden: cannot be set on create",
            ],
        ),
        (
            "metadata.annotations",
            {"controller.kubernetes.io/pod-deletion-cost": "+07"},
            [
                'metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "+07":'
                " must be a 32bit integer"
            ],
        ),
        (
            "metadata.annotations",
            {"kubernetes.io/config.mirror": "m"},
            [
                'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "m":'
                " must set spec.nodeName if mirror pod annotation is set"
            ],
        ),
    ],
)
def test_a_change_for_the_worse_is_told(path: str, value: Any, expected: list[str]) -> None:
    assert told(validation.on_create(POD, changed(pod(), path, value))) == expected


def test_windows_pods_know_nothing_of_linux() -> None:
    body = changed(pod(), "spec.os", {"name": "windows"})
    body["spec"]["securityContext"] = {"fsGroup": 1, "windowsOptions": {}}
    body["spec"]["hostPID"] = True
    assert told(validation.on_create(POD, body)) == [
        "spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod",
        "spec.hostPID: Forbidden: cannot be set for a windows pod",
        "spec.containers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod",
    ]


def test_init_containers_that_end_are_not_probed() -> None:
    body = pod()
    body["spec"]["initContainers"][0] = {**body["spec"]["containers"][0], "name": "i"}
    why = "may not be set for init containers without restartPolicy=Always"
    assert told(validation.on_create(POD, body)) == [
        f"spec.initContainers[0].lifecycle: Forbidden: {why}",
        f"spec.initContainers[0].livenessProbe: Forbidden: {why}",
    ]


def test_ports_of_the_host_are_taken_once() -> None:
    body = pod()
    port = {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}
    body["spec"]["containers"][0]["ports"] = [port, port]
    assert told(validation.on_create(POD, body)) == ['spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//80"']


def test_a_template_is_told_at_its_own_path() -> None:
    body = pod()
    del body["spec"]["containers"][0]["image"]
    template = {"metadata": {"labels": {"a": "b c"}}, "spec": body["spec"]}
    obj = {"metadata": {"name": "t", "namespace": "default"}, "template": template}
    first, second = told(validation.on_create(TEMPLATE, obj))
    assert first.startswith('template.labels: Invalid value: "b c": a valid label must be')
    assert second == "template.spec.containers[0].image: Required value"


def updated(path: str, value: Any) -> list[str]:
    """What is told when a running pod is changed at one place."""
    old = pod()
    old["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    return told(validation.on_update(POD, changed(deepcopy(old), path, value), old))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("spec.containers.0.image", "nginx:2"),
        ("spec.activeDeadlineSeconds", 5),
        ("spec.tolerations.0.tolerationSeconds", 9),
        ("metadata.labels", {"a": "b"}),
    ],
)
def test_a_running_pod_lets_a_little_be_changed(path: str, value: Any) -> None:
    assert updated(path, value) == []


def test_a_running_pod_is_otherwise_what_it_is() -> None:
    (error,) = updated("spec.hostname", "other")
    assert error.startswith("spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,")
    assert error.endswith("\nchanged: spec.hostname\n")


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("spec.containers", [], ["spec.containers: Required value", "spec.containers: Forbidden: pod updates may not"]),
        ("spec.tolerations", [], ["spec.tolerations: Forbidden: existing toleration can not be modified except its"]),
        (
            "spec.schedulingGates",
            [{"name": "g"}],
            ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed"],
        ),
        ("metadata.name", "other", ['metadata.name: Invalid value: "other": field is immutable']),
    ],
)
def test_what_a_running_pod_refuses(path: str, value: Any, expected: list[str]) -> None:
    errors = updated(path, value)
    assert [error[: len(start)] for error, start in zip(errors, expected, strict=True)] == expected


def test_a_gated_pod_may_be_told_more_exactly_where_to_go() -> None:
    old = pod()
    old["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    old["spec"] |= {"schedulingGates": [{"name": "g.io/x"}], "nodeSelector": {"a": "b"}}
    narrower = changed(deepcopy(old), "spec.nodeSelector", {"a": "b", "c": "d"})
    required = narrower["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    required["nodeSelectorTerms"][0]["matchExpressions"].append({"key": "y", "operator": "Exists"})
    assert told(validation.on_update(POD, narrower, old)) == []
    elsewhere = changed(deepcopy(old), "spec.nodeSelector", {"c": "d"})
    assert told(validation.on_update(POD, elsewhere, old)) == [
        'spec.nodeSelector: Invalid value: {"c":"d"}: only additions to spec.nodeSelector are allowed'
        " (no mutations or deletions)"
    ]


@given(st.data())
def test_validation_never_fails_whatever_part_of_a_pod_is_missing(data: st.DataObject) -> None:
    body = pod()
    place: Any = body["spec"]
    while isinstance(place, dict | list) and place:
        keys = sorted(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()):
            del place[key]
            break
        place = place[key]
    for error in validation.on_create(POD, body):
        assert str(error).startswith("spec")
