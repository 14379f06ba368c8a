"""Who manages the replicas of a workload: lent to its Scale while that is written, and given back after."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hardpoint.apiserver.call import Call
from hardpoint.apiserver.managers import manager_of, tracker_of
from hardpoint.apiserver.options import WriteOptions
from hardpoint.machinery.apply import entries, scaling
from hardpoint.machinery.apply.entries import Entry, Who
from hardpoint.machinery.apply.fieldsets import Path
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.timestamps import format_time

if TYPE_CHECKING:
    from hardpoint.machinery.structural.scale import Scale

Json = dict[str, Any]

SCALE = Kind("autoscaling", "v1", "Scale", "scale", "scale", namespaced=True, verbs=())


def lend(call: Call, workload: Json, scale: Json) -> Json:
    """The Scale of a workload, with the managers of its replicas."""
    managed = scaling.to_scale(_managed(workload), _replicas(call.kind))
    return {**scale, "metadata": {**scale["metadata"], "managedFields": entries.write(managed)}}


def track(call: Call, old: Json, scale: Json, options: WriteOptions) -> Json:
    """A Scale that takes the place of `old`, with its managers."""
    tracked = {**scale, "metadata": dict(scale["metadata"])}
    tracker = tracker_of(call.services.registry, SCALE, call.target.subresource)
    tracker.track(old, tracked, manager_of(call, options), format_time(call.services.now()))
    return tracked


def give_back(call: Call, workload: Json, scale: Json) -> None:
    """Give a workload the managers that its Scale has now."""
    replicas = _replicas(call.kind)
    managed = scaling.to_workload(_managed(workload), _managed(scale), call.kind.api_version, replicas)
    if managed:
        workload["metadata"]["managedFields"] = entries.write(managed)
    else:
        workload["metadata"].pop("managedFields", None)


def _managed(obj: Json) -> dict[Who, Entry]:
    return entries.read(obj["metadata"].get("managedFields"), ours=True)


def _replicas(kind: Kind) -> Mapping[str, Path]:
    """Where a kind keeps its replicas, by version."""
    if kind.structure is None:
        return {kind.api_version: scaling.REPLICAS}
    versions = {kind.api_version: kind.structure, **kind.structure.versions}
    return {name: _path(each.scale) for name, each in versions.items() if each.scale is not None}


def _path(scale: Scale) -> Path:
    return tuple(f"f:{name}" for name in scale.replicas.removeprefix(".").split("."))
