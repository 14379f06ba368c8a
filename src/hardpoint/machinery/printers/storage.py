"""The rows of volumes, claims, classes and drivers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hardpoint.machinery.printers.cells import NONE, UNSET, Cells, Json, age, annotation, at, is_deleted, name, quantity

_ACCESS_MODES = (
    ("ReadWriteOnce", "RWO"),
    ("ReadOnlyMany", "ROX"),
    ("ReadWriteMany", "RWX"),
    ("ReadWriteOncePod", "RWOP"),
)
_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def persistent_volume(obj: Json, now: datetime) -> Cells:
    claim = at(obj, "spec.claimRef")
    return [
        name(obj),
        quantity(at(obj, "spec.capacity.storage")),
        _access_modes(at(obj, "spec.accessModes", ())),
        at(obj, "spec.persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        "" if claim is None else f"{claim.get('namespace', '')}/{claim.get('name', '')}",
        _class(obj),
        at(obj, "spec.volumeAttributesClassName", UNSET),
        at(obj, "status.reason", ""),
        age(obj, now),
        at(obj, "spec.volumeMode", UNSET),
    ]


def persistent_volume_claim(obj: Json, now: datetime) -> Cells:
    volume = at(obj, "spec.volumeName", "")
    return [
        name(obj),
        _phase(obj),
        volume,
        quantity(at(obj, "status.capacity.storage")) if volume else "",
        _access_modes(at(obj, "status.accessModes", ())) if volume else "",
        _class(obj),
        at(obj, "spec.volumeAttributesClassName", UNSET),
        age(obj, now),
        at(obj, "spec.volumeMode", UNSET),
    ]


def _phase(obj: Json) -> str:
    return "Terminating" if is_deleted(obj) else str(at(obj, "status.phase", "Pending"))


def _access_modes(modes: Sequence[str]) -> str:
    return ",".join(short for mode, short in _ACCESS_MODES if mode in modes)


def _class(obj: Json) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    return str(annotations[_BETA_CLASS] if _BETA_CLASS in annotations else at(obj, "spec.storageClassName", ""))


def storage_class(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


def default_storage_class(objects: Sequence[Json]) -> str:
    """The class of a list that counts as the default: of several, the youngest, and of twins the first by name."""
    marked = [obj for obj in objects if any(annotation(obj, key) == "true" for key in _DEFAULT_CLASS)]
    if not marked:
        return ""
    youngest = max(str(obj["metadata"].get("creationTimestamp", "")) for obj in marked)
    return min(name(obj) for obj in marked if obj["metadata"].get("creationTimestamp", "") == youngest)


def volume_attributes_class(obj: Json, now: datetime) -> Cells:
    return [name(obj), obj.get("driverName", ""), age(obj, now)]


def volume_attachment(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        at(obj, "spec.attacher", ""),
        at(obj, "spec.source.persistentVolumeName", ""),
        at(obj, "spec.nodeName", ""),
        at(obj, "status.attached", False),
        age(obj, now),
    ]


def csi_node(obj: Json, now: datetime) -> Cells:
    return [name(obj), len(at(obj, "spec.drivers", ())), age(obj, now)]


def csi_driver(obj: Json, now: datetime) -> Cells:
    tokens = at(obj, "spec.tokenRequests")
    return [
        name(obj),
        at(obj, "spec.attachRequired", True),
        at(obj, "spec.podInfoOnMount", False),
        at(obj, "spec.storageCapacity", False),
        UNSET if tokens is None else ",".join(each.get("audience", "") for each in tokens),
        at(obj, "spec.requiresRepublish", False),
        ",".join(at(obj, "spec.volumeLifecycleModes", ())) or NONE,
        age(obj, now),
    ]
