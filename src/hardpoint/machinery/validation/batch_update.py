"""What a job lets itself be changed to. Little: its pods are made from the template it began with.

A suspended job that has not started may still be told where its pods go and what they ask for.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.fielderrors import FieldError, invalid
from hardpoint.machinery.validation.labelselectors import immutable_selector
from hardpoint.machinery.validation.metadata import immutable

Json = dict[str, Any]
Errors = list[FieldError]

_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")


def job_update(errors: Errors, spec: Json, old: Json) -> None:
    """Everything wrong with replacing the spec of `old` by `spec`, which is valid by itself."""
    before = old.get("spec") or {}
    _completions(errors, spec, before)
    immutable_selector(errors, "spec.selector", spec.get("selector"), before.get("selector"))
    _template(errors, spec.get("template") or {}, old)
    for field in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        immutable(errors, f"spec.{field}", spec.get(field), before.get(field))


def _completions(errors: Errors, spec: Json, before: Json) -> None:
    """An indexed job may grow and shrink, if as many run at once as are to be completed."""
    completions = spec.get("completions")
    if spec.get("completionMode") != "Indexed":
        immutable(errors, "spec.completions", completions, before.get("completions"))
    elif completions not in (before.get("completions"), None, spec.get("parallelism")):
        told = "can only be modified in tandem with spec.parallelism"
        errors.append(invalid("spec.completions", completions, told))


def _template(errors: Errors, template: Json, old: Json) -> None:
    before = (old.get("spec") or {}).get("template") or {}
    if not _may_still_change(old):
        immutable(errors, "spec.template", template, before)
        return
    pod, was = template.get("spec") or {}, dict(before.get("spec") or {})
    _take_scheduling(was, pod)
    for group in ("containers", "initContainers"):
        was[group] = _with_resources_of(was.get(group) or [], pod.get(group) or [])
    if _filled(pod) != _filled(was):
        errors.append(invalid("spec.template.spec", pod, "field is immutable"))


def _may_still_change(job: Json) -> bool:
    spec, status = job.get("spec") or {}, job.get("status") or {}
    is_suspended = any(
        condition.get("type") == "Suspended" and condition.get("status") == "True"
        for condition in status.get("conditions") or ()
    )
    has_not_started = status.get("startTime") is None or is_suspended
    return bool(spec.get("suspend")) and has_not_started and not status.get("active")


def _take_scheduling(was: Json, pod: Json) -> None:
    """Where pods go is not compared: make the old spec say what the new one does."""
    for field in _SCHEDULING:
        was.pop(field, None)
        if field in pod:
            was[field] = pod[field]
    affinity = {name: value for name, value in (was.get("affinity") or {}).items() if name != "nodeAffinity"}
    if node := (pod.get("affinity") or {}).get("nodeAffinity"):
        affinity["nodeAffinity"] = node
    was["affinity"] = affinity


def _with_resources_of(containers: list[Json], others: list[Json]) -> list[Json]:
    if len(containers) != len(others):
        return containers
    return [
        {**one, "resources": other.get("resources") or {}} if one.get("name") == other.get("name") else one
        for one, other in zip(containers, others, strict=True)
    ]


def _filled(spec: Json) -> Json:
    """Without the empty fields, which say no more than absent ones."""
    return {name: value for name, value in spec.items() if value not in (None, [], {})}
