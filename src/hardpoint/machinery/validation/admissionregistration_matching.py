"""Which requests a webhook or an admission policy is for: rules, selectors, match conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    invalid,
    invalids,
    not_supported,
    required,
    too_many,
)
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.labelselectors import label_selector

Json = dict[str, Any]
Errors = list[FieldError]

FAILURE_POLICIES = ("Fail", "Ignore")
MATCH_POLICIES = ("Equivalent", "Exact")
REINVOCATION_POLICIES = ("IfNeeded", "Never")
OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
MUTATED_OPERATIONS = ("*", "CONNECT", "CREATE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
MATCH_CONDITIONS_MAX = 64


def rule_with_operations(errors: Errors, path: str, rule: Json) -> None:
    operations = rule.get("operations") or []
    if not operations:
        errors.append(required(f"{path}.operations"))
    _wildcard_alone(errors, f"{path}.operations", operations, "operations")
    for index, operation in enumerate(operations):
        errors += rules.choice(at(f"{path}.operations", index), operation, OPERATIONS)
    for field, told in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        values = rule.get(field) or []
        if not values:
            errors.append(required(f"{path}.{field}"))
        _wildcard_alone(errors, f"{path}.{field}", values, told)
    for index, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            errors.append(required(at(f"{path}.apiVersions", index)))
    _resources(errors, f"{path}.resources", rule.get("resources") or [])
    if "scope" in rule:
        errors += rules.choice(f"{path}.scope", rule["scope"], SCOPES)


def _wildcard_alone(errors: Errors, path: str, values: Sequence[str], told: str) -> None:
    if len(values) > 1 and "*" in values:
        errors.append(invalid(path, values, f"if '*' is present, must not specify other {told}"))


def _resources(errors: Errors, path: str, resources: list[str]) -> None:
    """`pods`, `pods/status`, `pods/*`, `*/scale`, `*`, `*/*`: none of them may say again what another says."""
    if not resources:
        errors.append(required(path))
    with_all_below: set[str] = set()
    below_all: set[str] = set()
    ends_plain = False
    for index, value in enumerate(resources):
        place = at(path, index)
        if not value:
            errors.append(required(place))
            continue
        resource, slash, subresource = value.partition("/")
        if not slash:
            ends_plain = value != "*"
            continue
        if resource in with_all_below:
            errors.append(invalid(place, value, f"if '{resource}/*' is present, must not specify {value}"))
        if subresource in below_all:
            errors.append(invalid(place, value, f"if '*/{subresource}' is present, must not specify {value}"))
        if subresource == "*":
            with_all_below.add(resource)
        if resource == "*":
            below_all.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        errors.append(invalid(path, resources, "if '*/*' is present, must not specify other resources"))
    if "*" in resources and ends_plain:
        detail = "if '*' is present, must not specify other resources without subresources"
        errors.append(invalid(path, resources, detail))


def match_resources(errors: Errors, path: str, match: Json) -> None:
    """The matchConstraints of a policy, the matchResources of its binding."""
    errors += rules.choice(f"{path}.matchPolicy", match["matchPolicy"], MATCH_POLICIES)
    label_selector(errors, f"{path}.namespaceSelector", match["namespaceSelector"])
    label_selector(errors, f"{path}.objectSelector", match["objectSelector"])
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(match.get(field) or ()):
            _named_rule(errors, at(f"{path}.{field}", index), rule)


def _named_rule(errors: Errors, path: str, rule: Json) -> None:
    seen = set()
    for index, name in enumerate(rule.get("resourceNames") or ()):
        place = at(f"{path}.resourceNames", index)
        errors += invalids(place, name, names.path_segment(name))
        if name in seen:
            errors.append(duplicate(place, name))
        seen.add(name)
    rule_with_operations(errors, path, rule)


def mutated_operations(errors: Errors, path: str, match: Json) -> None:
    """What is deleted can no longer be changed."""
    for rule in match.get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in MUTATED_OPERATIONS:
                errors.append(not_supported(f"{path}.resourceRules.operations", operation, MUTATED_OPERATIONS))


def match_conditions(errors: Errors, path: str, conditions: Sequence[Json]) -> None:
    if len(conditions) > MATCH_CONDITIONS_MAX:
        errors.append(too_many(path, len(conditions), MATCH_CONDITIONS_MAX))
    seen = set()
    for index, condition in enumerate(conditions):
        place = at(path, index)
        if not condition.get("expression", "").strip():
            errors.append(required(f"{place}.expression"))
        name = condition.get("name", "")
        if not name:
            errors.append(required(f"{place}.name"))
            continue
        errors += invalids(f"{place}.name", name, names.qualified_name(name))
        if name in seen:
            errors.append(duplicate(f"{place}.name", name))
        seen.add(name)
