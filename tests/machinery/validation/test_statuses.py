"""The status of built-in kinds: what controllers may not say about what they see. Words are those of kube-apiserver."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery import kinds, validation

Json = dict[str, Any]

NEGATIVE = "must be greater than or equal to 0"
OF_ALL = "cannot be greater than status.replicas"


def problems(group: str, name: str, status: Json, before: Json | None = None, **spec: Any) -> list[str]:
    kind = next(each for each in kinds.builtin() if (each.group, each.kind) == (group, name))
    metadata = {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1"}
    new, old = ({"metadata": metadata, "spec": spec, "status": each} for each in (status, before or {}))
    return [str(error) for error in validation.on_part_update(kind, "status", new, old)]


@pytest.mark.parametrize("name", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_parts_are_not_more_than_the_whole(name: str) -> None:
    assert problems("apps", name, {"replicas": 2, "readyReplicas": 2, "availableReplicas": 1}) == []
    assert problems("apps", name, {"replicas": 1, "readyReplicas": 2}) == [
        f"status.readyReplicas: Invalid value: 2: {OF_ALL}"
    ]
    ready = "status.readyReplicas" if name == "StatefulSet" else "readyReplicas"
    assert problems("apps", name, {"replicas": 1, "availableReplicas": 1}) == [
        f"status.availableReplicas: Invalid value: 1: cannot be greater than {ready}"
    ]


def test_of_a_negative_number_nothing_is_a_part() -> None:
    assert problems("", "ReplicationController", {"replicas": -1}) == [
        f"status.replicas: Invalid value: -1: {NEGATIVE}",
        f"status.fullyLabeledReplicas: Invalid value: 0: {OF_ALL}",
        f"status.readyReplicas: Invalid value: 0: {OF_ALL}",
        f"status.availableReplicas: Invalid value: 0: {OF_ALL}",
    ]


@pytest.mark.parametrize("name", ["DaemonSet", "Deployment", "StatefulSet"])
@pytest.mark.parametrize(("count", "refused"), [(3, None), (4, None), (2, 2), (None, 0)])
def test_collisions_are_not_forgotten(name: str, count: int | None, refused: int | None) -> None:
    status = {} if count is None else {"collisionCount": count}
    told = [] if refused is None else [f"status.collisionCount: Invalid value: {refused}: cannot be decremented"]
    assert problems("apps", name, status, {"collisionCount": 3}) == told


@pytest.mark.parametrize(
    ("group", "name", "status", "field"),
    [
        ("apps", "DaemonSet", {"numberReady": -1}, "status.numberReady"),
        ("autoscaling", "HorizontalPodAutoscaler", {"desiredReplicas": -1}, "status.desiredReplicas"),
        (
            "autoscaling",
            "HorizontalPodAutoscaler",
            {"conditions": [{"observedGeneration": -1}]},
            "status.conditions[0].observedGeneration",
        ),
        ("policy", "PodDisruptionBudget", {"expectedPods": -1}, "status.expectedPods"),
    ],
)
def test_nothing_is_counted_below_zero(group: str, name: str, status: Json, field: str) -> None:
    assert problems(group, name, status) == [f"{field}: Invalid value: -1: {NEGATIVE}"]


@pytest.mark.parametrize(
    ("point", "told"),
    [
        pytest.param({"ip": "192.0.2.1", "ipMode": "VIP"}, None, id="an address"),
        pytest.param({"hostname": "a.example.com"}, None, id="a name"),
        pytest.param({"ip": "192.0.2.1"}, ".ipMode: Required value: must be specified when `ip` is set", id="no mode"),
        pytest.param(
            {"ipMode": "VIP"}, ".ipMode: Forbidden: may not be specified when `ip` is not set", id="only mode"
        ),
        pytest.param(
            {"ip": "192.0.2.1", "ipMode": "Else"},
            '.ipMode: Unsupported value: "Else": supported values: "Proxy", "VIP"',
            id="an unknown mode",
        ),
        pytest.param(
            {"hostname": "192.0.2.1"},
            '.hostname: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
            id="an address as a name",
        ),
    ],
)
def test_where_a_balancer_is_reached(point: Json, told: str | None) -> None:
    expected = [] if told is None else [f"status.loadBalancer.ingress[0]{told}"]
    assert problems("", "Service", {"loadBalancer": {"ingress": [point]}}, type="LoadBalancer") == expected


def test_only_a_balanced_service_is_reached_from_outside() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
    assert problems("", "Service", status, type="ClusterIP") == [
        "status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"
    ]
    assert problems("networking.k8s.io", "Ingress", status) == []


def test_an_address_that_was_there_may_stay() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "192.0.2.01"}]}}
    assert problems("networking.k8s.io", "Ingress", status, status) == []
    assert problems("networking.k8s.io", "Ingress", status) != []


def test_a_namespace_terminates_when_it_was_deleted() -> None:
    assert problems("", "Namespace", {"phase": "Active"}) == []
    assert problems("", "Namespace", {"phase": "Terminating"}) == [
        "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"
    ]
