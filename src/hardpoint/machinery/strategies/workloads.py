"""What becomes of the controllers of pods before they are validated, and what is unwise about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.strategies.podspec import drop_disabled_from_template
from hardpoint.machinery.strategies.podspec_warnings import claim_spec_warnings, name_is_no_label, template_warnings

Json = dict[str, Any]

TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"

_KEEPS_ALL_REVISIONS = (
    "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
)


def _create(obj: Json) -> None:
    drop_disabled_from_template(obj["spec"].get("template") or {})


def _update(obj: Json, old: Json) -> None:
    _create(obj)


def _update_deployment(obj: Json, old: Json) -> None:
    """A deployment's annotations count as part of what it asks for: they travel to its replica sets."""
    _create(obj)
    metadata, before = obj["metadata"], old["metadata"]
    if (metadata.get("annotations") or {}) != (before.get("annotations") or {}):
        metadata["generation"] = before.get("generation", 0) + 1


def _create_daemon_set(obj: Json) -> None:
    _create(obj)
    _set_template_generation(obj, max(_template_generation(obj), 1))


def _update_daemon_set(obj: Json, old: Json) -> None:
    """The server alone counts how often the template changed."""
    _create(obj)
    changed = obj["spec"].get("template") != old["spec"].get("template")
    _set_template_generation(obj, _template_generation(old) + changed)


def _template_generation(obj: Json) -> int:
    text = (obj["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _set_template_generation(obj: Json, number: int) -> None:
    metadata = obj["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), TEMPLATE_GENERATION: str(number)}


def _warn(obj: Json) -> list[str]:
    return [*name_is_no_label(obj["metadata"].get("name", "")), *_about_template(obj)]


def _about_template(obj: Json) -> list[str]:
    return template_warnings("spec.template", obj["spec"].get("template") or {})


def _warn_update(obj: Json, old: Json) -> list[str]:
    return _about_template(obj) if obj.get("spec") != old.get("spec") else []


def _warn_deployment_update(obj: Json, old: Json) -> list[str]:
    """Its annotations are part of what is rolled out."""
    has_changed = obj["metadata"].get("annotations") != old["metadata"].get("annotations")
    return _about_template(obj) if has_changed else _warn_update(obj, old)


def _warn_daemon_set_update(obj: Json, old: Json) -> list[str]:
    return _about_template(obj) if obj["spec"].get("template") != old["spec"].get("template") else []


def _warn_stateful_set(obj: Json) -> list[str]:
    return [*_about_template(obj), *_about_claims(obj)]


def _warn_stateful_set_update(obj: Json, old: Json) -> list[str]:
    return [*_warn_update(obj, old), *_about_claims(obj)]


def _about_claims(obj: Json) -> list[str]:
    warnings = [
        warning
        for index, claim in enumerate(obj["spec"].get("volumeClaimTemplates") or ())
        for warning in claim_spec_warnings(f"spec.volumeClaimTemplates[{index}]", claim.get("spec") or {})
    ]
    if obj["spec"].get("revisionHistoryLimit", 0) < 0:
        warnings.append(_KEEPS_ALL_REVISIONS)
    return warnings


CREATE: Mapping[str, Callable[[Json], None]] = {
    "DaemonSet": _create_daemon_set,
    "Deployment": _create,
    "ReplicaSet": _create,
    "ReplicationController": _create,
    "StatefulSet": _create,
}
UPDATE: Mapping[str, Callable[[Json, Json], None]] = {
    "DaemonSet": _update_daemon_set,
    "Deployment": _update_deployment,
    "ReplicaSet": _update,
    "ReplicationController": _update,
    "StatefulSet": _update,
}
WARN_CREATE: Mapping[str, Callable[[Json], list[str]]] = {
    "DaemonSet": _about_template,
    "Deployment": _warn,
    "ReplicaSet": _warn,
    "ReplicationController": _warn,
    "StatefulSet": _warn_stateful_set,
}
WARN_UPDATE: Mapping[str, Callable[[Json, Json], list[str]]] = {
    "DaemonSet": _warn_daemon_set_update,
    "Deployment": _warn_deployment_update,
    "ReplicaSet": _warn_update,
    "ReplicationController": _warn_update,
    "StatefulSet": _warn_stateful_set_update,
}
