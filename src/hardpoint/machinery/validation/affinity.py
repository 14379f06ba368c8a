"""What makes a pod's wishes about its place invalid: node selectors, affinity, spread and tolerations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, duplicate, forbidden, invalid, invalids, not_supported, required
from hardpoint.machinery.validation.labelselectors import is_set_operator, label_selector

Json = dict[str, Any]
Errors = list[FieldError]

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
NOT_POSITIVE = "must be greater than zero"

_NOT_AN_OPERATOR = "not a valid selector operator"
_EMPTY = "can not be empty"
_WEIGHT = "must be in the range 1-100"
_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION = ("Honor", "Ignore")


def affinity(errors: Errors, path: str, wish: Json) -> None:
    """All of `spec.affinity`."""
    node = wish.get("nodeAffinity")
    if node is not None:
        _node_affinity(errors, f"{path}.nodeAffinity", node)
    for name in ("podAffinity", "podAntiAffinity"):
        terms = wish.get(name)
        if terms is not None:
            _pod_affinity(errors, f"{path}.{name}", terms)


def node_selector(errors: Errors, path: str, selector: Json, *, invalid_values_allowed: bool = False) -> None:
    """Terms of which one must fit."""
    terms = selector.get("nodeSelectorTerms")
    if not terms:
        errors.append(required(f"{path}.nodeSelectorTerms", "must have at least one node selector term"))
        return
    for index, term in enumerate(terms):
        place = f"{path}.nodeSelectorTerms[{index}]"
        node_selector_term(errors, place, term, invalid_values_allowed=invalid_values_allowed)


def node_selector_term(errors: Errors, path: str, term: Json, *, invalid_values_allowed: bool = False) -> None:
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        place = f"{path}.matchExpressions[{index}]"
        _node_requirement(errors, place, requirement, invalid_values_allowed=invalid_values_allowed)
    for index, requirement in enumerate(term.get("matchFields") or ()):
        _field_requirement(errors, f"{path}.matchFields[{index}]", requirement)


def tolerations(errors: Errors, path: str, values: Sequence[Json]) -> None:
    for index, toleration in enumerate(values):
        _toleration(errors, f"{path}[{index}]", toleration)


def topology_spread(errors: Errors, path: str, constraints: Sequence[Json]) -> None:
    """A repeated pair of key and action is told where it stands first."""
    for index, constraint in enumerate(constraints):
        place = f"{path}[{index}]"
        skew, key = constraint.get("maxSkew", 0), constraint.get("topologyKey", "")
        action = constraint.get("whenUnsatisfiable", "")
        if skew <= 0:
            errors.append(invalid(f"{place}.maxSkew", skew, NOT_POSITIVE))
        if not key:
            errors.append(required(f"{place}.topologyKey", _EMPTY))
        if action not in _UNSATISFIABLE:
            errors.append(not_supported(f"{place}.whenUnsatisfiable", action, _UNSATISFIABLE))
        if any(_same_spread(constraint, later) for later in constraints[index + 1 :]):
            errors.append(duplicate(f"{place}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
        _min_domains(errors, f"{place}.minDomains", constraint.get("minDomains"), action)
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(name)
            if policy is not None and policy not in _INCLUSION:
                errors.append(not_supported(f"{place}.{name}", policy, _INCLUSION))
        selector = constraint.get("labelSelector")
        _label_keys(errors, place, constraint.get("matchLabelKeys") or (), (), selector)
        label_selector(errors, f"{place}.labelSelector", selector)


def _same_spread(one: Json, other: Json) -> bool:
    return one.get("topologyKey") == other.get("topologyKey") and (
        one.get("whenUnsatisfiable") == other.get("whenUnsatisfiable")
    )


def _min_domains(errors: Errors, path: str, domains: int | None, action: str) -> None:
    if domains is None:
        return
    if domains <= 0:
        errors.append(invalid(path, domains, NOT_POSITIVE))
    if action != "DoNotSchedule":
        told = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, domains, told))


def _node_affinity(errors: Errors, path: str, wish: Json) -> None:
    must = wish.get(REQUIRED)
    if must is not None:
        node_selector(errors, f"{path}.{REQUIRED}", must)
    for index, term in enumerate(wish.get(PREFERRED) or ()):
        place = f"{path}.{PREFERRED}[{index}]"
        _weight(errors, place, term)
        node_selector_term(errors, f"{place}.preference", term.get("preference") or {}, invalid_values_allowed=True)


def _weight(errors: Errors, path: str, term: Json) -> None:
    weight = term.get("weight", 0)
    if not 0 < weight <= 100:
        errors.append(invalid(f"{path}.weight", weight, _WEIGHT))


def _node_requirement(errors: Errors, path: str, requirement: Json, *, invalid_values_allowed: bool) -> None:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    if operator in ("Gt", "Lt"):
        if len(values) != 1:
            errors.append(required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    elif not is_set_operator(errors, path, operator, values):
        errors.append(invalid(f"{path}.operator", operator, _NOT_AN_OPERATOR))
    key = requirement.get("key", "")
    if wrong := names.label_key(key):
        errors += invalids(f"{path}.key", key, wrong)
    if invalid_values_allowed:
        return
    for index, value in enumerate(values):
        if wrong := names.label_value(value):
            errors += invalids(f"{path}.values[{index}]", value, wrong)


def _field_requirement(errors: Errors, path: str, requirement: Json) -> None:
    """Of a node's fields only its name can be asked for, one name at a time."""
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    key = requirement.get("key", "")
    if operator not in ("In", "NotIn"):
        errors.append(invalid(f"{path}.operator", operator, _NOT_AN_OPERATOR))
    elif len(values) != 1:
        told = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(f"{path}.values", told))
    if key != "metadata.name":
        errors.append(invalid(f"{path}.key", key, "not a valid field selector key"))
        return
    for index, value in enumerate(values):
        if wrong := names.dns_subdomain(value):
            errors += invalids(f"{path}.values[{index}]", value, wrong)


