"""The smaller endpoints of a pod: what its status may become, who may look into it, how it may grow."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hardpoint.machinery import defaults, kinds, validation

Json = dict[str, Any]

POD = next(kind for kind in kinds.builtin() if kind.kind == "Pod")
ENDED = {"state": {"terminated": {"exitCode": 0}}}
FAILED = {"state": {"terminated": {"exitCode": 3}}}
RUNNING = {"state": {"running": {}}}


def pod(spec: Json | None = None, status: Json | None = None) -> Json:
    container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": "1"}}}
    obj: Json = {
        "metadata": {"name": "p", "namespace": "default", "uid": "u", "resourceVersion": "1"},
        "spec": {"serviceAccountName": "default", "containers": [container], **(spec or {})},
        "status": {"phase": "Pending", "qosClass": "Burstable", **(status or {})},
    }
    defaults.apply(POD, obj)
    return obj


def changed(part: str, old: Json, new: Json) -> list[str]:
    return [str(error) for error in validation.on_part_update(POD, part, new, old)]


def reported(status: Json, before: Json | None = None, **spec: Any) -> list[str]:
    return changed("status", pod(spec, before), pod(spec, {**(before or {}), **status}))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"phase": "Running", "podIP": "1.2.3.4", "hostIP": "5.6.7.8", "hostIPs": [{"ip": "5.6.7.8"}]}, []),
        ({"podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.4"}, {"ip": "fd00::1"}]}, []),
        (
            {"podIP": "1.2.3.4", "podIPs": [{"ip": "1.2.3.4"}, {"ip": "1.2.3.5"}]},
            [
                'status.podIPs: Invalid value: [{"IP":"1.2.3.4"},{"IP":"1.2.3.5"}]: may specify no more than one IP for'
                " each IP family"
            ],
        ),
        (
            {"podIP": "here", "podIPs": [{"ip": "here"}]},
            ['status.podIPs[0]: Invalid value: "here": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'],
        ),
        (
            {"hostIP": "5.6.7.8", "hostIPs": [{"ip": "5.6.7.9"}]},
            ['status.hostIPs[0].ip: Invalid value: "5.6.7.9": must be equal to `hostIP`'],
        ),
        ({"conditions": [{"type": "Ready"}, {"type": "example.com/warm"}]}, []),
        (
            {"conditions": [{"type": "example.com/warm", "observedGeneration": -1}]},
            ["status.conditions[0].observedGeneration: Invalid value: -1: must be a non-negative integer"],
        ),
        ({"qosClass": "Guaranteed"}, ['status.qosClass: Invalid value: "Guaranteed": field is immutable']),
        ({"nominatedNodeName": "node-1"}, []),
    ],
)
def test_what_may_be_reported(status: Json, expected: list[str]) -> None:
    assert reported(status) == expected


def test_a_pod_that_has_a_node_is_nominated_for_none() -> None:
    assert reported({"nominatedNodeName": "other"}, nodeName="here") == [
        "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node"
    ]


@pytest.mark.parametrize(
    ("policy", "rules", "before", "is_allowed"),
    [
        ("Always", [], ENDED, True),
        ("OnFailure", [], ENDED, False),
        ("OnFailure", [], FAILED, True),
        ("Never", [], FAILED, False),
        ("Never", [{"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}}], FAILED, True),
        ("Never", [{"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}}], ENDED, False),
        ("Never", [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [9]}}], ENDED, True),
    ],
)
def test_a_container_that_ended_for_good_stays_so(
    policy: str, rules: list[Json], before: Json, is_allowed: bool
) -> None:
    container = {"name": "c", "image": "nginx", "restartPolicy": "Never", "restartPolicyRules": rules}
    spec: Json = {"restartPolicy": policy} | ({"containers": [container]} if rules else {})
    was, now = ({"containerStatuses": [{"name": "c", **state}]} for state in (before, RUNNING))
    expected = ["status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state"]
    assert reported(now, was, **spec) == ([] if is_allowed else expected)


def with_debuggers(*debuggers: Json) -> Json:
    return pod({"ephemeralContainers": [deepcopy(each) for each in debuggers]})


DEBUGGER = {"name": "d", "image": "busybox", "targetContainerName": "c"}


def test_debuggers_are_added_and_stay() -> None:
    path = "spec.ephemeralContainers: Forbidden: existing ephemeral containers"
    one, other = with_debuggers(DEBUGGER), with_debuggers({**DEBUGGER, "image": "other"})
    assert changed("ephemeralcontainers", pod(), one) == []
    assert changed("ephemeralcontainers", one, pod()) == [f'{path} "d" may not be removed\n']
    assert changed("ephemeralcontainers", one, other) == [f'{path} "d" may not be changed\n']


def test_a_debugger_looks_at_a_container_that_exists() -> None:
    assert changed("ephemeralcontainers", pod(), with_debuggers({**DEBUGGER, "targetContainerName": "x"})) == [
        'spec.ephemeralContainers[0].targetContainerName: Not found: "x"'
    ]


def resized(**resources: Any) -> list[str]:
    return changed("resize", pod(), pod({"containers": [{"name": "c", "image": "nginx", "resources": resources}]}))


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"requests": {"cpu": "2"}}, []),
        (
            {"requests": {"memory": "1Gi"}},
            ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"],
        ),
        (
            {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
            ['spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1'],
        ),
        (
            {"limits": {"cpu": "1", "memory": "1Gi"}},
            ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
        ),
    ],
)
def test_a_pod_grows_within_its_quality_of_service(resources: Json, expected: list[str]) -> None:
    assert resized(**resources) == expected


@pytest.mark.parametrize("part", ["ephemeralcontainers", "resize"])
def test_what_a_node_runs_by_itself_is_left_alone(part: str) -> None:
    static = pod()
    static["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "m"}
    (error,) = changed(part, static, static)
    assert "static pods" in error
