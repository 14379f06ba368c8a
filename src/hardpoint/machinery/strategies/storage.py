"""What happens to volumes and claims on their way in, and what is unwise in them."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.quantity import parse

Json = dict[str, Any]

SNAPSHOT_GROUP = "snapshot.storage.k8s.io"
DEPRECATED_ANNOTATIONS = {
    "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" attribute instead',
    "volume.beta.kubernetes.io/mount-options": 'deprecated since v1.31; use "mountOptions" attribute instead',
}
# Volume sources that are gone, as upstream spells them in warnings: since when, and useless since when.
GONE = {
    "cephfs": ("cephfs", "v1.28", "v1.31"),
    "photonPersistentDisk": ("photonPersistentDisk", "v1.11", "v1.16"),
    "scaleIO": ("scaleIO", "v1.16", "v1.22"),
    "storageos": ("storageOS", "v1.22", "v1.25"),
    "glusterfs": ("glusterfs", "v1.25", "v1.26"),
    "rbd": ("rbd", "v1.28", "v1.31"),
}

TOKENS_IN_SECRETS = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true"
    " to prevent possible logging of tokens in volume attributes"
)


def _volume_create(obj: Json) -> None:
    obj["status"] = {"phase": "Pending"}
    if created := obj["metadata"].get("creationTimestamp"):
        obj["status"]["lastPhaseTransitionTime"] = created


def _claim_create(obj: Json) -> None:
    obj["status"] = {"phase": "Pending"}
    _data_sources(obj["spec"], {})


def _claim_update(obj: Json, old: Json) -> None:
    _data_sources(obj["spec"], old["spec"])


def _data_sources(spec: Json, before: Json) -> None:
    """What is no claim and no snapshot is dropped from the old field; then both fields say the same."""
    had_one = "dataSource" in before or "dataSourceRef" in before
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None and reference is None and not had_one and not _is_claim_or_snapshot(source):
        del spec["dataSource"]
        source = None
    if source is not None and reference is None:
        spec["dataSourceRef"] = dict(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = {field: value for field, value in reference.items() if field != "namespace"}


def _is_claim_or_snapshot(source: Json) -> bool:
    group, kind = source.get("apiGroup") or "", source.get("kind")
    return (group, kind) in (("", "PersistentVolumeClaim"), (SNAPSHOT_GROUP, "VolumeSnapshot"))


def _warn_volume(obj: Json, old: Json | None = None) -> list[str]:
    spec = obj["spec"]
    annotations = obj["metadata"].get("annotations") or {}
    told = [
        f"metadata.annotations[{key}]: {text}" for key, text in DEPRECATED_ANNOTATIONS.items() if key in annotations
    ]
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        advice = "Instead, the recommended approach is to use dynamic provisioning."
        told.append(f"spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. {advice}")
    for source, (name, since, useless_since) in GONE.items():
        if source in spec:
            told.append(f"spec.{name}: deprecated in {since}, non-functional in {useless_since}+")
    return told


def _warn_claim(obj: Json, old: Json | None = None) -> list[str]:
    told = []
    key = "volume.beta.kubernetes.io/storage-class"
    if key in (obj["metadata"].get("annotations") or {}):
        told.append(f"metadata.annotations[{key}]: {DEPRECATED_ANNOTATIONS[key]}")
    resources = obj["spec"].get("resources") or {}
    for field in ("requests", "limits"):
        amount = (resources.get(field) or {}).get("storage", "0")
        if parse(amount).milli_value() % 1000:
            place = f"spec.resources.{field}[storage]"
            told.append(f'{place}: fractional byte value "{amount}" is invalid, must be an integer')
    return told


def _warn_driver(obj: Json, old: Json | None = None) -> list[str]:
    """A driver that asks for tokens is told once where they should go: when it begins to ask, or asks for others."""
    spec = obj["spec"]
    requests, before = spec.get("tokenRequests"), old["spec"].get("tokenRequests") if old else None
    if requests and requests != before and "serviceAccountTokenInSecrets" not in spec:
        return [TOKENS_IN_SECRETS]
    return []


CREATE = {"PersistentVolume": _volume_create, "PersistentVolumeClaim": _claim_create}
UPDATE = {"PersistentVolumeClaim": _claim_update}
WARN_CREATE = {
    "CSIDriver": _warn_driver,
    "PersistentVolume": _warn_volume,
    "PersistentVolumeClaim": _warn_claim,
}
WARN_UPDATE = WARN_CREATE
