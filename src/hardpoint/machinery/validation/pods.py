"""What makes pods and pod templates invalid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, forbidden
from hardpoint.machinery.validation import pods_subresources
from hardpoint.machinery.validation.pods_update import pod_update
from hardpoint.machinery.validation.pods_whole import whole_pod
from hardpoint.machinery.validation.podspec import pod_template
from hardpoint.machinery.validation.podspec_annotations import profiles_match

Json = dict[str, Any]
Errors = list[FieldError]


def _create_pod(pod: Json) -> Errors:
    errors: Errors = []
    spec = pod.get("spec") or {}
    whole_pod(errors, pod)
    if spec.get("ephemeralContainers"):
        errors.append(forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        told = "cannot be set until all schedulingGates have been cleared"
        errors.append(forbidden("spec.nodeName", told))
    if annotations := pod["metadata"].get("annotations"):
        profiles_match(errors, "spec", annotations, spec)
    return errors


def _update_pod(pod: Json, old: Json) -> Errors:
    errors: Errors = []
    whole_pod(errors, pod)
    pod_update(errors, pod, old)
    return errors


def _create_template(obj: Json) -> Errors:
    errors: Errors = []
    pod_template(errors, "template", obj.get("template") or {})
    return errors


def _update_template(obj: Json, old: Json) -> Errors:
    return _create_template(obj)


CREATE: Mapping[str, Callable[[Json], Errors]] = {"Pod": _create_pod, "PodTemplate": _create_template}
UPDATE: Mapping[str, Callable[[Json, Json], Errors]] = {"Pod": _update_pod, "PodTemplate": _update_template}
SUBRESOURCES: Mapping[str, Mapping[str, Callable[[Json, Json], Errors]]] = {"Pod": pods_subresources.POD}
