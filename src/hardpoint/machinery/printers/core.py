"""The rows of the core group's small kinds, and of those that are as simple."""

from __future__ import annotations

from datetime import datetime

from hardpoint.machinery.printers.cells import (
    NONE,
    UNKNOWN,
    Cells,
    Json,
    age,
    ago,
    at,
    condition,
    name,
    quantity,
)

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE_LABEL = "kubernetes.io/role"


def name_and_age(obj: Json, now: datetime) -> Cells:
    return [name(obj), age(obj, now)]


def config_map(obj: Json, now: datetime) -> Cells:
    return [name(obj), len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), age(obj, now)]


def secret(obj: Json, now: datetime) -> Cells:
    return [name(obj), obj.get("type", ""), len(obj.get("data") or ()), age(obj, now)]


def namespace(obj: Json, now: datetime) -> Cells:
    return [name(obj), at(obj, "status.phase", "Active"), age(obj, now)]


def lease(obj: Json, now: datetime) -> Cells:
    return [name(obj), at(obj, "spec.holderIdentity", ""), age(obj, now)]


def runtime_class(obj: Json, now: datetime) -> Cells:
    return [name(obj), obj.get("handler", ""), age(obj, now)]


def priority_class(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        age(obj, now),
        obj.get("preemptionPolicy") or "",
    ]


def component_status(obj: Json, now: datetime) -> Cells:
    healthy = condition(obj.get("conditions"), "Healthy")
    if healthy is None:
        return [name(obj), "Unknown", "", ""]
    state = "Healthy" if healthy.get("status") == "True" else "Unhealthy"
    return [name(obj), state, healthy.get("message", ""), healthy.get("error", "")]


def node(obj: Json, now: datetime) -> Cells:
    info = at(obj, "status.nodeInfo", {})
    kernel = info.get("kernelVersion") or UNKNOWN
    if architecture := info.get("architecture"):
        kernel = f"{kernel} ({architecture})"
    return [
        name(obj),
        _node_status(obj),
        ",".join(_roles(obj)) or NONE,
        age(obj, now),
        info.get("kubeletVersion", ""),
        _address(obj, "InternalIP"),
        _address(obj, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        kernel,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _node_status(obj: Json) -> str:
    # Of several conditions of a type the last one counts, as it does in upstream's map.
    ready = condition(reversed(at(obj, "status.conditions", [])), "Ready")
    state = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{state},SchedulingDisabled" if at(obj, "spec.unschedulable") else state


def _roles(obj: Json) -> list[str]:
    labels = obj["metadata"].get("labels") or {}
    roles = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    roles.add(labels.get(_ROLE_LABEL, ""))
    return sorted(role for role in roles if role)


def _address(obj: Json, wanted: str) -> str:
    addresses = at(obj, "status.addresses", ())
    return next((str(each.get("address", "")) for each in addresses if each.get("type") == wanted), NONE)


def resource_quota(obj: Json, now: datetime) -> Cells:
    requests: list[str] = []
    limits: list[str] = []
    used = at(obj, "status.used", {})
    for resource, hard in sorted(at(obj, "status.hard", {}).items()):
        told = limits if resource.startswith("limits.") else requests
        told.append(f"{resource}: {quantity(used.get(resource))}/{quantity(hard)}")
    return [name(obj), ", ".join(requests), ", ".join(limits), age(obj, now)]


def event(obj: Json, now: datetime) -> Cells:
    target, source = obj.get("involvedObject") or {}, obj.get("source") or {}
    first = ago(obj.get("firstTimestamp") or obj.get("eventTime"), now)
    last = ago(obj["lastTimestamp"], now) if obj.get("lastTimestamp") else first
    count = obj.get("count") or 1
    if (series := obj.get("series")) is not None:
        last = ago(series.get("lastObservedTime"), now)
        count = series.get("count", 0)
    kind = target.get("kind", "").lower()
    component = source.get("component") or obj.get("reportingComponent") or ""
    instance = source.get("host") or obj.get("reportingInstance") or ""
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{target['name']}" if target.get("name") else kind,
        target.get("fieldPath", ""),
        f"{component}, {instance}" if instance else component,
        (obj.get("message") or "").strip(),
        first,
        count,
        name(obj),
    ]
