"""What a pod may not say about itself on Linux, and on Windows, once it says which of them it is for."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.fielderrors import FieldError, forbidden, not_supported, required
from hardpoint.machinery.validation.podspec_annotations import container_contexts

Json = dict[str, Any]
Errors = list[FieldError]

_LINUX_POD = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)
_LINUX_CONTAINER = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)
_NOT_ON_WINDOWS = "cannot be set for a windows pod"
_NOT_ON_LINUX = "windows options cannot be set for a linux pod"


def operating_system(errors: Errors, path: str, spec: Json) -> None:
    """`os`, and everything in the spec that the other system alone would understand. `path` is the spec's."""
    name = spec["os"].get("name", "")
    if not name:
        errors.append(required(f"{path}.os.name"))
    elif name not in ("linux", "windows"):
        errors.append(not_supported(f"{path}.os", name, ("linux", "windows")))
    elif name == "linux":
        _refuse(errors, path, spec, ("windowsOptions",), ("windowsOptions",), _NOT_ON_LINUX)
    else:
        _windows(errors, path, spec)


def _windows(errors: Errors, path: str, spec: Json) -> None:
    _of_pod(errors, path, spec, _LINUX_POD, _NOT_ON_WINDOWS)
    if spec.get("hostUsers") is not None:
        errors.append(forbidden(f"{path}.hostUsers", _NOT_ON_WINDOWS))
    errors += [forbidden(f"{path}.{field}", _NOT_ON_WINDOWS) for field in ("hostPID", "hostIPC") if spec.get(field)]
    if spec.get("shareProcessNamespace") is not None:
        errors.append(forbidden(f"{path}.shareProcessNamespace", _NOT_ON_WINDOWS))
    _of_containers(errors, path, spec, _LINUX_CONTAINER, _NOT_ON_WINDOWS)


def _refuse(
    errors: Errors, path: str, spec: Json, of_pod: tuple[str, ...], of_containers: tuple[str, ...], told: str
) -> None:
    _of_pod(errors, path, spec, of_pod, told)
    _of_containers(errors, path, spec, of_containers, told)


def _of_pod(errors: Errors, path: str, spec: Json, fields: tuple[str, ...], told: str) -> None:
    context = spec.get("securityContext") or {}
    errors += [forbidden(f"{path}.securityContext.{field}", told) for field in fields if field in context]


def _of_containers(errors: Errors, path: str, spec: Json, fields: tuple[str, ...], told: str) -> None:
    for _, place, context in container_contexts(spec, path):
        errors += [forbidden(f"{place}.{field}", told) for field in fields if field in context]
