"""The rows of autoscalers, disruption budgets and scales."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hardpoint.machinery.printers.cells import NONE, UNKNOWN, UNSET, Cells, Json, age, at, name, quantity

_SHOWN_MAX = 2
_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def pod_disruption_budget(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        str(at(obj, "spec.minAvailable", "N/A")),
        str(at(obj, "spec.maxUnavailable", "N/A")),
        at(obj, "status.disruptionsAllowed", 0),
        age(obj, now),
    ]


def scale(obj: Json, now: datetime) -> Cells:
    return [name(obj), at(obj, "spec.replicas", 0), at(obj, "status.replicas", 0), age(obj, now)]


def horizontal_pod_autoscaler(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        f"{at(obj, 'spec.scaleTargetRef.kind', '')}/{at(obj, 'spec.scaleTargetRef.name', '')}",
        _targets(obj),
        str(at(obj, "spec.minReplicas", UNSET)),
        at(obj, "spec.maxReplicas", 0),
        at(obj, "status.currentReplicas", 0),
        age(obj, now),
    ]


def _targets(obj: Json) -> str:
    specs, statuses = _metrics(obj)
    if not specs:
        return NONE
    told = [
        _metric(spec, statuses[index] if index < len(statuses) else {}) for index, spec in enumerate(specs[:_SHOWN_MAX])
    ]
    text = ", ".join(told)
    return f"{text} + {len(specs) - _SHOWN_MAX} more..." if len(specs) > _SHOWN_MAX else text


def _metrics(obj: Json) -> tuple[list[Any], list[Any]]:
    """What is measured, and what was measured. In v1 that is the CPU alone, in fields of its own."""
    utilization = at(obj, "spec.targetCPUUtilizationPercentage")
    if utilization is None:
        return at(obj, "spec.metrics", []), at(obj, "status.currentMetrics", [])
    spec = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": utilization}}}
    current = at(obj, "status.currentCPUUtilizationPercentage")
    if current is None:
        return [spec], []
    return [spec], [{"resource": {"name": "cpu", "current": {"averageUtilization": current}}}]


def _metric(spec: Json, status: Json) -> str:
    kind = spec.get("type", "")
    source = _SOURCES.get(kind)
    if source is None:
        return "<unknown type>"
    measured = spec.get(source) or {}
    target = measured.get("target") or {}
    # None where nothing was measured, which is not the same as a measurement without this value.
    current = None if status.get(source) is None else status[source].get("current") or {}
    if source in ("resource", "containerResource"):
        return f"{measured.get('name', '')}: {_resource(target, current)}"
    if source == "pods":
        return f"{_value(current, 'averageValue')}/{quantity(target.get('averageValue'))}"
    if target.get("averageValue") is not None:
        known = None if current is None or current.get("averageValue") is None else current
        return f"{_value(known, 'averageValue')}/{quantity(target['averageValue'])} (avg)"
    return f"{_value(current, 'value')}/{quantity(target.get('value'))}"


def _resource(target: Json, current: Json | None) -> str:
    if target.get("averageValue") is not None:
        return f"{_value(current, 'averageValue')}/{quantity(target['averageValue'])}"
    wanted = target.get("averageUtilization")
    found = None if current is None else current.get("averageUtilization")
    return f"{UNKNOWN if found is None else f'{found}%'}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _value(current: Json | None, which: str) -> str:
    return UNKNOWN if current is None else quantity(current.get(which))
