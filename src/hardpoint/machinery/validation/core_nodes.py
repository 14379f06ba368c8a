"""What makes a Node invalid."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, invalids, not_supported, required
from hardpoint.machinery.validation import resources, rules

Json = dict[str, Any]
Errors = list[FieldError]

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
CIDR_STAYS = 'node updates may not change podCIDR except from "" to valid'


def on_create(obj: Json) -> Errors:
    errors: Errors = []
    # Upstream tells taints as part of the metadata, where they once were.
    _taints(errors, "metadata.taints", obj["spec"].get("taints") or [])
    _amounts(errors, obj.get("status") or {})
    _swap(errors, (obj.get("status") or {}).get("nodeInfo") or {})
    _pod_cidrs(errors, "spec.podCIDRs", obj["spec"].get("podCIDRs") or [])
    return errors


def on_update(obj: Json, old: Json) -> Errors:
    errors = on_create(obj)
    spec, before = obj["spec"], old["spec"]
    _unique_addresses(errors, "status.addresses", (obj.get("status") or {}).get("addresses") or [])
    if before.get("podCIDRs") and spec.get("podCIDRs") != before["podCIDRs"]:
        errors.append(forbidden("spec.podCIDRs", CIDR_STAYS))
    if before.get("providerID") and spec.get("providerID", "") != before["providerID"]:
        done = "modified" if spec.get("providerID") else "cleared"
        errors.append(invalid("spec.providerID", None, f"field cannot be {done} once set"))
    return errors


def _taints(errors: Errors, path: str, taints: list[Json]) -> None:
    seen = set()
    for index, taint in enumerate(taints):
        place = at(path, index)
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        errors += invalids(f"{place}.key", key, names.label_key(key))
        if wrong := names.label_value(value):
            errors.append(invalid(f"{place}.value", value, ";".join(wrong)))
        if not effect:
            errors.append(required(f"{place}.effect"))
        elif effect not in EFFECTS:
            errors.append(not_supported(f"{place}.effect", effect, EFFECTS))
        if (key, effect) in seen:
            shown = rules.as_go_struct(Key=key, Value=value, Effect=effect, TimeAdded=taint.get("timeAdded"))
            detail = "taints must be unique by key and effect pair"
            errors.append(FieldError("FieldValueDuplicate", place, shown, detail))
        seen.add((key, effect))


def _amounts(errors: Errors, status: Json) -> None:
    for field in ("capacity", "allocatable"):
        for name, amount in (status.get(field) or {}).items():
            resources.resource_amount(errors, f"status.{field}.{name}", name, amount)


def _unique_addresses(errors: Errors, path: str, values: list[Json]) -> None:
    seen = set()
    for index, value in enumerate(values):
        key = (value.get("type", ""), value.get("address", ""))
        if key in seen:
            shown = rules.as_go_struct(Type=key[0], Address=key[1])
            errors.append(FieldError("FieldValueDuplicate", at(path, index), shown, ""))
        seen.add(key)


def _swap(errors: Errors, info: Json) -> None:
    capacity = (info.get("swap") or {}).get("capacity")
    if capacity is not None and capacity <= 0:
        errors.append(invalid("metadata.nodeSwapStatus.capacity", capacity, rules.POSITIVE))


def _pod_cidrs(errors: Errors, path: str, cidrs: list[str]) -> None:
    for index, cidr in enumerate(cidrs):
        errors += invalids(at(path, index), cidr, addresses.legacy_cidr(cidr))
    if len(cidrs) < 2:
        return
    parsed = [addresses.parse_cidr(cidr) for cidr in cidrs]
    if None in parsed:
        index = parsed.index(None)
        why = f"invalid CIDR[{index}]: <nil> (invalid CIDR address: {cidrs[index]})"
        told = f"invalid PodCIDRs. failed to check with dual stack with error:{why}"
        errors.append(FieldError("InternalError", path, "", told))
    versions = {cidr.address.version for cidr in parsed if cidr is not None}
    if len(cidrs) > 2 or len(versions) < 2 or None in parsed:
        errors.append(invalid(path, cidrs, "may specify no more than one CIDR for each IP family"))
