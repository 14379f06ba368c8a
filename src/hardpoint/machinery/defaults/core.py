"""Defaults of the small core kinds: Namespace, Node, Secret, LimitRange, ResourceQuota."""

from __future__ import annotations

import base64
from typing import Any

from hardpoint.machinery.defaults.quantities import round_up

Json = dict[str, Any]

NAME_LABEL = "kubernetes.io/metadata.name"


def _namespace(obj: Json) -> None:
    metadata = obj["metadata"]
    name = metadata.get("name")
    if name:
        metadata.setdefault("labels", {})[NAME_LABEL] = name
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Active"


def _node(obj: Json) -> None:
    spec = obj["spec"]
    first, cidrs = spec.get("podCIDR"), spec.get("podCIDRs")
    if first and (not cidrs or cidrs[0] != first):
        spec["podCIDRs"] = [first]
    elif cidrs and not first:
        spec["podCIDR"] = cidrs[0]
    status = obj.get("status", {})
    if "capacity" in status and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])
    round_up(status.get("capacity"))
    round_up(status.get("allocatable"))


def _secret(obj: Json) -> None:
    if not obj.get("type"):
        obj["type"] = "Opaque"
    # Write-only text is folded into the data, over keys that are there already.
    text = obj.pop("stringData", None)
    if text:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in text.items()}
        obj["data"] = {**obj.get("data", {}), **encoded}


def _limit_range(obj: Json) -> None:
    for limit in obj["spec"].get("limits") or ():
        if limit.get("type") == "Container":
            _container_limit(limit)
        for field in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
            round_up(limit.get(field))


def _container_limit(limit: Json) -> None:
    """An unspoken default is the maximum; an unspoken request is the default, else the minimum."""
    defaults = {**limit.get("max", {}), **limit.get("default", {})}
    requests = {**limit.get("min", {}), **defaults, **limit.get("defaultRequest", {})}
    if defaults:
        limit["default"] = defaults
    if requests:
        limit["defaultRequest"] = requests


def _resource_quota(obj: Json) -> None:
    round_up(obj["spec"].get("hard"))


DEFAULTS = {
    "Namespace": _namespace,
    "Node": _node,
    "Secret": _secret,
    "LimitRange": _limit_range,
    "ResourceQuota": _resource_quota,
}
