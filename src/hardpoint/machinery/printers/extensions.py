"""The rows of what extends the API and the nodes: definitions, services, migrations, devices."""

from __future__ import annotations

from datetime import datetime

from hardpoint.machinery.printers.cells import Cells, Json, age, ago, at, condition, is_deleted, is_true, name

_MIGRATION_STATES = ("Running", "Failed", "Succeeded")


def custom_resource_definition(obj: Json, now: datetime) -> Cells:
    versions = [
        f"{version.get('name', '')}(storage)" if version.get("storage") else version.get("name", "")
        for version in at(obj, "spec.versions", ())
        if version.get("served")
    ]
    return [
        name(obj),
        at(obj, "spec.scope", ""),
        ",".join(sorted(versions)),
        obj["metadata"].get("creationTimestamp"),
        at(obj, "spec.group", ""),
        at(obj, "spec.names.kind", ""),
        ",".join(at(obj, "spec.names.shortNames", ())),
        is_true(at(obj, "status.conditions"), "Established"),
    ]


def api_service(obj: Json, now: datetime) -> Cells:
    service = at(obj, "spec.service")
    place = "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"
    return [name(obj), place, _available(obj), age(obj, now)]


def _available(obj: Json) -> str:
    found = condition(at(obj, "status.conditions"), "Available")
    if found is None:
        return "Unknown"
    status = str(found.get("status", ""))
    return f"{status} ({found['reason']})" if status != "True" and found.get("reason") else status


def storage_version_migration(obj: Json, now: datetime) -> Cells:
    group = at(obj, "spec.resource.group")
    resource = at(obj, "spec.resource.resource", "")
    reached = [
        each["type"]
        for each in at(obj, "status.conditions", ())
        if each.get("status") == "True" and each.get("type") in _MIGRATION_STATES
    ]
    return [name(obj), f"{resource}.{group}" if group else resource, reached[-1] if reached else "Unknown"]


def resource_claim(obj: Json, now: datetime) -> Cells:
    states = ["deleted"] if is_deleted(obj) else []
    if at(obj, "status.allocation") is not None:
        states += ["allocated", "reserved"] if at(obj, "status.reservedFor") else ["allocated"]
    return [name(obj), ",".join(states) or "pending", age(obj, now)]


def resource_slice(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        at(obj, "spec.nodeName", ""),
        at(obj, "spec.driver", ""),
        at(obj, "spec.pool.name", ""),
        age(obj, now),
    ]


def device_taint_rule(obj: Json, now: datetime) -> Cells:
    added = at(obj, "spec.taint.timeAdded")
    return [
        name(obj),
        at(obj, "spec.taint.key", ""),
        at(obj, "spec.taint.value", ""),
        at(obj, "spec.taint.effect", ""),
        "" if added is None else ago(added, now),
        age(obj, now),
    ]
