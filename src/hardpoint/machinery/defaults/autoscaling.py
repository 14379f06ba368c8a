"""Defaults of HorizontalPodAutoscaler in both served versions."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

CPU_UTILIZATION_PERCENT = 80


def _horizontal_pod_autoscaler(obj: Json) -> None:
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    if obj["apiVersion"] == "autoscaling/v1":
        # In v1 a target is defaulted only where nothing else says what to scale by.
        annotations = obj["metadata"].get("annotations", {})
        if "autoscaling.alpha.kubernetes.io/metrics" not in annotations:
            spec.setdefault("targetCPUUtilizationPercentage", CPU_UTILIZATION_PERCENT)
        return
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": CPU_UTILIZATION_PERCENT}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        behavior["scaleUp"] = {**_scale_up(), **behavior.get("scaleUp", {})}
        behavior["scaleDown"] = {**_scale_down(), **behavior.get("scaleDown", {})}


def _scale_up() -> Json:
    policies = [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ]
    return {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": policies}


def _scale_down() -> Json:
    return {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


DEFAULTS = {"HorizontalPodAutoscaler": _horizontal_pod_autoscaler}
