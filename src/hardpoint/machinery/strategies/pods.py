"""What becomes of pods before they are validated: they wait, their quality of service is known, old words are new."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.strategies.podspec import drop_disabled, drop_disabled_from_template
from hardpoint.machinery.strategies.podspec_resources import complete_totals
from hardpoint.machinery.strategies.podspec_warnings import pod_warnings, template_warnings
from hardpoint.machinery.validation.affinity import PREFERRED, REQUIRED
from hardpoint.machinery.validation.podspec_annotations import APP_ARMOR
from hardpoint.machinery.validation.podspec_resources import quality_of_service

Json = dict[str, Any]


def _create_pod(pod: Json) -> None:
    spec, metadata = pod.setdefault("spec", {}), pod["metadata"]
    drop_disabled(spec, metadata)
    status: Json = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        status["conditions"] = [_gated(metadata.get("creationTimestamp"))]
    labels = metadata.get("labels") or {}
    _merge_affinity_keys(spec.get("affinity") or {}, labels)
    for constraint in spec.get("topologySpreadConstraints") or ():
        _merge_keys(constraint.get("labelSelector"), constraint.get("matchLabelKeys"), "In", labels)
    if annotations := metadata.get("annotations"):
        _app_armor_fields(spec, annotations)
    complete_totals(spec)
    status["qosClass"] = quality_of_service(spec)
    pod["status"] = status


def _update_pod(pod: Json, old: Json) -> None:
    spec = pod.setdefault("spec", {})
    of_pod = (old.get("spec") or {}).get("resources")
    if "resources" not in spec and of_pod is not None:
        spec["resources"] = of_pod
    drop_disabled(spec, pod["metadata"])


def _gated(now: str | None) -> Json:
    return {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }


def _merge_affinity_keys(affinity: Json, labels: Mapping[str, str]) -> None:
    for name in ("podAffinity", "podAntiAffinity"):
        wish = affinity.get(name) or {}
        terms = [*(weighted.get("podAffinityTerm") or {} for weighted in wish.get(PREFERRED) or ())]
        for term in [*terms, *(wish.get(REQUIRED) or ())]:
            selector = term.get("labelSelector")
            _merge_keys(selector, term.get("matchLabelKeys"), "In", labels)
            _merge_keys(selector, term.get("mismatchLabelKeys"), "NotIn", labels)


def _merge_keys(selector: Json | None, keys: list[str] | None, operator: str, labels: Mapping[str, str]) -> None:
    """Each key the pod has a value for becomes an expression of the selector."""
    if selector is None or not keys:
        return
    added = [{"key": key, "operator": operator, "values": [labels[key]]} for key in keys if key in labels]
    if added:
        selector["matchExpressions"] = [*(selector.get("matchExpressions") or ()), *added]


def _app_armor_fields(spec: Json, annotations: Mapping[str, str]) -> None:
    """A profile that only an annotation names is moved to the field."""
    if (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for container in spec.get(group) or ():
            annotation = annotations.get(APP_ARMOR + container.get("name", ""))
            context = container.get("securityContext") or {}
            if annotation is None or "appArmorProfile" in context:
                continue
            profile = _app_armor_profile(annotation)
            if profile is not None and profile != of_pod:
                container["securityContext"] = {**context, "appArmorProfile": profile}


def _app_armor_profile(annotation: str) -> Json | None:
    if annotation in _APP_ARMOR_TYPES:
        return {"type": _APP_ARMOR_TYPES[annotation]}
    name = annotation.removeprefix("localhost/")
    if name == annotation or not name or name != name.strip():
        return None
    return {"type": "Localhost", "localhostProfile": name}


_APP_ARMOR_TYPES = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault"}


def _create_template(obj: Json) -> None:
    drop_disabled_from_template(obj.setdefault("template", {}))


def _update_template(obj: Json, old: Json) -> None:
    _create_template(obj)


def _warn_pod(pod: Json) -> list[str]:
    warnings = []
    if wrong := names.dns_label(pod["metadata"].get("name", "")):
        told = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
        warnings.append(f"metadata.name: {told}: [{' '.join(wrong)}]")
    return warnings + pod_warnings(pod)


def _warn_template(obj: Json) -> list[str]:
    return template_warnings("template", obj.get("template") or {})


def _warn_template_update(obj: Json, old: Json) -> list[str]:
    return _warn_template(obj) if obj.get("template") != old.get("template") else []


CREATE: Mapping[str, Callable[[Json], None]] = {"Pod": _create_pod, "PodTemplate": _create_template}
UPDATE: Mapping[str, Callable[[Json, Json], None]] = {"Pod": _update_pod, "PodTemplate": _update_template}
WARN_CREATE: Mapping[str, Callable[[Json], list[str]]] = {"Pod": _warn_pod, "PodTemplate": _warn_template}
WARN_UPDATE: Mapping[str, Callable[[Json, Json], list[str]]] = {"PodTemplate": _warn_template_update}
