"""Autoscalers and disruption budgets."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import Json, changed, complaints

AUTOSCALER: Json = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "a"},
    "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}, "maxReplicas": 3},
}
BUDGET: Json = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "b"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
}
QUEUE = {"type": "External", "external": {"metric": {"name": "q"}, "target": {"type": "Value", "value": "5"}}}


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("minReplicas", 2, []),
        ("minReplicas", 4, ["maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"]),
        (
            "minReplicas",
            0,
            [
                "metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero"
                " replicas"
            ],
        ),
        (
            "maxReplicas",
            -1,
            [
                "maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
                "maxReplicas: Invalid value: -1: must be greater than or equal to 1",
            ],
        ),
        (
            "scaleTargetRef.apiVersion",
            "v1",
            ['scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group'],
        ),
        ("metrics", [QUEUE], []),
        (
            "metrics",
            [changed(QUEUE, "external.target.averageValue", "1")],
            [
                "metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a"
                " per-pod target"
            ],
        ),
        (
            "metrics",
            [{"type": "Pods"}],
            ["metrics[0].pods: Required value: must populate information for the given metric source"],
        ),
        (
            "metrics",
            [changed(QUEUE, "resource", {"name": "cpu", "target": {"type": "Utilization"}})],
            ["metrics[0].resource: Forbidden: must populate the given metric source only"],
        ),
        (
            "behavior",
            {"scaleUp": {"stabilizationWindowSeconds": 3601}},
            ["behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600"],
        ),
        (
            "behavior",
            {"scaleUp": {"policies": [{"type": "Pods", "value": 0, "periodSeconds": 1801}]}},
            [
                "behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
                "behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800",
            ],
        ),
    ],
)
def test_autoscalers(path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(AUTOSCALER, f"spec.{path}", value)) == [f"spec.{text}" for text in told]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("spec.minAvailable", "100%", []),
        ("spec.minAvailable", "101%", ['spec.minAvailable: Invalid value: "101%": must not be greater than 100%']),
        ("spec.minAvailable", -1, ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"]),
        (
            "spec.maxUnavailable",
            1,
            [
                'spec: Invalid value: {"MinAvailable":1,"Selector":{"matchLabels":{"app":"web"}},"MaxUnavailable":1,'
                '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set'
            ],
        ),
    ],
)
def test_budgets(path: str, value: Any, told: list[str]) -> None:
    assert complaints(changed(BUDGET, path, value)) == told
