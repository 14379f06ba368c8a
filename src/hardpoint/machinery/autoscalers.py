"""What autoscaling/v1 cannot say of a HorizontalPodAutoscaler, in the words its annotations have for it.

Annotations tell metrics in an older language, flat where autoscaling/v2 is nested, and behaviour by the names of Go's
fields. Whatever is told in one language can be told back in the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]
Names = Sequence[tuple[str, str]]
"""Where v2 has a value, as a path, and what the annotation calls it; in the annotation's order."""

_PARTS = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_WANTED: Mapping[str, Names] = {
    "Object": (
        ("describedObject", "target"),
        ("metric.name", "metricName"),
        ("target.value", "targetValue"),
        ("metric.selector", "selector"),
        ("target.averageValue", "averageValue"),
    ),
    "Pods": (
        ("metric.name", "metricName"),
        ("target.averageValue", "targetAverageValue"),
        ("metric.selector", "selector"),
    ),
    "Resource": (
        ("name", "name"),
        ("target.averageUtilization", "targetAverageUtilization"),
        ("target.averageValue", "targetAverageValue"),
    ),
    "ContainerResource": (
        ("name", "name"),
        ("target.averageUtilization", "targetAverageUtilization"),
        ("target.averageValue", "targetAverageValue"),
        ("container", "container"),
    ),
    "External": (
        ("metric.name", "metricName"),
        ("metric.selector", "metricSelector"),
        ("target.value", "targetValue"),
        ("target.averageValue", "targetAverageValue"),
    ),
}
_SEEN: Mapping[str, Names] = {
    kind: tuple(
        (
            place.replace("target.", "current."),
            name.replace("target", "current") if place != "describedObject" else name,
        )
        for place, name in names
    )
    for kind, names in _WANTED.items()
}
# The older language has no way to leave these out.
_NEVER_ABSENT = {
    ("Object", "targetValue"),
    ("Object", "currentValue"),
    ("Pods", "targetAverageValue"),
    ("Pods", "currentAverageValue"),
    ("Resource", "currentAverageValue"),
    ("ContainerResource", "currentAverageValue"),
    ("External", "currentValue"),
}
_BEHAVIOUR = ("scaleUp", "scaleDown")
_RULES = ("stabilizationWindowSeconds", "selectPolicy", "policies", "tolerance")
_POLICY = ("type", "value", "periodSeconds")


def wanted_to_v1(metrics: Sequence[Json]) -> list[Json]:
    """The metrics of a v2 spec as the annotation has them."""
    return [_flat(metric, _WANTED) for metric in metrics]


def wanted_to_v2(metrics: Sequence[Json]) -> list[Json]:
    """What `wanted_to_v1` wrote, as a v2 spec has it; each target says its type again."""
    return [_typed(_nested(metric, _WANTED)) for metric in metrics]


def seen_to_v1(metrics: Sequence[Json]) -> list[Json]:
    """The metrics of a v2 status as the annotation has them."""
    return [_flat(metric, _SEEN) for metric in metrics]


def seen_to_v2(metrics: Sequence[Json]) -> list[Json]:
    return [_nested(metric, _SEEN) for metric in metrics]


def behaviour_to_v1(behaviour: Json) -> Json:
    return {_capital(way): _rules(behaviour.get(way)) for way in _BEHAVIOUR}


def behaviour_to_v2(told: Json) -> Json:
    """What `behaviour_to_v1` wrote. Capitals do not matter, as to Go's JSON."""
    small: Json = _small(told)
    return small


def _flat(metric: Json, language: Mapping[str, Names]) -> Json:
    kind = metric.get("type", "")
    part = metric.get(_PARTS.get(kind, "")) or {}
    flat: Json = {}
    for place, name in language.get(kind, ()):
        value = _at(part, place)
        if value is None and (kind, name) in _NEVER_ABSENT:
            value = "0"
        if value is not None:
            flat[name] = value
    return {"type": kind, _PARTS[kind]: flat} if kind in _PARTS else {"type": kind}


def _at(part: Json, place: str) -> Any:
    value: Any = part
    for name in place.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _nested(metric: Json, language: Mapping[str, Names]) -> Json:
    kind = metric.get("type", "")
    flat = metric.get(_PARTS.get(kind, "")) or {}
    part: Json = {}
    for place, name in language.get(kind, ()):
        if name in flat:
            *outer, last = place.split(".")
            home = part.setdefault(outer[0], {}) if outer else part
            home[last] = flat[name]
    return {"type": kind, _PARTS[kind]: part} if kind in _PARTS else {"type": kind}


def _typed(metric: Json) -> Json:
    target = (metric.get(_PARTS.get(metric["type"], "")) or {}).get("target")
    if target is None:
        return metric
    if "averageUtilization" in target:
        target["type"] = "Utilization"
    elif "averageValue" in target:
        target["type"] = "AverageValue"
        target.pop("value", None)
    else:
        target["type"] = "Value"
    return metric


def _rules(rules: Json | None) -> Json | None:
    if rules is None:
        return None
    told = {_capital(name): rules.get(name) for name in _RULES}
    if rules.get("policies") is not None:
        told["Policies"] = [{_capital(name): policy.get(name) for name in _POLICY} for policy in rules["policies"]]
    return told


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


def _small(value: Any) -> Any:
    if isinstance(value, dict):
        return {name[:1].lower() + name[1:]: _small(each) for name, each in value.items() if each is not None}
    return [_small(each) for each in value] if isinstance(value, list) else value
