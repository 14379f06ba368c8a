"""What a volume is completed with, by the kind of its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.defaults.containers import field_ref
from hardpoint.machinery.defaults.images import pull_policy
from hardpoint.machinery.defaults.quantities import round_up

Json = dict[str, Any]

FILE_MODE = 0o644
TOKEN_SECONDS = 3600


def volume(obj: Json) -> None:
    """Complete a volume of a pod. One that names no source is an empty directory."""
    if len(obj) == 1 and "name" in obj:
        obj["emptyDir"] = {}
        return
    for name, source in obj.items():
        complete = _SOURCES.get(name)
        if complete is not None:
            complete(source)


def claim_spec(obj: Json) -> None:
    """Complete what is asked of a persistent volume, in a claim or in a template of one."""
    obj.setdefault("volumeMode", "Filesystem")
    wanted = obj.get("resources")
    if wanted:
        round_up(wanted.get("limits"))
        round_up(wanted.get("requests"))


def _with_mode(obj: Json) -> None:
    obj.setdefault("defaultMode", FILE_MODE)


def _downward_api(obj: Json) -> None:
    _with_mode(obj)
    _downward_items(obj)


def _downward_items(obj: Json) -> None:
    for item in obj.get("items") or ():
        field_ref(item.get("fieldRef"))


def _projected(obj: Json) -> None:
    _with_mode(obj)
    for source in obj.get("sources") or ():
        token = source.get("serviceAccountToken")
        if token is not None:
            token.setdefault("expirationSeconds", TOKEN_SECONDS)
        downward = source.get("downwardAPI")
        if downward is not None:
            _downward_items(downward)


def _ephemeral(obj: Json) -> None:
    template = obj.get("volumeClaimTemplate")
    if template is not None:
        claim_spec(template.setdefault("spec", {}))


def _image(obj: Json) -> None:
    if "pullPolicy" not in obj:
        obj["pullPolicy"] = pull_policy(obj.get("reference", ""))


def _given(values: Mapping[str, Any]) -> Callable[[Json], None]:
    def complete(obj: Json) -> None:
        for name, value in values.items():
            obj.setdefault(name, value)

    return complete


_SOURCES: Mapping[str, Callable[[Json], None]] = {
    "azureDisk": _given({"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"}),
    "configMap": _with_mode,
    "downwardAPI": _downward_api,
    "ephemeral": _ephemeral,
    "hostPath": _given({"type": ""}),
    "image": _image,
    "iscsi": _given({"iscsiInterface": "default"}),
    "projected": _projected,
    "rbd": _given({"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"}),
    "scaleIO": _given({"storageMode": "ThinProvisioned", "fsType": "xfs"}),
    "secret": _with_mode,
}
