"""What makes a role or a role binding invalid."""

from __future__ import annotations

from functools import partial
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, invalid, invalids, not_supported, required
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.labelselectors import has_invalid_values, label_selector

Json = dict[str, Any]
Errors = list[FieldError]

GROUP = "rbac.authorization.k8s.io"
SUBJECT_KINDS = ("ServiceAccount", "User", "Group")


def _role(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    _rules(errors, obj.get("rules") or [], is_namespaced=True)
    return errors + _missing_verbs(obj)


def _cluster_role(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    _rules(errors, obj.get("rules") or [], is_namespaced=False)
    aggregation = obj.get("aggregationRule")
    if aggregation is not None:
        before = ((old or {}).get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
        lenient = any(has_invalid_values(selector) for selector in before)
        _aggregation(errors, "aggregationRule.clusterRoleSelectors", aggregation, lenient=lenient)
    return errors + _missing_verbs(obj)


def _rules(errors: Errors, listed: list[Json], *, is_namespaced: bool) -> None:
    for index, rule in enumerate(listed):
        path = at("rules", index)
        urls = rule.get("nonResourceURLs")
        if not urls:
            if not rule.get("apiGroups"):
                errors.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
            if not rule.get("resources"):
                errors.append(required(f"{path}.resources", "resource rules must supply at least one resource"))
            continue
        if is_namespaced:
            detail = "namespaced rules cannot apply to non-resource URLs"
            errors.append(invalid(f"{path}.nonResourceURLs", urls, detail))
        if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            errors.append(invalid(f"{path}.nonResourceURLs", urls, detail))


def _missing_verbs(obj: Json) -> Errors:
    return [
        required(f"{at('rules', index)}.verbs")
        for index, rule in enumerate(obj.get("rules") or ())
        if not rule.get("verbs")
    ]


def _aggregation(errors: Errors, path: str, aggregation: Json, *, lenient: bool) -> None:
    selectors = aggregation.get("clusterRoleSelectors") or []
    if not selectors:
        detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
        errors.append(required(path, detail))
    for index, selector in enumerate(selectors):
        before = len(errors)
        label_selector(errors, at(path, index), selector, invalid_values_allowed=lenient)
        if len(errors) > before:
            errors.append(FieldError("FieldValueInvalid", at(path, index), "null", "invalid label selector."))


def _binding(obj: Json, old: Json | None = None, *, role_kinds: tuple[str, ...], is_namespaced: bool) -> Errors:
    errors: Errors = []
    role = obj["roleRef"]
    if role["apiGroup"] != GROUP:
        errors.append(not_supported("roleRef.apiGroup", role["apiGroup"], (GROUP,)))
    if role.get("kind", "") not in role_kinds:
        errors.append(not_supported("roleRef.kind", role.get("kind", ""), role_kinds))
    if name := role.get("name"):
        errors += invalids("roleRef.name", name, names.path_segment(name))
    subjects = obj.get("subjects") or []
    for index, subject in enumerate(subjects):
        _subject(errors, at("subjects", index), subject, is_namespaced=is_namespaced)
    errors += [
        required(f"{at('subjects', index)}.name") for index, subject in enumerate(subjects) if not subject.get("name")
    ]
    if not role.get("name"):
        errors.append(required("roleRef.name"))
    if old is not None:
        shown = rules.as_go_struct(
            APIGroup=role.get("apiGroup", ""), Kind=role.get("kind", ""), Name=role.get("name", "")
        )
        errors += rules.immutable("roleRef", role, old["roleRef"], shown=shown)
    return errors


def _subject(errors: Errors, path: str, subject: Json, *, is_namespaced: bool) -> None:
    kind, group = subject.get("kind", ""), subject.get("apiGroup", "")
    if kind == "ServiceAccount":
        if name := subject.get("name"):
            errors += invalids(f"{path}.name", name, names.dns_subdomain(name))
        if group:
            errors.append(not_supported(f"{path}.apiGroup", group, ("",)))
        if not is_namespaced and not subject.get("namespace"):
            errors.append(required(f"{path}.namespace"))
    elif kind in SUBJECT_KINDS:
        if group != GROUP:
            errors.append(not_supported(f"{path}.apiGroup", group, (GROUP,)))
    else:
        errors.append(not_supported(f"{path}.kind", kind, SUBJECT_KINDS))


_role_binding = partial(_binding, role_kinds=("Role", "ClusterRole"), is_namespaced=True)
_cluster_role_binding = partial(_binding, role_kinds=("ClusterRole",), is_namespaced=False)

CREATE = {
    "Role": _role,
    "ClusterRole": _cluster_role,
    "RoleBinding": _role_binding,
    "ClusterRoleBinding": _cluster_role_binding,
}
UPDATE = CREATE
