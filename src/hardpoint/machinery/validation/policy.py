"""What makes a PodDisruptionBudget invalid."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, invalids
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.labelselectors import has_invalid_values, label_selector

Json = dict[str, Any]
Errors = list[FieldError]

COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
EVICTION_POLICIES = ("AlwaysAllow", "IfHealthyBudget")


def _budget(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    if "minAvailable" in spec and "maxUnavailable" in spec:
        shown = rules.as_go_struct(
            MinAvailable=spec["minAvailable"],
            Selector=spec.get("selector"),
            MaxUnavailable=spec["maxUnavailable"],
            UnhealthyPodEvictionPolicy=spec.get("unhealthyPodEvictionPolicy"),
        )
        detail = "minAvailable and maxUnavailable cannot be both set"
        errors.append(FieldError("FieldValueInvalid", "spec", shown, detail))
    for field in ("minAvailable", "maxUnavailable"):
        if field in spec:
            errors += _count_or_percent(f"spec.{field}", spec[field])
    lenient = old is not None and has_invalid_values(old["spec"].get("selector"))
    label_selector(errors, "spec.selector", spec.get("selector"), invalid_values_allowed=lenient)
    if "unhealthyPodEvictionPolicy" in spec:
        policy = spec["unhealthyPodEvictionPolicy"]
        errors += rules.choice("spec.unhealthyPodEvictionPolicy", policy, EVICTION_POLICIES)
    return errors


def _count_or_percent(path: str, value: int | str) -> Errors:
    if isinstance(value, int):
        return rules.not_negative(path, value)
    if wrong := names.percent(value):
        return invalids(path, value, wrong)
    return [invalid(path, value, "must not be greater than 100%")] if int(value[:-1]) > 100 else []


def _status(obj: Json, old: Json) -> Errors:
    status = obj.get("status") or {}
    return [error for field in COUNTS for error in rules.not_negative(f"status.{field}", status.get(field, 0))]


CREATE = {"PodDisruptionBudget": _budget}
UPDATE = CREATE
SUBRESOURCES = {"PodDisruptionBudget": {"status": _status}}
