"""What makes a pod invalid by itself, whether it is new or has been changed."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.fielderrors import FieldError, forbidden
from hardpoint.machinery.validation.containers import image_without_padding
from hardpoint.machinery.validation.metadata import non_negative
from hardpoint.machinery.validation.podspec import pod_spec
from hardpoint.machinery.validation.podspec_annotations import pod_annotations

Json = dict[str, Any]
Errors = list[FieldError]


def whole_pod(errors: Errors, pod: Json) -> None:
    """Everything wrong with the spec of a pod and with the annotations that belong to it."""
    metadata, spec = pod["metadata"], pod.get("spec") or {}
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
