"""What makes the annotations of a pod invalid: old ways to say what fields say now, and a few that still count."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid
from hardpoint.machinery.validation.paths import descending

Json = dict[str, Any]
Errors = list[FieldError]

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"

_DEFAULT_PROFILES = ("runtime/default", "docker/default")
_COST = re.compile(r"0|-?[1-9][0-9]*|\+[1-9][0-9]*")


def pod_annotations(errors: Errors, path: str, annotations: Mapping[str, str], spec: Json) -> None:
    """Annotations that a pod's spec gives a meaning to."""
    if MIRROR in annotations and not spec.get("nodeName"):
        told = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(f"{path}[{MIRROR}]", annotations[MIRROR], told))
    cost = annotations.get(DELETION_COST)
    if cost is not None and not _is_cost(cost):
        errors.append(invalid(f"{path}[{DELETION_COST}]", cost, "must be a 32bit integer"))
    for key, value in annotations.items():
        if key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER):
            _seccomp(errors, f"{path}.{key}", value)
    for key, value in annotations.items():
        if key.startswith(APP_ARMOR):
            _app_armor(errors, f"{path}[{key}]", key.removeprefix(APP_ARMOR), value, spec)


def profiles_match(errors: Errors, path: str, annotations: Mapping[str, str], spec: Json) -> None:
    """Where annotation and field both name a profile, they name the same one. `path` is the spec's."""
    if not any(key == SECCOMP_POD or key.startswith((SECCOMP_CONTAINER, APP_ARMOR)) for key in annotations):
        return
    context = spec.get("securityContext") or {}
    _same(errors, f"{path}.securityContext.seccompProfile", annotations.get(SECCOMP_POD), context.get("seccompProfile"))
    contexts = list(container_contexts(spec, path))
    for name, place, own in contexts:
        _same(errors, f"{place}.seccompProfile", annotations.get(SECCOMP_CONTAINER + name), own.get("seccompProfile"))
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for name, place, own in contexts:
        profile = own.get("appArmorProfile") or context.get("appArmorProfile")
        _same(errors, f"{place}.appArmorProfile", annotations.get(APP_ARMOR + name), profile, "apparmor")


def container_contexts(spec: Json, path: str) -> list[tuple[str, str, Json]]:
    """The name, the path and the value of every container's security context, in the order they are looked at."""
    return [
        (container.get("name", ""), f"{path}.{group}[{index}].securityContext", container.get("securityContext") or {})
        for group in ("initContainers", "containers", "ephemeralContainers")
        for index, container in enumerate(spec.get(group) or ())
    ]


def _is_cost(text: str) -> bool:
    return _COST.fullmatch(text) is not None and len(text) < 12 and -(2**31) <= int(text) < 2**31


def _seccomp(errors: Errors, path: str, profile: str) -> None:
    if profile in (*_DEFAULT_PROFILES, "unconfined"):
        return
    if profile.startswith("localhost/"):
        descending(errors, path, profile.removeprefix("localhost/"))
    else:
        errors.append(invalid(path, profile, "must be a valid seccomp profile"))


def _app_armor(errors: Errors, path: str, name: str, profile: str, spec: Json) -> None:
    if all(name != container for container, _, _ in container_contexts(spec, "")):
        errors.append(invalid(path, name, "container not found"))
    if profile not in ("", "runtime/default", "unconfined") and not profile.startswith("localhost/"):
        errors.append(invalid(path, profile, f'invalid AppArmor profile name: "{profile}"'))


def _same(errors: Errors, path: str, annotation: str | None, profile: Json | None, what: str = "seccomp") -> None:
    if annotation is None or profile is None:
        return
    kind = profile.get("type", "")
    defaults = _DEFAULT_PROFILES if what == "seccomp" else _DEFAULT_PROFILES[:1]
    fits = {
        "Unconfined": annotation == "unconfined",
        "RuntimeDefault": annotation in defaults,
        "Localhost": annotation.startswith("localhost/"),
    }.get(kind, True)
    if not fits:
        errors.append(forbidden(f"{path}.type", f"{what} type in annotation and field must match"))
    elif kind == "Localhost" and annotation.removeprefix("localhost/") != profile.get("localhostProfile"):
        errors.append(forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match"))
