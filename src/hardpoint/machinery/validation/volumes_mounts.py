"""What makes a container's mounts and block devices invalid; the volumes they name are the pod's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid, not_found, not_supported, required
from hardpoint.machinery.validation.paths import descending

Json = dict[str, Any]
Errors = list[FieldError]
Volumes = Mapping[str, Json]
"""The valid volumes of the pod by name."""

_PROPAGATION = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def mounts(errors: Errors, path: str, container: Json, volumes: Volumes) -> None:
    """`path` is the container's."""
    given = container.get("volumeMounts")
    if not given:
        return
    devices = {device.get("name", ""): device.get("devicePath", "") for device in container.get("volumeDevices") or ()}
    seen: set[str] = set()
    for index, mount in enumerate(given):
        name, target = mount.get("name", ""), mount.get("mountPath", "")
        if name not in volumes or not target or target in seen or devices:
            _target(errors, f"{path}.volumeMounts[{index}]", name, target, volumes, seen, devices)
        seen.add(target)
        if len(mount) > 2:
            _options(errors, f"{path}.volumeMounts", index, mount, container)


def devices(errors: Errors, path: str, container: Json, volumes: Volumes) -> None:
    """`path` is the container's. Only claims can be block devices."""
    mounted = {mount.get("name", ""): mount.get("mountPath", "") for mount in container.get("volumeMounts") or ()}
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        place = f"{path}.volumeDevices[{index}]"
        name, target = device.get("name", ""), device.get("devicePath", "")
        _device_name(errors, f"{place}.name", name, volumes, seen_names)
        if not target:
            errors.append(required(f"{place}.devicePath"))
        if target in seen_paths:
            errors.append(invalid(f"{place}.devicePath", target, "must be unique"))
        if ".." in target.split("/"):
            errors.append(invalid(f"{place}.devicePath", target, "can not contain backsteps ('..')"))
        else:
            seen_paths.add(target)
        if name in mounted:
            errors.append(invalid(f"{place}.name", name, "must not already exist in volumeMounts"))
        if target in mounted.values():
            errors.append(invalid(f"{place}.devicePath", target, "must not already exist as a path in volumeMounts"))
        if name:
            seen_names.add(name)


def _target(
    errors: Errors, path: str, name: str, target: str, volumes: Volumes, seen: set[str], devices: Mapping[str, str]
) -> None:
    if not name:
        errors.append(required(f"{path}.name"))
    if name not in volumes:
        errors.append(not_found(f"{path}.name", name))
    if not target:
        errors.append(required(f"{path}.mountPath"))
    if target in seen:
        errors.append(invalid(f"{path}.mountPath", target, "must be unique"))
    if name in devices:
        errors.append(invalid(f"{path}.name", name, "must not already exist in volumeDevices"))
    if target in devices.values():
        errors.append(invalid(f"{path}.mountPath", target, "must not already exist as a path in volumeDevices"))


def _options(errors: Errors, path: str, index: int, mount: Json, container: Json) -> None:
    """Upstream tells most of these at the list, not at the mount."""
    if sub_path := mount.get("subPath"):
        descending(errors, f"{path}.subPath", sub_path)
    if expression := mount.get("subPathExpr"):
        if sub_path:
            told = "subPathExpr and subPath are mutually exclusive"
            errors.append(invalid(f"{path}[{index}].subPathExpr", expression, told))
        descending(errors, f"{path}.subPathExpr", expression)
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        _propagation(errors, f"{path}.mountPropagation", propagation, container)
    recursive = mount.get("recursiveReadOnly")
    if recursive is not None:
        _recursive(errors, f"{path}.recursiveReadOnly", recursive, mount)


def _propagation(errors: Errors, path: str, propagation: str, container: Json) -> None:
    if propagation not in _PROPAGATION:
        errors.append(not_supported(path, propagation, _PROPAGATION))
    if propagation == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
        told = "Bidirectional mount propagation is available only to privileged containers"
        errors.append(forbidden(path, told))


def _recursive(errors: Errors, path: str, recursive: str, mount: Json) -> None:
    if recursive not in _RECURSIVE:
        errors.append(not_supported(path, recursive, _RECURSIVE))
    elif recursive != "Disabled":
        if not mount.get("readOnly"):
            errors.append(forbidden(path, "may only be specified when readOnly is true"))
        if mount.get("mountPropagation", "None") != "None":
            told = "may only be specified when mountPropagation is None or not specified"
            errors.append(forbidden(path, told))


def _device_name(errors: Errors, path: str, name: str, volumes: Volumes, seen: set[str]) -> None:
    if not name:
        errors.append(required(path))
    if name in seen:
        errors.append(invalid(path, name, "must be unique"))
    volume = volumes.get(name)
    if volume is None:
        errors.append(not_found(path, name))
    elif "persistentVolumeClaim" not in volume and "ephemeral" not in volume:
        told = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        errors.append(invalid(path, name, told))