def _pod_affinity(errors: Errors, path: str, wish: Json) -> None:
    for index, term in enumerate(wish.get(REQUIRED) or ()):
        _pod_term(errors, f"{path}.{REQUIRED}[{index}]", term)
    for index, weighted in enumerate(wish.get(PREFERRED) or ()):
        place = f"{path}.{PREFERRED}[{index}]"
        _weight(errors, place, weighted)
        _pod_term(errors, f"{place}.podAffinityTerm", weighted.get("podAffinityTerm") or {})


def _pod_term(errors: Errors, path: str, term: Json) -> None:
    selector, key = term.get("labelSelector"), term.get("topologyKey", "")
    label_selector(errors, f"{path}.labelSelector", selector)
    label_selector(errors, f"{path}.namespaceSelector", term.get("namespaceSelector"))
    for namespace in term.get("namespaces") or ():
        if wrong := names.dns_label(namespace):
            errors += invalids(f"{path}.namespace", namespace, wrong)
    _label_keys(errors, path, term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or (), selector)
    if not key:
        errors.append(required(f"{path}.topologyKey", _EMPTY))
    if wrong := names.label_key(key):
        errors += invalids(f"{path}.topologyKey", key, wrong)


def _label_keys(
    errors: Errors, path: str, same: Sequence[str], different: Sequence[str], selector: Json | None
) -> None:
    """Keys whose values come from the pod's own labels: they need a selector, and must not fight with it."""
    if not same and not different:
        return
    for name, keys in (("matchLabelKeys", same), ("mismatchLabelKeys", different)):
        if keys and selector is None:
            errors.append(forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set"))
            continue
        for index, key in enumerate(keys):
            if wrong := names.label_key(key):
                errors += invalids(f"{path}.{name}[{index}]", key, wrong)
    if selector is not None:
        _not_in_selector(errors, path, {key: index for index, key in enumerate(same)}, selector)
    for index, key in enumerate(same):
        if key in different:
            told = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.append(invalid(f"{path}.matchLabelKeys[{index}]", key, told))


def _not_in_selector(errors: Errors, path: str, positions: dict[str, int], selector: Json) -> None:
    """The server adds one expression for each key; a second condition on such a key is a contradiction."""
    seen = set(selector.get("matchLabels") or ())
    for expression in selector.get("matchExpressions") or ():
        key = expression.get("key", "")
        if key in positions and key in seen:
            told = "exists in both matchLabelKeys and labelSelector"
            errors.append(invalid(f"{path}[{positions[key]}]", key, told))
        seen.add(key)


def _toleration(errors: Errors, path: str, toleration: Json) -> None:
    key, operator = toleration.get("key", ""), toleration.get("operator", "")
    value, effect = toleration.get("value", ""), toleration.get("effect", "")
    if key:
        if wrong := names.label_key(key):
            errors += invalids(f"{path}.key", key, wrong)
    elif operator != "Exists":
        told = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        errors.append(invalid(f"{path}.operator", operator, told))
    if "tolerationSeconds" in toleration and effect != "NoExecute":
        told = "effect must be 'NoExecute' when `tolerationSeconds` is set"
        errors.append(invalid(f"{path}.effect", effect, told))
    _toleration_operator(errors, f"{path}.operator", operator, value)
    if effect and effect not in EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, EFFECTS))


def _toleration_operator(errors: Errors, path: str, operator: str, value: str) -> None:
    if operator in ("", "Equal"):
        if wrong := names.label_value(value):
            errors.append(invalid(path, value, ";".join(wrong)))
    elif operator == "Exists":
        if value:
            errors.append(invalid(path, value, "value must be empty when `operator` is 'Exists'"))
    else:
        more = ("Lt", "Gt") if operator in ("Lt", "Gt") else ()
        errors.append(not_supported(path, operator, ("Equal", "Exists", *more)))
