"""What a running pod lets itself be changed to: images, a shorter deadline, more tolerations, fewer scheduling gates.

A pod that still waits behind gates may also be told more exactly where to go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid, invalids, required
from hardpoint.machinery.validation.affinity import REQUIRED, tolerations
from hardpoint.machinery.validation.containers import image_without_padding
from hardpoint.machinery.validation.podspec_annotations import APP_ARMOR, MIRROR, pod_annotations

Json = dict[str, Any]
Errors = list[FieldError]

UPDATABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)


def pod_update(errors: Errors, pod: Json, old: Json) -> None:
    """Everything wrong with the way from `old` to `pod`, each of which is valid by itself."""
    spec, before = pod.get("spec") or {}, old.get("spec") or {}
    _annotations(errors, pod, old)
    for group in ("containers", "initContainers"):
        new, was = spec.get(group) or [], before.get(group) or []
        if len(new) != len(was):
            errors.append(forbidden(f"spec.{group}", "pod updates may not add or remove containers"))
            return
        for index, container in enumerate(new):
            if not container.get("image"):
                errors.append(required(f"spec.{group}[{index}].image"))
            image_without_padding(errors, f"spec.{group}[{index}]", container)
    if not _deadline(errors, spec.get("activeDeadlineSeconds"), before.get("activeDeadlineSeconds")):
        return
    _added_tolerations(errors, spec.get("tolerations") or (), before.get("tolerations") or ())
    _removed_gates(errors, spec.get("schedulingGates") or (), before.get("schedulingGates") or ())
    if spec != before:
        _unchanged_otherwise(errors, spec, before)


def _annotations(errors: Errors, pod: Json, old: Json) -> None:
    path = "metadata.annotations"
    new, was = pod["metadata"].get("annotations") or {}, old["metadata"].get("annotations") or {}
    for key, value in was.items():
        if new.get(key) != value:
            _guarded(errors, f"{path}[{key}]", key, "may not remove or update")
    for key in new:
        if key not in was:
            _guarded(errors, f"{path}[{key}]", key, "may not add")
    pod_annotations(errors, path, new, pod.get("spec") or {})


def _guarded(errors: Errors, path: str, key: str, told: str) -> None:
    if key.startswith(APP_ARMOR):
        errors.append(forbidden(path, f"{told} AppArmor annotations"))
    if key == MIRROR:
        errors.append(forbidden(path, f"{told} mirror pod annotation"))


def _deadline(errors: Errors, new: int | None, old: int | None) -> bool:
    """A deadline may be set, or come nearer. False where nothing else is worth telling."""
    path = "spec.activeDeadlineSeconds"
    if new is None:
        if old is not None:
            errors.append(invalid(path, None, "must not update from a positive integer to nil value"))
        return True
    if wrong := names.in_range(new, 0, names.INT32_MAX):
        errors += invalids(path, new, wrong)
        return False
    if old is not None and old < new:
        errors.append(invalid(path, new, "must be less than or equal to previous value"))
        return False
    return True


def _added_tolerations(errors: Errors, new: Sequence[Json], old: Sequence[Json]) -> None:
    kept = [_without_seconds(toleration) for toleration in new]
    if any(_without_seconds(toleration) not in kept for toleration in old):
        told = "existing toleration can not be modified except its tolerationSeconds"
        errors.append(forbidden("spec.tolerations", told))
    else:
        tolerations(errors, "spec.tolerations", new)


def _without_seconds(toleration: Json) -> Json:
    return {field: value for field, value in toleration.items() if field != "tolerationSeconds"}


def _removed_gates(errors: Errors, new: Sequence[Json], old: Sequence[Json]) -> None:
    known = {gate.get("name", "") for gate in old}
    for index, gate in enumerate(new):
        name = gate.get("name", "")
        if name not in known:
            told = f"only deletion is allowed, but found new scheduling gate '{name}'"
            errors.append(forbidden(f"spec.schedulingGates[{index}].name", told))


def _unchanged_otherwise(errors: Errors, spec: Json, before: Json) -> None:
    rest = dict(spec)
    for group in ("containers", "initContainers"):
        if group in spec:
            pairs = zip(spec[group] or (), before.get(group) or (), strict=True)
            rest[group] = [{**container, "image": was.get("image", "")} for container, was in pairs]
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _as_before(rest, before, field)
    if before.get("terminationGracePeriodSeconds", 0) < 0 and spec.get("terminationGracePeriodSeconds") == 1:
        _as_before(rest, before, "terminationGracePeriodSeconds")
    if before.get("schedulingGates"):
        _narrowed(errors, rest, before)
    if rest != before:
        changed = sorted(name for name in rest.keys() | before.keys() if rest.get(name) != before.get(name))
        told = f"pod updates may not change fields other than {','.join(UPDATABLE)}\n"
        errors.append(forbidden("spec", told + "".join(f"changed: spec.{name}\n" for name in changed)))


def _as_before(rest: Json, before: Json, field: str) -> None:
    rest.pop(field, None)
    if field in before:
        rest[field] = before[field]


def _narrowed(errors: Errors, rest: Json, before: Json) -> None:
    """A gated pod may add to its node selector and to its required node affinity."""
    new, old = rest.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(new.get(key) != value for key, value in old.items()):
        told = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.append(invalid("spec.nodeSelector", new, told))
    _as_before(rest, before, "nodeSelector")
    wish, wished = rest.get("affinity") or {}, before.get("affinity") or {}
    if wish.get("nodeAffinity") == wished.get("nodeAffinity"):
        return
    _narrowed_affinity(errors, wish.get("nodeAffinity") or {}, wished.get("nodeAffinity") or {})
    merged = {name: value for name, value in wish.items() if name != "nodeAffinity"}
    if "nodeAffinity" in wished:
        merged["nodeAffinity"] = wished["nodeAffinity"]
    if merged or "affinity" in before:
        rest["affinity"] = merged
    else:
        rest.pop("affinity", None)


def _narrowed_affinity(errors: Errors, new: Json, old: Json) -> None:
    path = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
    was = (old.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    terms = (new.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    if was and len(was) != len(terms):
        told = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        errors.append(invalid(path, terms, told))
        return
    for index, (term, before) in enumerate(zip(terms, was, strict=False)):
        if not _only_added(term, before):
            told = "only additions are allowed (no mutations or deletions)"
            errors.append(invalid(f"{path}[{index}]", term, told))


def _only_added(term: Json, before: Json) -> bool:
    fields = ("matchExpressions", "matchFields")
    if not any(before.get(field) for field in fields):
        return not any(term.get(field) for field in fields)
    return all((term.get(field) or [])[: len(before.get(field) or ())] == (before.get(field) or []) for field in fields)
