"""Defaults of volumes, claims, and the storage.k8s.io kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardpoint.machinery.defaults.quantities import round_up

Json = dict[str, Any]

# Volume sources with defaults of their own, and what an absent or empty field of each becomes.
SOURCES: Mapping[str, Mapping[str, Any]] = {
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "iscsi": {"iscsiInterface": "default"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
    "hostPath": {"type": ""},
}
# Fields Go keeps behind a pointer: an empty string written by the client stays.
POINTERS = frozenset({"cachingMode", "fsType", "readOnly", "kind", "type"})

CSI_DRIVER: Mapping[str, Any] = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
    "preventPodSchedulingIfMissing": False,
}


def _persistent_volume(obj: Json) -> None:
    spec = obj["spec"]
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    spec.setdefault("volumeMode", "Filesystem")
    round_up(spec.get("capacity"))
    _volume_source(spec)


def _volume_source(spec: Json) -> None:
    for name, fields in SOURCES.items():
        source = spec.get(name)
        if source is None:
            continue
        for field, value in fields.items():
            is_pointer = field in POINTERS and not (name == "scaleIO" and field == "fsType")
            if field not in source or not (is_pointer or source[field]):
                source[field] = value


def _persistent_volume_claim(obj: Json) -> None:
    status = obj.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    spec = obj["spec"]
    spec.setdefault("volumeMode", "Filesystem")
    for field in ("limits", "requests"):
        round_up(spec.get("resources", {}).get(field))


def _storage_class(obj: Json) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def _csi_driver(obj: Json) -> None:
    spec = obj["spec"]
    for field, value in CSI_DRIVER.items():
        spec.setdefault(field, value)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _volume_attachment(obj: Json) -> None:
    inline = obj["spec"].get("source", {}).get("inlineVolumeSpec")
    if inline is not None:
        _volume_source(inline)


DEFAULTS = {
    "PersistentVolume": _persistent_volume,
    "PersistentVolumeClaim": _persistent_volume_claim,
    "StorageClass": _storage_class,
    "CSIDriver": _csi_driver,
    "VolumeAttachment": _volume_attachment,
}
