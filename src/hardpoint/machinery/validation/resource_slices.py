"""What makes a ResourceSlice invalid: the devices a driver offers, and where they can be reached."""

from __future__ import annotations

import re
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, invalid, invalids, required
from hardpoint.machinery.fielderrors import too_long as told_too_long
from hardpoint.machinery.fielderrors import too_many as told_too_many
from hardpoint.machinery.validation import resource_policies, rules
from hardpoint.machinery.validation.affinity import node_selector
from hardpoint.machinery.validation.resource_names import plain_driver_name, qualified_name, taint

Json = dict[str, Any]
Errors = list[FieldError]

EFFECTS = ("NoExecute", "NoSchedule", "None")
DEVICES_MAX = 128
DEVICES_MAX_WITH_FEATURES = 64
ATTRIBUTES_AND_CAPACITIES_MAX = 32
VALUE_LENGTH_MAX = 64
TAINTS_MAX = 16
COUNTER_SETS_MAX = 8
WHERE = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
WHERE_OF_DEVICE = ("nodeName", "nodeSelector", "allNodes")
ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
ONE_PLACE_OF_DEVICE = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required"
    " when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
ALL_VALUES = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`"
VALUES = ("bool", "int", "string", "version", "bools", "ints", "strings", "versions")

_SEMANTIC_VERSION = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


def on_create(obj: Json) -> Errors:
    errors: Errors = []
    _spec(errors, obj["spec"], {})
    return errors


def on_update(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    _spec(errors, obj["spec"], old["spec"])
    return errors


def pool_name(errors: Errors, path: str, name: str) -> None:
    """Subdomains with slashes between them."""
    if not name:
        errors.append(required(path))
        return
    if names.length(name) > names.DNS_SUBDOMAIN_LENGTH_MAX:
        errors.append(told_too_long(path, names.DNS_SUBDOMAIN_LENGTH_MAX))
    for part in name.split("/"):
        errors += invalids(path, part, names.dns_subdomain(part))


def _spec(errors: Errors, spec: Json, before: Json) -> None:
    plain_driver_name(errors, "spec.driver", spec.get("driver", ""))
    pool = spec.get("pool") or {}
    pool_name(errors, "spec.pool.name", pool.get("name", ""))
    count, generation = pool.get("resourceSliceCount", 0), pool.get("generation", 0)
    if count <= 0:
        errors.append(invalid("spec.pool.resourceSliceCount", count, rules.POSITIVE))
    if generation < 0:
        errors.append(invalid("spec.pool.generation", generation, "must be greater than or equal to zero"))
    if before:
        errors += rules.immutable("spec.pool.name", pool.get("name"), before.get("pool", {}).get("name"))
        for field in ("driver", "nodeName"):
            errors += rules.immutable(f"spec.{field}", spec.get(field), before.get(field))
    _place(errors, "spec", spec)
    devices = spec.get("devices") or []
    if devices and spec.get("sharedCounters"):
        errors.append(invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
    _devices(errors, "spec.devices", devices, spec)
    _counter_sets(errors, "spec.sharedCounters", spec.get("sharedCounters") or [])


def _place(errors: Errors, path: str, spec: Json) -> None:
    found = []
    if "nodeName" in spec:
        if spec["nodeName"]:
            found.append("nodeName")
            errors += invalids(f"{path}.nodeName", spec["nodeName"], names.dns_subdomain(spec["nodeName"]))
        else:
            errors.append(invalid(f"{path}.nodeName", "", "must be either unset or set to a non-empty string"))
    if "nodeSelector" in spec:
        found.append("nodeSelector")
        node_selector(errors, f"{path}.nodeSelector", spec["nodeSelector"])
        terms = spec["nodeSelector"].get("nodeSelectorTerms") or []
        if len(terms) != 1:
            detail = "must have exactly one node selector term"
            errors.append(invalid(f"{path}.nodeSelector.nodeSelectorTerms", terms, detail))
    for field in ("allNodes", "perDeviceNodeSelection"):
        if spec.get(field):
            found.append(field)
        elif field in spec:
            errors.append(invalid(f"{path}.{field}", False, "must be either unset or set to true"))
    if not found:
        errors.append(required(path, ONE_PLACE))
    elif len(found) > 1:
        errors.append(invalid(path, _listed(found), f"{ONE_PLACE}, but multiple fields are set"))


def _listed(fields: list[str]) -> str:
    return "{" + ", ".join(f"`{field}`" for field in fields) + "}"


def _devices(errors: Errors, path: str, devices: list[Json], spec: Json) -> None:
    has_features = any(
        device.get("taints") or device.get("consumesCounters") or _has_list_values(device) for device in devices
    )
    limit = DEVICES_MAX_WITH_FEATURES if has_features else DEVICES_MAX
    if len(devices) > limit:
        errors.append(told_too_many(path, len(devices), limit))
        return
    for index, device in enumerate(devices):
        _device(errors, at(path, index), device, per_device=bool(spec.get("perDeviceNodeSelection")))
    seen = set()
    for index, device in enumerate(devices):
        name = device.get("name", "")
        if name in seen:
            errors.append(duplicate(at(path, index), name))
        seen.add(name)


def _has_list_values(device: Json) -> bool:
    return any(not attribute.keys().isdisjoint(VALUES[4:]) for attribute in (device.get("attributes") or {}).values())


def _device(errors: Errors, path: str, device: Json, *, per_device: bool) -> None:
    name = device.get("name", "")
    errors += invalids(f"{path}.name", name, names.dns_label(name))
    attributes, capacity = device.get("attributes") or {}, device.get("capacity") or {}
    count = len(attributes) + len(capacity)
    if count > ATTRIBUTES_AND_CAPACITIES_MAX:
        detail = f"the total number of attributes and capacities must not exceed {ATTRIBUTES_AND_CAPACITIES_MAX}"
        errors.append(invalid(path, count, detail))
    for key, attribute in attributes.items():
        place = at(f"{path}.attributes", key=key)
        qualified_name(errors, place, key)
        _attribute(errors, place, attribute)
    for key, amount in capacity.items():
        place = at(f"{path}.capacity", key=key)
        qualified_name(errors, place, key)
        resource_policies.capacity(errors, place, amount, is_shared=bool(device.get("allowMultipleAllocations")))
    taints = device.get("taints") or []
    if len(taints) > TAINTS_MAX:
        errors.append(told_too_many(f"{path}.taints", len(taints), TAINTS_MAX))
    else:
        for index, each in enumerate(taints):
            taint(errors, at(f"{path}.taints", index), each, EFFECTS)
    _consumed_counters(errors, f"{path}.consumesCounters", device.get("consumesCounters") or [])
    _device_place(errors, path, device, per_device=per_device)
    resource_policies.binding_conditions(errors, path, device)


def _consumed_counters(errors: Errors, path: str, sets: list[Json]) -> None:
    for index, each in enumerate(sets):
        place = at(path, index)
        if not each.get("counterSet"):
            errors.append(required(f"{place}.counterSet"))
        if not each.get("counters"):
            errors.append(required(f"{place}.counters"))


def _attribute(errors: Errors, path: str, attribute: Json) -> None:
    found = [field for field in VALUES if field in attribute]
    for field in ("string", "version"):
        for place, value in _texts(path, field, attribute):
            if field == "version" and not _SEMANTIC_VERSION.fullmatch(value):
                errors.append(invalid(place, value, "must be a string compatible with semver.org spec 2.0.0"))
            if names.length(value) > VALUE_LENGTH_MAX:
                errors.append(told_too_long(place, VALUE_LENGTH_MAX))
    if not found:
        errors.append(invalid(path, "", f"must specify one of: {ALL_VALUES}"))
    elif len(found) > 1:
        errors.append(invalid(path, attribute, "exactly one value must be specified"))


def _texts(path: str, field: str, attribute: Json) -> list[tuple[str, str]]:
    """The texts of an attribute, alone or in a list, and where each is."""
    found = [(f"{path}.{field}", attribute[field])] if field in attribute else []
    listed = attribute.get(f"{field}s") or ()
    return found + [(at(f"{path}.{field}s", index), value) for index, value in enumerate(listed)]


def _device_place(errors: Errors, path: str, device: Json, *, per_device: bool) -> None:
    found = [field for field in WHERE_OF_DEVICE if field in device]
    if not per_device:
        if found:
            where = "`nodeName`, `nodeSelector` and `allNodes`"
            detail = f"{where} can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
            errors.append(invalid(path, None, detail))
        return
    if device.get("nodeName"):
        errors += invalids(f"{path}.nodeName", device["nodeName"], names.dns_subdomain(device["nodeName"]))
    if "nodeSelector" in device:
        node_selector(errors, f"{path}.nodeSelector", device["nodeSelector"])
    if not found:
        errors.append(required(path, ONE_PLACE_OF_DEVICE))
    elif len(found) > 1:
        errors.append(invalid(path, _listed(found), ONE_PLACE_OF_DEVICE))


def _counter_sets(errors: Errors, path: str, sets: list[Json]) -> None:
    if len(sets) > COUNTER_SETS_MAX:
        errors.append(told_too_many(path, len(sets), COUNTER_SETS_MAX))
        return
    for index, each in enumerate(sets):
        place, name = at(path, index), each.get("name", "")
        if name:
            errors += invalids(f"{place}.name", name, names.dns_label(name))
        else:
            errors.append(required(f"{place}.name"))
        if not each.get("counters"):
            errors.append(required(f"{place}.counters"))
