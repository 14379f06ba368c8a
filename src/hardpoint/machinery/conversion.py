"""Built-in kinds that are served in two versions: how one becomes the other.

HorizontalPodAutoscaler is stored as autoscaling/v2; what v1 cannot say travels in annotations, as in Kubernetes, so a
round trip through v1 loses nothing; `autoscalers` knows their words. Events are stored as v1 and shown as
events.k8s.io/v1 by renaming fields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from hardpoint.machinery import autoscalers

Json = dict[str, Any]
Face = tuple[str, str, str]
Convert = Callable[[Json], Json]

_METRICS = "autoscaling.alpha.kubernetes.io/metrics"
_CURRENT_METRICS = "autoscaling.alpha.kubernetes.io/current-metrics"
_BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"
_CONDITIONS = "autoscaling.alpha.kubernetes.io/conditions"


def between(source: Face, target: Face) -> Convert | None:
    """What turns a `source` object into a `target` one; None if they are the same. The input is not changed."""
    return None if source == target else _CONVERSIONS[source, target]


def _cpu(target: Json) -> Json:
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _is_cpu_utilization(metric: Json) -> bool:
    resource = metric.get("resource") or {}
    target = resource.get("target") or resource.get("current") or {}
    return metric.get("type") == "Resource" and resource.get("name") == "cpu" and "averageUtilization" in target


def _autoscaler_to_v2(obj: Json) -> Json:
    metadata, annotations = _with_annotations(obj)
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    metrics = []
    utilization = spec.pop("targetCPUUtilizationPercentage", None)
    if utilization is not None:
        metrics.append(_cpu({"type": "Utilization", "averageUtilization": utilization}))
    metrics += autoscalers.wanted_to_v2(_taken(annotations, _METRICS, []))
    if metrics:
        spec["metrics"] = metrics
    if behavior := _taken(annotations, _BEHAVIOR, {}):
        spec["behavior"] = autoscalers.behaviour_to_v2(behavior)
    utilization = status.pop("currentCPUUtilizationPercentage", None)
    current = autoscalers.seen_to_v2(_taken(annotations, _CURRENT_METRICS, []))
    if utilization is not None and not current:
        current = [{"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": utilization}}}]
    if current:
        status["currentMetrics"] = current
    if conditions := _taken(annotations, _CONDITIONS, []):
        status["conditions"] = conditions
    # The zeros of v1 are not those of v2.
    status.setdefault("currentMetrics", None)
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    return _whole("autoscaling/v2", "HorizontalPodAutoscaler", metadata, annotations, spec=spec, status=status)


def _autoscaler_to_v1(obj: Json) -> Json:
    metadata, annotations = _with_annotations(obj)
    spec, status = dict(obj.get("spec") or {}), dict(obj.get("status") or {})
    others = []
    for metric in spec.pop("metrics", None) or []:
        if _is_cpu_utilization(metric) and "targetCPUUtilizationPercentage" not in spec:
            spec["targetCPUUtilizationPercentage"] = metric["resource"]["target"]["averageUtilization"]
        else:
            others.append(metric)
    _put(annotations, _METRICS, autoscalers.wanted_to_v1(others))
    if behavior := spec.pop("behavior", None):
        _put(annotations, _BEHAVIOR, autoscalers.behaviour_to_v1(behavior))
    current = status.pop("currentMetrics", None) or []
    for metric in filter(_is_cpu_utilization, current):
        status["currentCPUUtilizationPercentage"] = metric["resource"]["current"]["averageUtilization"]
    _put(annotations, _CURRENT_METRICS, autoscalers.seen_to_v1(current))
    _put(annotations, _CONDITIONS, status.pop("conditions", None))
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    return _whole("autoscaling/v1", "HorizontalPodAutoscaler", metadata, annotations, spec=spec, status=status)


def _with_annotations(obj: Json) -> tuple[Json, Json]:
    # What nobody manages of an object may be all of its metadata.
    metadata = dict(obj.get("metadata") or {})
    return metadata, dict(metadata.pop("annotations", None) or {})


def _taken(annotations: Json, name: str, absent: Any) -> Any:
    """What an annotation holds as JSON, removing it; what is not JSON of the right kind stays where it is."""
    if name not in annotations:
        return absent
    try:
        value = orjson.loads(annotations[name])
    except orjson.JSONDecodeError:
        return absent
    if type(value) is not type(absent) or not all(isinstance(each, dict) for each in value if type(value) is list):
        return absent
    del annotations[name]
    return value


def _put(annotations: Json, name: str, value: Any) -> None:
    if value:
        annotations[name] = orjson.dumps(value).decode()


def _whole(api_version: str, kind: str, metadata: Json, annotations: Json, **parts: Json) -> Json:
    if annotations:
        metadata["annotations"] = annotations
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **parts}


# events.k8s.io/v1 name to v1 name, where they differ.
_EVENT_NAMES = {
    "regarding": "involvedObject",
    "note": "message",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
    "reportingController": "reportingComponent",
}
_CORE_EVENT_NAMES = {core: new for new, core in _EVENT_NAMES.items()}


_REPORTERS = ("reportingController", "reportingInstance")


def _event_to_core(obj: Json) -> Json:
    named = {_EVENT_NAMES.get(name, name): value for name, value in obj.items()}
    return {"reportingComponent": "", "reportingInstance": "", **named, "apiVersion": "v1"}


def _event_from_core(obj: Json) -> Json:
    named = {_CORE_EVENT_NAMES.get(name, name): value for name, value in obj.items()}
    for name in _REPORTERS:
        if not named.get(name):
            named.pop(name, None)
    return named | {"apiVersion": "events.k8s.io/v1"}


_AUTOSCALER_V1 = ("autoscaling", "v1", "HorizontalPodAutoscaler")
_AUTOSCALER_V2 = ("autoscaling", "v2", "HorizontalPodAutoscaler")
_CORE_EVENT = ("", "v1", "Event")
_EVENT = ("events.k8s.io", "v1", "Event")

_CONVERSIONS: Mapping[tuple[Face, Face], Convert] = {
    (_AUTOSCALER_V1, _AUTOSCALER_V2): _autoscaler_to_v2,
    (_AUTOSCALER_V2, _AUTOSCALER_V1): _autoscaler_to_v1,
    (_CORE_EVENT, _EVENT): _event_from_core,
    (_EVENT, _CORE_EVENT): _event_to_core,
}
