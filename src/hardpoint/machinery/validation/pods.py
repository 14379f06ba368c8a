"""What makes pods and pod templates invalid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, forbidden
from hardpoint.machinery.validation.containers import image_without_padding
from hardpoint.machinery.validation.metadata import non_negative
from hardpoint.machinery.validation.pods_update import pod_update
from hardpoint.machinery.validation.podspec import pod_spec, pod_template
from hardpoint.machinery.validation.podspec_annotations import pod_annotations, profiles_match

Json = dict[str, Any]
Errors = list[FieldError]


def _create_pod(pod: Json) -> Errors:
    errors: Errors = []
    spec = pod.get("spec") or {}
    _metadata_and_spec(errors, pod, spec)
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
    _metadata_and_spec(errors, pod, pod.get("spec") or {})
    pod_update(errors, pod, old)
    return errors


def _metadata_and_spec(errors: Errors, pod: Json, spec: Json) -> None:
    metadata = pod["metadata"]
    if annotations := metadata.get("annotations"):
        pod_annotations(errors, "metadata.annotations", annotations, spec)
    pod_spec(errors, "spec", spec, metadata)
    if not spec.get("serviceAccountName"):
        _no_tokens(errors, spec)
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        non_negative(errors, "spec.terminationGracePeriodSeconds", grace)
    for group in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            image_without_padding(errors, f"spec.{group}[{index}]", container)


def _no_tokens(errors: Errors, spec: Json) -> None:
    for index, volume in enumerate(spec.get("volumes") or ()):
        for number, source in enumerate((volume.get("projected") or {}).get("sources") or ()):
            if "serviceAccountToken" in source:
                place = f"spec.volumes[{index}].projected.sources[{number}].serviceAccountToken"
                errors.append(forbidden(place, "must not be specified when serviceAccountName is not set"))


def _create_template(obj: Json) -> Errors:
    errors: Errors = []
    pod_template(errors, "template", obj.get("template") or {})
    return errors


def _update_template(obj: Json, old: Json) -> Errors:
    return _create_template(obj)


CREATE: Mapping[str, Callable[[Json], Errors]] = {"Pod": _create_pod, "PodTemplate": _create_template}
UPDATE: Mapping[str, Callable[[Json, Json], Errors]] = {"Pod": _update_pod, "PodTemplate": _update_template}
