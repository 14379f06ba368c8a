"""What makes a PersistentVolume or a PersistentVolumeClaim invalid, and how they may change."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, invalids, not_supported, required
from hardpoint.machinery.quantity import parse
from hardpoint.machinery.validation import rules, volumes, volumes_network
from hardpoint.machinery.validation.affinity import node_selector
from hardpoint.machinery.validation.labelselectors import has_invalid_values
from hardpoint.machinery.validation.paths import no_backsteps
from hardpoint.machinery.validation.volumes_claims import ACCESS_MODES, VOLUME_MODES, claim_spec

Json = dict[str, Any]
Errors = list[FieldError]
Check = Callable[[Errors, str, Json], None]

RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
INLINE = "in the context of inline volumes"
BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
CLAIM_STAYS = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)


def _local(errors: Errors, path: str, source: Json) -> None:
    if not source.get("path"):
        errors.append(required(f"{path}.path"))
    else:
        no_backsteps(errors, f"{path}.path", source["path"])


def _glusterfs(errors: Errors, path: str, source: Json) -> None:
    volumes_network.glusterfs(errors, path, source)
    namespace = source.get("endpointsNamespace")
    if namespace == "":
        detail = "if the endpointnamespace is set, it must be a valid namespace name"
        errors.append(invalid(f"{path}.endpointsNamespace", namespace, detail))
    elif namespace is not None:
        errors += invalids(f"{path}.endpointsNamespace", namespace, names.dns_label(namespace))


def _azure_file(errors: Errors, path: str, source: Json) -> None:
    volumes_network.azure_file(errors, path, source)
    if source.get("secretNamespace") == "":
        errors.append(required(f"{path}.secretNamespace"))


def _csi(errors: Errors, path: str, source: Json) -> None:
    volumes.csi_driver_name(errors, f"{path}.driver", source.get("driver", ""))
    if not source.get("volumeHandle"):
        errors.append(required(f"{path}.volumeHandle"))
    for field in ("controllerPublish", "controllerExpand", "nodePublish", "nodeExpand"):
        secret = source.get(f"{field}SecretRef")
        if secret is not None:
            _secret_reference(errors, f"{path}.{field}SecretRef", secret)


def _secret_reference(errors: Errors, path: str, reference: Json) -> None:
    for field, rule in (("name", names.dns_subdomain), ("namespace", names.dns_label)):
        value = reference.get(field, "")
        if value:
            errors += invalids(f"{path}.{field}", value, rule(value))
        else:
            errors.append(required(f"{path}.{field}"))


# In the order upstream looks at them: the first one found is the volume's source.
SOURCES: Mapping[str, Check] = {
    "hostPath": volumes.host_path,
    "gcePersistentDisk": volumes_network.gce_persistent_disk,
    "awsElasticBlockStore": volumes_network.aws_elastic_block_store,
    "glusterfs": _glusterfs,
    "flocker": volumes_network.flocker,
    "nfs": volumes_network.nfs,
    "rbd": volumes_network.rbd,
    "quobyte": volumes_network.quobyte,
    "cephfs": volumes_network.cephfs,
    "iscsi": volumes_network.iscsi,
    "cinder": volumes_network.cinder,
    "fc": volumes_network.fibre_channel,
    "flexVolume": volumes_network.flex_volume,
    "azureFile": _azure_file,
    "vsphereVolume": volumes_network.vsphere,
    "photonPersistentDisk": volumes_network.photon,
    "portworxVolume": volumes_network.portworx,
    "azureDisk": volumes_network.azure_disk,
    "scaleIO": volumes_network.scale_io,
    "local": _local,
    "storageos": volumes_network.storage_os,
    "csi": _csi,
}
# Where upstream's paths are not the field's name: as a second source, and inside the source.
TOLD_AS_SECOND = {"cephfs": "cephFS"}
TOLD_INSIDE = {"gcePersistentDisk": "persistentDisk"}


def volume_on_create(obj: Json) -> Errors:
    errors: Errors = []
    volume_spec(errors, "spec", obj["spec"])
    return errors


def volume_on_update(obj: Json, old: Json) -> Errors:
    errors = volume_on_create(obj)
    spec, before = obj["spec"], old["spec"]
    if _sources(spec, before) != _sources(before, before):
        detail = "spec.persistentvolumesource is immutable after creation"
        errors.append(forbidden("spec.persistentvolumesource", detail))
    errors += rules.immutable("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))
    if "volumeAttributesClassName" in before and "volumeAttributesClassName" not in spec:
        detail = "update from non-nil value to nil is forbidden"
        errors.append(forbidden("spec.volumeAttributesClassName", detail))
    return errors


def _sources(spec: Json, before: Json) -> Json:
    """The source of a volume. A secret for expansion may come later, so it does not count while there was none."""
    found = {name: spec[name] for name in SOURCES if name in spec}
    late = "controllerExpandSecretRef"
    if "csi" in found and late not in before.get("csi", {}):
        found["csi"] = {field: value for field, value in found["csi"].items() if field != late}
    return found


def volume_spec(errors: Errors, path: str, spec: Json, *, is_inline: bool = False) -> None:
    """`spec` of a PersistentVolume, or of one inside a VolumeAttachment."""
    if is_inline:
        _inline(errors, path, spec)
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(required(f"{path}.accessModes"))
    errors += [not_supported(f"{path}.accessModes", mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES[:3] for mode in modes):
        errors.append(forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes"))
    if not is_inline:
        _capacity(errors, f"{path}.capacity", spec.get("capacity") or {})
    _reclaim_policy(errors, path, spec, is_inline=is_inline)
    affinity = spec.get("nodeAffinity")
    if affinity is not None and is_inline:
        errors.append(forbidden(f"{path}.nodeAffinity", f"may not be specified {INLINE}"))
    elif affinity is not None and "required" not in affinity:
        errors.append(required(f"{path}.nodeAffinity.required", "must specify required node constraints"))
    elif affinity is not None:
        node_selector(errors, f"{path}.nodeAffinity.required", affinity["required"])
    _one_source(errors, path, spec)
    _root_is_not_recycled(errors, path, spec)
    _classes(errors, path, spec, is_inline=is_inline)


def _inline(errors: Errors, path: str, spec: Json) -> None:
    for field in ("claimRef", "capacity"):
        if spec.get(field):
            errors.append(forbidden(f"{path}.{field}", f"may not be specified {INLINE}"))
    if "csi" not in spec:
        errors.append(required(f"{path}.csi", f"has to be specified {INLINE}"))


def _capacity(errors: Errors, path: str, capacity: Json) -> None:
    if not capacity:
        errors.append(required(path))
    if list(capacity) != ["storage"]:
        errors.append(not_supported(path, capacity or None, ("storage",)))
    for name, amount in capacity.items():
        place = at(path, key=name)
        if amount.startswith("-"):
            errors.append(invalid(place, parse(amount).value(), "must be a valid resource quantity"))
        if parse(amount).sign <= 0:
            errors.append(invalid(place, amount, rules.POSITIVE))


def _reclaim_policy(errors: Errors, path: str, spec: Json, *, is_inline: bool) -> None:
    policy = spec.get("persistentVolumeReclaimPolicy", "")
    place = f"{path}.persistentVolumeReclaimPolicy"
    if is_inline and policy not in ("", "Retain"):
        errors.append(forbidden(place, f"may only be Retain {INLINE}"))
    elif policy and not is_inline:
        errors += rules.choice(place, policy, RECLAIM_POLICIES)


def _one_source(errors: Errors, path: str, spec: Json) -> None:
    found = [name for name in SOURCES if name in spec]
    for position, name in enumerate(found):
        if position and name != "flexVolume":
            place = f"{path}.{TOLD_AS_SECOND.get(name, name)}"
            errors.append(forbidden(place, "may not specify more than 1 volume type"))
            continue
        SOURCES[name](errors, f"{path}.{TOLD_INSIDE.get(name, name)}", spec[name])
        if name == "local" and "nodeAffinity" not in spec:
            errors.append(required(f"{path}.nodeAffinity", "Local volume requires node affinity"))
    if not found:
        errors.append(required(path, "must specify a volume type"))


def _root_is_not_recycled(errors: Errors, path: str, spec: Json) -> None:
    host_path = (spec.get("hostPath") or {}).get("path", "")
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle" and host_path:
        cleaned = posixpath.normpath(host_path)
        if cleaned in ("/", "//"):
            detail = "may not be 'recycle' for a hostPath mount of '/'"
            errors.append(forbidden(f"{path}.persistentVolumeReclaimPolicy", detail))


def _classes(errors: Errors, path: str, spec: Json, *, is_inline: bool) -> None:
    if name := spec.get("storageClassName"):
        if is_inline:
            errors.append(forbidden(f"{path}.storageClassName", f"may not be specified {INLINE}"))
        else:
            errors += invalids(f"{path}.storageClassName", name, names.dns_subdomain(name))
    mode = spec.get("volumeMode")
    if mode is not None and is_inline and mode != "Filesystem":
        errors.append(forbidden(f"{path}.volumeMode", f"may not specify volumeMode other than Filesystem {INLINE}"))
    elif mode is not None and not is_inline:
        errors += rules.choice(f"{path}.volumeMode", mode, VOLUME_MODES)
    attributes = spec.get("volumeAttributesClassName")
    if attributes is None:
        return
    place = f"{path}.volumeAttributesClassName"
    if attributes:
        errors += invalids(place, attributes, names.dns_subdomain(attributes))
    else:
        errors.append(required(place, "an empty string is disallowed"))
    if "csi" not in spec:
        errors.append(required(f"{path}.csi", "has to be specified when using volumeAttributesClassName"))


def claim_on_create(obj: Json) -> Errors:
    errors: Errors = []
    claim_spec(errors, "spec", obj["spec"])
    return errors


def claim_on_update(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    spec, before = obj["spec"], old["spec"]
    claim_spec(errors, "spec", spec, invalid_values_allowed=has_invalid_values(before.get("selector")))
    annotation = (obj["metadata"].get("annotations") or {}).get(BETA_CLASS, "")
    old_annotation = (old["metadata"].get("annotations") or {}).get(BETA_CLASS, "")
    is_moved = bool(old_annotation) and not before.get("storageClassName")
    is_moved = is_moved and spec.get("storageClassName") == old_annotation and annotation in ("", old_annotation)
    if not is_moved and annotation != old_annotation:
        errors.append(invalid(f"metadata.annotations[{BETA_CLASS}]", annotation, rules.IMMUTABLE))
    if _fixed(spec, before, obj, old, is_moved=is_moved) != before:
        errors.append(forbidden("spec", CLAIM_STAYS))
    _size(errors, _storage(spec), _storage(before), ((old.get("status") or {}).get("capacity") or {}).get("storage"))
    errors += rules.immutable("volumeMode", spec.get("volumeMode"), before.get("volumeMode"))
    _attributes_class(errors, spec, before, old.get("status") or {})
    return errors


def _fixed(spec: Json, before: Json, obj: Json, old: Json, *, is_moved: bool) -> Json:
    """The new spec without the changes that are allowed."""
    fixed = dict(spec)

    def keep(field: str) -> None:
        if field in before:
            fixed[field] = before[field]
        else:
            fixed.pop(field, None)

    if not before.get("volumeName"):
        keep("volumeName")
    was_unset = "storageClassName" not in before and BETA_CLASS not in (old["metadata"].get("annotations") or {})
    if is_moved or was_unset:
        keep("storageClassName")
    if (obj.get("status") or {}).get("phase") == "Bound":
        keep("volumeAttributesClassName")
        if (spec.get("resources") or {}).get("requests"):
            requests = {**spec["resources"]["requests"], "storage": _storage(before)}
            fixed["resources"] = {**spec["resources"], "requests": requests}
    return fixed


def _storage(spec: Json) -> str | None:
    amount: str | None = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    return amount


def _size(errors: Errors, new: str | None, old: str | None, capacity: str | None) -> None:
    wanted = parse(new or "0")
    if wanted < parse(old or "0") and wanted <= parse(capacity or "0"):
        errors.append(forbidden("spec.resources.requests.storage", "field can not be less than status.capacity"))


def _attributes_class(errors: Errors, spec: Json, before: Json, status: Json) -> None:
    field = "volumeAttributesClassName"
    if spec.get(field) == before.get(field) or "currentVolumeAttributesClassName" not in status:
        return
    if not spec.get(field):
        told = "empty string" if field in spec else "nil"
        detail = f"update to {told} is forbidden when status.currentVolumeAttributesClassName is not nil"
        errors.append(forbidden(f"spec.{field}", detail))
