"""What makes the policies of a job invalid: when a failed pod counts, when enough pods succeeded, who is replaced."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    duplicate,
    invalid,
    invalids,
    not_supported,
    quote,
    required,
    too_long,
    too_many,
)
from hardpoint.machinery.validation.metadata import non_negative
from hardpoint.machinery.validation.rules import as_go_struct

Json = dict[str, Any]
Errors = list[FieldError]

RULES_MAX = 20
EXIT_CODES_MAX = 255
CONDITIONS_MAX = 20
INDEXES_LENGTH_MAX = 64 * 1024

_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_OPERATORS = ("In", "NotIn")
_STATUSES = ("False", "True", "Unknown")


class BadIndexes(ValueError):
    """Not a list of ascending indexes and ranges of them."""


def pod_failure_policy(errors: Errors, path: str, spec: Json) -> None:
    rules = spec["podFailurePolicy"].get("rules") or []
    if len(rules) > RULES_MAX:
        errors.append(too_many(f"{path}.rules", len(rules), RULES_MAX))
    pod = (spec.get("template") or {}).get("spec") or {}
    known = {
        container.get("name", "") for group in ("containers", "initContainers") for container in pod.get(group) or ()
    }
    for index, rule in enumerate(rules):
        _failure_rule(errors, f"{path}.rules[{index}]", rule, spec, known)


def success_policy(errors: Errors, path: str, spec: Json) -> None:
    policy = spec["successPolicy"]
    if spec.get("completionMode", "NonIndexed") != "Indexed":
        shown = as_go_struct(
            Rules=[
                {"SucceededIndexes": rule.get("succeededIndexes"), "SucceededCount": rule.get("succeededCount")}
                for rule in policy.get("rules") or ()
            ]
        )
        errors.append(FieldError("FieldValueInvalid", path, shown, "requires indexed completion mode"))
        return
    rules = policy.get("rules") or []
    if not rules:
        told = "at least one rules must be specified when the successPolicy is specified"
        errors.append(required(f"{path}.rules", told))
    if len(rules) > RULES_MAX:
        errors.append(too_many(f"{path}.rules", len(rules), RULES_MAX))
    for index, rule in enumerate(rules):
        _success_rule(errors, f"{path}.rules[{index}]", rule, spec.get("completions", 0))


def replacement_policy(errors: Errors, path: str, spec: Json) -> None:
    policy = spec.get("podReplacementPolicy")
    supported = ("Failed",) if spec.get("podFailurePolicy") is not None else ("Failed", "TerminatingOrFailed")
    if policy is not None and policy not in supported:
        errors.append(not_supported(path, policy, supported))


def _valid(values: tuple[str, ...]) -> str:
    return f"valid values: [{' '.join(quote(value) for value in values)}]"


def _failure_rule(errors: Errors, path: str, rule: Json, spec: Json, known: set[str]) -> None:
    action, codes, conditions = rule.get("action", ""), rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if not action:
        errors.append(required(f"{path}.action", _valid(_ACTIONS)))
    elif action == "FailIndex":
        if "backoffLimitPerIndex" not in spec:
            errors.append(invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set"))
    elif action not in _ACTIONS:
        errors.append(not_supported(f"{path}.action", action, _ACTIONS))
    if codes is not None:
        _exit_codes(errors, f"{path}.onExitCodes", codes, known)
    if conditions:
        _conditions(errors, f"{path}.onPodConditions", conditions)
    if codes is not None and conditions:
        told = "specifying both OnExitCodes and OnPodConditions is not supported"
        errors.append(FieldError("FieldValueInvalid", path, "", told))
    if codes is None and not conditions:
        told = "specifying one of OnExitCodes and OnPodConditions is required"
        errors.append(FieldError("FieldValueInvalid", path, "", told))


def _exit_codes(errors: Errors, path: str, codes: Json, known: set[str]) -> None:
    operator, values = codes.get("operator", ""), codes.get("values") or []
    if not operator:
        errors.append(required(f"{path}.operator", _valid(_OPERATORS)))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", operator, _OPERATORS))
    container = codes.get("containerName")
    if container is not None and container not in known:
        told = "must be one of the container or initContainer names in the pod template"
        errors.append(invalid(f"{path}.containerName", container, told))
    if not values:
        errors.append(invalid(f"{path}.values", codes.get("values"), "at least one value is required"))
    elif len(values) > EXIT_CODES_MAX:
        errors.append(too_many(f"{path}.values", len(values), EXIT_CODES_MAX))
    seen: set[int] = set()
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator"))
        if value in seen:
            errors.append(duplicate(f"{path}.values[{index}]", value))
        seen.add(value)
    if values != sorted(values):
        errors.append(invalid(f"{path}.values", values, "must be ordered"))


def _conditions(errors: Errors, path: str, conditions: list[Json]) -> None:
    if len(conditions) > CONDITIONS_MAX:
        errors.append(too_many(path, len(conditions), CONDITIONS_MAX))
    for index, pattern in enumerate(conditions):
        kind, status = pattern.get("type", ""), pattern.get("status", "")
        if wrong := names.qualified_name(kind):
            errors += invalids(f"{path}[{index}].type", kind, wrong)
        if not status:
            errors.append(required(f"{path}[{index}].status", _valid(_STATUSES)))
        elif status not in _STATUSES:
            errors.append(not_supported(f"{path}[{index}].status", status, _STATUSES))


def _success_rule(errors: Errors, path: str, rule: Json, completions: int) -> None:
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        errors.append(required(path, "at least one of succeededCount or succeededIndexes must be specified"))
    named = 0
    if indexes is not None:
        if names.length(indexes) > INDEXES_LENGTH_MAX:
            errors.append(too_long(f"{path}.succeededIndexes", INDEXES_LENGTH_MAX))
        try:
            named = count_indexes(indexes, completions)
        except BadIndexes as wrong:
            told = f"error parsing succeededIndexes: {wrong}"
            errors.append(invalid(f"{path}.succeededIndexes", indexes, told))
    if count is None:
        return
    non_negative(errors, f"{path}.succeededCount", count)
    if count > completions:
        told = f"must be less than or equal to {completions} (the number of specified completions)"
        errors.append(invalid(f"{path}.succeededCount", count, told))
    if indexes is not None and count > named:
        what = "the number of indexes in the specified succeededIndexes field"
        errors.append(invalid(f"{path}.succeededCount", count, f"must be less than or equal to {named} ({what})"))


def count_indexes(text: str, completions: int) -> int:
    """How many indexes `1,3-5` names, each below `completions`. Raises BadIndexes."""
    if not text:
        return 0
    total, last = 0, -1
    for interval in text.split(","):
        first, end = _interval(interval, completions)
        if last >= first:
            raise BadIndexes(f"non-increasing order, previous: {last}, current: {first}")
        total += end - first + 1
        last = end
    return total


def _interval(text: str, completions: int) -> tuple[int, int]:
    parts = text.split("-")
    if len(parts) > 2:
        told = "violates the requirement that an index interval can have at most two parts separated by '-'"
        raise BadIndexes(f"the fragment {quote(text)} {told}")
    limits = [_index(part, completions) for part in parts]
    if len(limits) == 2 and limits[0] >= limits[1]:
        raise BadIndexes(f"non-increasing order, previous: {limits[0]}, current: {limits[1]}")
    return limits[0], limits[-1]


def _index(text: str, completions: int) -> int:
    digits = text.removeprefix("+")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        raise BadIndexes(f"cannot convert string to integer for index: {quote(text)}")
    if int(digits) >= completions:
        raise BadIndexes(f"too large index: {quote(text)}")
    return int(digits)
