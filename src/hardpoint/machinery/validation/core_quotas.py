"""What makes a LimitRange or a ResourceQuota invalid."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, forbidden, invalid, invalids, required
from hardpoint.machinery.quantity import Quantity, parse
from hardpoint.machinery.validation import resources, rules

Json = dict[str, Any]
Errors = list[FieldError]

LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
ONE = parse("1")

POD_COMPUTE = frozenset(
    {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"},
)
COMPUTE_SCOPED = POD_COMPUTE | {"pods"}
# The scopes of a quota, and which standard resources each can count.
SCOPES = {
    "Terminating": COMPUTE_SCOPED,
    "NotTerminating": COMPUTE_SCOPED,
    "NotBestEffort": COMPUTE_SCOPED,
    "PriorityClass": COMPUTE_SCOPED,
    "CrossNamespacePodAffinity": COMPUTE_SCOPED,
    "BestEffort": frozenset({"pods"}),
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
# Scopes that are there or not, without values.
VALUELESS = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
OPPOSITES = (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
MUST_EXIST = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating,"
    " ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def limit_range(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    seen = set()
    for index, limit in enumerate(obj["spec"].get("limits") or ()):
        path = at("spec.limits", index)
        kind = limit.get("type", "")
        if wrong := names.qualified_name(kind):
            errors += invalids(f"{path}.type", kind, wrong)
        elif "/" not in kind and kind not in LIMIT_TYPES:
            errors.append(invalid(f"{path}.type", kind, "must be a standard limit type or fully qualified"))
        if kind in seen:
            errors.append(duplicate(f"{path}.type", kind))
        seen.add(kind)
        _limit(errors, path, kind, limit)
    return errors


def _limit(errors: Errors, path: str, kind: str, limit: Json) -> None:
    fields = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"]
    check = resources.container_resource_name if kind in ("Pod", "Container") else resources.resource_name
    for field in ("max", "min"):
        for name in limit.get(field) or ():
            check(errors, at(f"{path}.{field}", key=name), name)
    if kind == "Pod":
        for field in ("default", "defaultRequest"):
            fields.remove(field)
            if limit.get(field):
                errors.append(forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'"))
    else:
        for field in ("default", "defaultRequest"):
            for name in limit.get(field) or ():
                check(errors, at(f"{path}.{field}", key=name), name)
    if kind == "PersistentVolumeClaim" and not any("storage" in (limit.get(field) or ()) for field in ("min", "max")):
        detail = "either minimum or maximum storage value is required, but neither was provided"
        errors.append(required(f"{path}.limits", detail))
    for name in limit.get("maxLimitRequestRatio") or ():
        check(errors, at(f"{path}.maxLimitRequestRatio", key=name), name)
    amounts = {field: {key: parse(value) for key, value in (limit.get(field) or {}).items()} for field in fields}
    for name in dict.fromkeys(key for field in amounts.values() for key in field):
        _amounts(errors, path, name, {field: values[name] for field, values in amounts.items() if name in values})


def _amounts(errors: Errors, path: str, name: str, amounts: dict[str, Quantity]) -> None:
    """The amounts a limit names for one resource, which must be in order."""

    def tell(field: str, shown: str, low: str, low_told: str, high: str, high_told: str) -> None:
        """Complain unless `low` is at most `high`; `shown` is whose value is printed as the bad one."""
        if low in amounts and high in amounts and amounts[low] > amounts[high]:
            detail = f"{low_told} value {amounts[low]} is greater than {high_told} value {amounts[high]}"
            errors.append(invalid(at(f"{path}.{field}", key=name), str(amounts[shown]), detail))

    tell("min", "min", "min", "min", "max", "max")
    tell("defaultRequest", "defaultRequest", "min", "min", "defaultRequest", "default request")
    tell("defaultRequest", "defaultRequest", "defaultRequest", "default request", "max", "max")
    tell("defaultRequest", "defaultRequest", "defaultRequest", "default request", "default", "default limit")
    tell("default", "min", "min", "min", "default", "default")
    tell("default", "max", "default", "default", "max", "max")
    _ratio(errors, at(f"{path}.maxLimitRequestRatio", key=name), amounts)
    limit, request = amounts.get("default"), amounts.get("defaultRequest")
    if limit is not None and request is not None and limit != request and not resources.may_overcommit(name):
        detail = f"default value {limit} must equal to defaultRequest value {request} in {name}"
        errors.append(invalid(at(f"{path}.defaultRequest", key=name), str(request), detail))


def _ratio(errors: Errors, path: str, amounts: dict[str, Quantity]) -> None:
    ratio = amounts.get("maxLimitRequestRatio")
    if ratio is None:
        return
    if ratio < ONE:
        errors.append(invalid(path, str(ratio), f"ratio {ratio} is less than 1"))
    if "min" in amounts and "max" in amounts:
        least = amounts["min"].milli_value()
        possible = amounts["max"].milli_value() / least if least else float("inf")
        if ratio.milli_value() / 1000 > possible:
            errors.append(invalid(path, str(ratio), f"ratio {ratio} is greater than max/min = {possible:f}"))


def on_create(obj: Json) -> Errors:
    errors: Errors = []
    _quota(errors, obj["spec"])
    return errors


def on_update(obj: Json, old: Json) -> Errors:
    errors = on_create(obj)
    scopes, before = obj["spec"].get("scopes") or [], old["spec"].get("scopes") or []
    if set(scopes) != set(before):
        errors.append(invalid("spec.scopes", scopes, rules.IMMUTABLE))
    return errors


def _quota(errors: Errors, spec: Json) -> None:
    hard = spec.get("hard") or {}
    for name, amount in hard.items():
        place = at("spec.hard", key=name)
        resources.quota_resource_name(errors, place, name)
        resources.resource_amount(errors, place, name, amount)
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        for _ in _uncountable(scope, hard):
            errors.append(invalid("spec.scopes", scopes, "unsupported scope applied to resource"))
    _opposites(errors, "spec.scopes", set(scopes), scopes)
    selector = spec.get("scopeSelector")
    if selector is not None:
        _scope_selector(errors, "spec.scopeSelector.matchExpressions", selector, spec)


def _uncountable(scope: str, hard: Json) -> list[str]:
    """The standard resources of a quota that the scope says nothing about."""
    counted = SCOPES.get(scope, hard)
    return [name for name in sorted(hard) if name in resources.STANDARD_QUOTA and name not in counted]


def _opposites(errors: Errors, path: str, found: set[str], shown: list[str] | None) -> None:
    for pair in OPPOSITES:
        if found.issuperset(pair):
            errors.append(invalid(path, shown, "conflicting scopes"))


def _scope_selector(errors: Errors, path: str, selector: Json, spec: Json) -> None:
    expressions = selector.get("matchExpressions") or []
    for expression in expressions:
        scope, operator = expression.get("scopeName", ""), expression.get("operator", "")
        if scope not in SCOPES:
            errors.append(invalid(f"{path}.scopeName", scope, "unsupported scope"))
        for _ in _uncountable(scope, spec.get("hard") or {}):
            errors.append(_selector_misapplied(path, expressions))
        if scope in VALUELESS and operator != "Exists":
            errors.append(invalid(f"{path}.operator", operator, MUST_EXIST))
        _operator(errors, path, operator, expression.get("values") or [])
    found = {expression.get("scopeName", "") for expression in expressions}
    _opposites(errors, path, found, spec.get("scopes") or None)


def _selector_misapplied(path: str, expressions: list[Json]) -> FieldError:
    printed = [
        {
            "ScopeName": expression.get("scopeName", ""),
            "Operator": expression.get("operator", ""),
            "Values": expression.get("values"),
        }
        for expression in expressions
    ]
    shown = rules.as_go_struct(MatchExpressions=printed)
    return FieldError("FieldValueInvalid", path, shown, "unsupported scope applied to resource")


def _operator(errors: Errors, path: str, operator: str, values: list[str]) -> None:
    if operator in ("In", "NotIn"):
        if not values:
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            errors.append(required(f"{path}.values", detail))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            errors.append(invalid(f"{path}.values", values, detail))
    else:
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
