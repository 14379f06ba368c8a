"""What makes the kinds of storage.k8s.io invalid. Volumes and claims have `storage_volumes`."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
    too_long,
)
from hardpoint.machinery.validation import rules, storage_volumes, volumes
from hardpoint.machinery.validation.labelselectors import has_invalid_values, label_selector

Json = dict[str, Any]
Errors = list[FieldError]

PARAMETERS_MAX = 512
PARAMETERS_SIZE_MAX = 256 * 1024
RECLAIM_POLICIES = ("Delete", "Retain")
BINDING_MODES = ("Immediate", "WaitForFirstConsumer")
FS_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
LIFECYCLE_MODES = ("Persistent", "Ephemeral")
NODE_ID_LENGTH_MAX = 256
TOKEN_SECONDS_MIN, TOKEN_SECONDS_MAX = 600, 1 << 32
UPDATE_PERIOD_SECONDS_MIN = 10
ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"


def _storage_class(obj: Json) -> Errors:
    errors: Errors = []
    _provisioner(errors, "provisioner", obj.get("provisioner", ""))
    _parameters(errors, obj.get("parameters") or {})
    if policy := obj.get("reclaimPolicy"):
        errors += rules.choice("reclaimPolicy", policy, RECLAIM_POLICIES)
    errors += rules.choice("volumeBindingMode", obj["volumeBindingMode"], BINDING_MODES)
    _topologies(errors, "allowedTopologies", obj.get("allowedTopologies") or [])
    if not obj.get("provisioner"):
        errors.append(required("provisioner"))
    return errors


def _storage_class_update(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    for field in ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
        errors += rules.declared_immutable(field, obj.get(field), old.get(field))
    return errors


def _provisioner(errors: Errors, path: str, name: str) -> None:
    if name:
        errors += invalids(path, name.lower(), names.qualified_name(name.lower()))


def _parameters(errors: Errors, parameters: Json) -> None:
    if len(parameters) > PARAMETERS_MAX:
        errors.append(too_long("parameters", PARAMETERS_MAX))
        return
    if "" in parameters:
        errors.append(invalid("parameters", "", "field can not be empty."))
    if sum(names.length(key) + names.length(value) for key, value in parameters.items()) > PARAMETERS_SIZE_MAX:
        errors.append(too_long("parameters", PARAMETERS_SIZE_MAX))


def _topologies(errors: Errors, path: str, topologies: list[Json]) -> None:
    # kube-apiserver compares with as many empty terms as there are terms, so an empty one repeats each of them.
    seen: list[dict[str, set[str]]] = [{} for _ in topologies]
    for index, term in enumerate(topologies):
        place = f"{at(path, index)}.matchLabelExpressions"
        expressions: dict[str, set[str]] = {}
        for position, expression in enumerate(term.get("matchLabelExpressions") or ()):
            _topology(errors, at(place, position), expression, expressions)
        errors += [duplicate(place, "") for each in seen if each == expressions]
        seen.append(expressions)


def _topology(errors: Errors, path: str, expression: Json, known: dict[str, set[str]]) -> None:
    key, values = expression.get("key", ""), expression.get("values") or []
    if key in known:
        errors.append(duplicate(f"{path}.key", key))
    known[key] = set(values)
    if not values:
        errors.append(required(f"{path}.values"))
    for index, value in enumerate(values):
        if value in values[:index]:
            errors.append(duplicate(at(f"{path}.values", index), value))
    errors += invalids(f"{path}.key", key, names.label_key(key))


def _attachment(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    source = spec.get("source") or {}
    _attachment_source(errors, "spec.source", source)
    node = spec.get("nodeName", "")
    errors += invalids("spec.nodeName", node, names.dns_subdomain(node))
    volume = source.get("persistentVolumeName")
    if volume is not None:
        errors += invalids("spec.source.persistentVolumeName", volume, names.dns_subdomain(volume))
    if old is not None:
        errors += rules.declared_immutable("spec", spec, old["spec"])
    _attacher(errors, "spec.attacher", spec.get("attacher", ""))
    return errors


def _attacher(errors: Errors, path: str, name: str) -> None:
    if not name:
        errors.append(required(path))
        return
    if names.length(name) > volumes.DRIVER_LENGTH_MAX:
        errors.append(too_long(path, volumes.DRIVER_LENGTH_MAX))
    errors += invalids(path, name, names.dns_subdomain_caseless(name))


def _attachment_source(errors: Errors, path: str, source: Json) -> None:
    inline, name = source.get("inlineVolumeSpec"), source.get("persistentVolumeName")
    if inline is None and name is None:
        errors.append(required(path, ONE_SOURCE))
    elif inline is not None and name is not None:
        errors.append(forbidden(path, ONE_SOURCE))
    elif name == "":
        errors.append(required(f"{path}.persistentVolumeName", "must specify non empty persistentVolumeName"))
    elif inline is not None:
        storage_volumes.volume_spec(errors, f"{path}.inlineVolumeSpec", inline, is_inline=True)


def _csi_node(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    drivers = obj["spec"].get("drivers") or []
    seen: set[str] = set()
    for index, driver in enumerate(drivers):
        _driver(errors, at("spec.drivers", index), driver, seen)
    for before in (old["spec"].get("drivers") if old else None) or ():
        for driver in drivers:
            if driver.get("name") == before.get("name"):
                shown = _driver_as_go(driver)
                new, fixed = _without_allocatable(driver), _without_allocatable(before)
                errors += rules.immutable("spec.drivers", new, fixed, shown=shown)
    return errors


def _without_allocatable(driver: Json) -> Json:
    return {field: value for field, value in driver.items() if field != "allocatable"}


def _driver_as_go(driver: Json) -> str:
    return rules.as_go_struct(
        Name=driver.get("name", ""),
        NodeID=driver.get("nodeID", ""),
        TopologyKeys=driver.get("topologyKeys"),
        Allocatable=None,
    )


def _driver(errors: Errors, path: str, driver: Json, seen: set[str]) -> None:
    name, node = driver.get("name", ""), driver.get("nodeID", "")
    volumes.csi_driver_name(errors, f"{path}.name", name)
    if not node:
        errors.append(required(f"{path}.nodeID"))
    if names.length(node) > NODE_ID_LENGTH_MAX:
        errors.append(invalid(f"{path}.nodeID", node, f"must be {NODE_ID_LENGTH_MAX} characters or less"))
    count = (driver.get("allocatable") or {}).get("count")
    if count is not None:
        errors += rules.not_negative(f"{path}.allocatable.count", count)
    if name in seen:
        errors.append(duplicate(f"{path}.name", name))
    seen.add(name)
    keys = driver.get("topologyKeys") or []
    for index, key in enumerate(keys):
        if not key:
            errors.append(required(path))
        if key in keys[:index]:
            errors.append(duplicate(path, key))
        errors += invalids(path, key, names.qualified_name(key))


def _csi_driver(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    errors += rules.choice("spec.fsGroupPolicy", spec["fsGroupPolicy"], FS_GROUP_POLICIES)
    requests = spec.get("tokenRequests") or []
    _token_requests(errors, "spec.tokenRequests", requests)
    for mode in spec.get("volumeLifecycleModes") or ():
        if mode not in LIFECYCLE_MODES:
            errors.append(not_supported("spec.volumeLifecycleModes", mode, LIFECYCLE_MODES))
    period = spec.get("nodeAllocatableUpdatePeriodSeconds")
    if period is not None and period < UPDATE_PERIOD_SECONDS_MIN:
        detail = f"must be greater than or equal to {UPDATE_PERIOD_SECONDS_MIN} seconds"
        errors.append(invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, detail))
    in_secrets = spec.get("serviceAccountTokenInSecrets")
    if in_secrets is not None and not requests:
        detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.append(invalid("spec.serviceAccountTokenInSecrets", in_secrets, detail))
    if old is not None:
        before = old["spec"]
        # The path is upstream's, misspelled there.
        if spec.get("attachRequired") != before.get("attachRequired"):
            errors.append(invalid("spec.attachedRequired", spec.get("attachRequired"), rules.IMMUTABLE))
        field = "volumeLifecycleModes"
        errors += rules.immutable(f"spec.{field}", spec.get(field), before.get(field))
    return errors


def _token_requests(errors: Errors, path: str, requests: list[Json]) -> None:
    seen = set()
    for index, request in enumerate(requests):
        audience, seconds = request.get("audience", ""), request.get("expirationSeconds")
        if audience in seen:
            errors.append(duplicate(f"{at(path, index)}.audience", audience))
            continue
        seen.add(audience)
        place = f"{at(path, index)}.expirationSeconds"
        if seconds is not None and seconds < TOKEN_SECONDS_MIN:
            errors.append(invalid(place, seconds, "may not specify a duration less than 10 minutes"))
        if seconds is not None and seconds > TOKEN_SECONDS_MAX:
            errors.append(invalid(place, seconds, "may not specify a duration larger than 2^32 seconds"))


def _capacity(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    if old is not None:
        for field in ("nodeTopology", "storageClassName"):
            errors += rules.immutable(field, obj.get(field), old.get(field))
        return errors
    topology = obj.get("nodeTopology")
    label_selector(errors, "nodeTopology", topology, invalid_values_allowed=has_invalid_values(topology))
    name = obj.get("storageClassName", "")
    errors += invalids("storageClassName", name, names.dns_subdomain(name))
    amount = obj.get("capacity", "0")
    if amount.startswith("-"):
        errors.append(invalid("capacity", amount, rules.NOT_NEGATIVE))
    return errors


def _attributes_class(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    if old is not None:
        for field in ("driverName", "parameters"):
            if (obj.get(field) or None) != (old.get(field) or None):
                errors.append(forbidden(field, f"updates to {field} are forbidden."))
    _provisioner(errors, "driverName", obj.get("driverName", ""))
    parameters = obj.get("parameters") or {}
    _parameters(errors, parameters)
    if not parameters:
        errors.append(required("parameters", "must contain at least one key/value pair"))
    if not obj.get("driverName"):
        errors.append(required("driverName"))
    return errors


CREATE = {
    "PersistentVolume": storage_volumes.volume_on_create,
    "PersistentVolumeClaim": storage_volumes.claim_on_create,
    "StorageClass": _storage_class,
    "VolumeAttachment": _attachment,
    "CSINode": _csi_node,
    "CSIDriver": _csi_driver,
    "CSIStorageCapacity": _capacity,
    "VolumeAttributesClass": _attributes_class,
}
UPDATE = {
    "PersistentVolume": storage_volumes.volume_on_update,
    "PersistentVolumeClaim": storage_volumes.claim_on_update,
    "StorageClass": _storage_class_update,
    "VolumeAttachment": _attachment,
    "CSINode": _csi_node,
    "CSIDriver": _csi_driver,
    "CSIStorageCapacity": _capacity,
    "VolumeAttributesClass": _attributes_class,
}
