"""What makes an admission policy or its binding invalid. CEL expressions are looked for, not compiled."""

from __future__ import annotations

import re
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
)
from hardpoint.machinery.validation import admissionregistration_matching as matching
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.labelselectors import label_selector

Json = dict[str, Any]
Errors = list[FieldError]

REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
ACTIONS = ("Audit", "Deny", "Warn")
PATCH_TYPES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
AUDIT_ANNOTATIONS_MAX = 20
VALUE_EXPRESSION_LENGTH_MAX = 5 * 1024
SOMETHING_TO_DO = "validations or auditAnnotations must contain at least one item"

_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
# fmt: off
_RESERVED = frozenset({
    "true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import",
    "let", "loop", "package", "namespace", "return", "var", "void", "while",
})
# fmt: on


def _validating(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    _shared(errors, spec, old, mutates=False)
    validations, annotations = spec.get("validations") or [], spec.get("auditAnnotations") or []
    if not validations and not annotations:
        errors += [required(f"spec.{field}", SOMETHING_TO_DO) for field in ("validations", "auditAnnotations")]
    for index, validation in enumerate(validations):
        _validation(errors, at("spec.validations", index), validation)
    _audit_annotations(errors, "spec.auditAnnotations", annotations, obj["metadata"].get("name", ""))
    return errors


def _mutating(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    _shared(errors, spec, old, mutates=True)
    mutations = spec.get("mutations") or []
    if not mutations:
        errors.append(required("spec.mutations", "mutations must contain at least one item"))
    for index, mutation in enumerate(mutations):
        _mutation(errors, at("spec.mutations", index), mutation)
    policy = spec.get("reinvocationPolicy", "")
    errors += rules.required_choice("spec.reinvocationPolicy", policy, matching.REINVOCATION_POLICIES)
    return errors


def _shared(errors: Errors, spec: Json, old: Json | None, *, mutates: bool) -> None:
    errors += rules.choice("spec.failurePolicy", spec["failurePolicy"], matching.FAILURE_POLICIES)
    if "paramKind" in spec:
        _param_kind(errors, "spec.paramKind", spec["paramKind"])
    constraints = spec.get("matchConstraints")
    if constraints is None:
        errors.append(required("spec.matchConstraints"))
    else:
        matching.match_resources(errors, "spec.matchConstraints", constraints)
        if not constraints.get("resourceRules"):
            errors.append(required("spec.matchConstraints.resourceRules"))
        if mutates:
            matching.mutated_operations(errors, "spec.matchConstraints", constraints)
    conditions = spec.get("matchConditions") or []
    if old is None or conditions != (old["spec"].get("matchConditions") or []):
        matching.match_conditions(errors, "spec.matchConditions", conditions)
    for index, variable in enumerate(spec.get("variables") or ()):
        _variable(errors, at("spec.variables", index), variable)


def _param_kind(errors: Errors, path: str, kind: Json) -> None:
    version = kind.get("apiVersion", "")
    place = f"{path}.apiVersion"
    if not version:
        errors.append(required(place))
    elif version.count("/") > 1:
        errors.append(invalid(place, version, f"unexpected GroupVersion string: {version}"))
    else:
        _group_version(errors, place, version)
    name = kind.get("kind", "")
    if not name:
        errors.append(required(f"{path}.kind"))
    elif problems := names.dns_1035_label(name.lower()):
        detail = f"may have mixed case, but should otherwise match: {','.join(problems)}"
        errors.append(invalid(f"{path}.kind", name, detail))


def _group_version(errors: Errors, path: str, value: str) -> None:
    group, _, version = value.rpartition("/")
    if group and (problems := names.dns_subdomain(group)):
        errors.append(invalid(path, group, ",".join(problems)))
    if not version:
        errors.append(invalid(path, value, "version must be specified"))
    elif problems := names.dns_1035_label(version):
        errors.append(invalid(path, version, ",".join(problems)))


def _variable(errors: Errors, path: str, variable: Json) -> None:
    name = variable.get("name", "")
    if not name.strip():
        errors.append(required(f"{path}.name", "name is not specified"))
    elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
        errors.append(invalid(f"{path}.name", name, "must be a valid CEL identifier"))
    if not variable.get("expression", "").strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))


def _validation(errors: Errors, path: str, validation: Json) -> None:
    if not validation.get("expression", "").strip():
        errors.append(required(f"{path}.expression", "expression is not specified"))
    told = validation.get("messageExpression", "")
    if told and not told.strip():
        errors.append(invalid(f"{path}.messageExpression", told, "must be non-empty if specified"))
    message = validation.get("message", "")
    if message and not message.strip():
        errors.append(invalid(f"{path}.message", message, "must be non-empty if specified"))
    elif "\n" in message.strip() or "\r" in message.strip():
        errors.append(invalid(f"{path}.message", message, "must not contain line breaks"))
    if "reason" in validation:
        errors += rules.choice(f"{path}.reason", validation["reason"], REASONS)


def _audit_annotations(errors: Errors, path: str, annotations: list[Json], policy: str) -> None:
    if len(annotations) > AUDIT_ANNOTATIONS_MAX:
        detail = f"must not have more than {AUDIT_ANNOTATIONS_MAX} auditAnnotations"
        errors.append(invalid(path, annotations, detail))
    seen = set()
    for index, annotation in enumerate(annotations):
        place = at(path, index)
        key = annotation.get("key", "")
        if policy:
            errors += invalids(f"{place}.key", f"{policy}/{key}", names.qualified_name(f"{policy}/{key}"))
        else:
            errors.append(invalid(f"{place}.key", key, "requires metadata.name be non-empty"))
        expression = annotation.get("valueExpression", "").strip()
        if not expression:
            errors.append(required(f"{place}.valueExpression", "valueExpression is not specified"))
        elif names.length(expression) > VALUE_EXPRESSION_LENGTH_MAX:
            detail = f"must not exceed {VALUE_EXPRESSION_LENGTH_MAX} bytes in length"
            errors.append(required(f"{place}.valueExpression", detail))
        if key in seen:
            errors.append(duplicate(f"{place}.key", key))
        seen.add(key)


def _mutation(errors: Errors, path: str, mutation: Json) -> None:
    kind = mutation.get("patchType", "")
    if not kind:
        errors.append(required(f"{path}.patchType"))
        return
    if kind not in PATCH_TYPES:
        errors.append(not_supported(f"{path}.patchType", kind, sorted(PATCH_TYPES)))
        return
    wanted = PATCH_TYPES[kind]
    if wanted not in mutation:
        errors.append(required(f"{path}.{wanted}", f"must be specified when patchType is {kind}"))
    elif not mutation[wanted].get("expression", "").strip():
        errors.append(required(f"{path}.{wanted}.expression"))
    for other in PATCH_TYPES.values():
        if other != wanted and other in mutation:
            detail = f"must not be specified when patchType is {kind}"
            errors.append(invalid(f"{path}.{other}", f"{{{other}}}", detail))


def _validating_binding(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    _shared_binding(errors, spec)
    actions = spec.get("validationActions") or []
    path = "spec.validationActions"
    for index, action in enumerate(actions):
        errors += rules.choice(at(path, index), action, ACTIONS)
        if action in actions[:index]:
            errors.append(duplicate(at(path, index), action))
    if "Deny" in actions and "Warn" in actions:
        why = "(repeating the same validation failure information in the API response and headers serves no purpose)"
        errors.append(invalid(path, actions, f"must not contain both Deny and Warn {why}"))
    errors += _missing_policy(spec)
    if not actions:
        errors.append(required(path))
    return errors


def _mutating_binding(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    _shared_binding(errors, spec)
    if "matchResources" in spec:
        matching.mutated_operations(errors, "spec.matchResources", spec["matchResources"])
    return _missing_policy(spec) + errors


def _missing_policy(spec: Json) -> Errors:
    return [] if spec.get("policyName") else [required("spec.policyName")]


def _shared_binding(errors: Errors, spec: Json) -> None:
    if policy := spec.get("policyName"):
        errors += invalids("spec.policyName", policy, names.dns_subdomain(policy))
    if "paramRef" in spec:
        _param_ref(errors, "spec.paramRef", spec["paramRef"])
    if "matchResources" in spec:
        matching.match_resources(errors, "spec.matchResources", spec["matchResources"])


def _param_ref(errors: Errors, path: str, ref: Json) -> None:
    name, selector = ref.get("name", ""), ref.get("selector")
    exclusive = "name and selector are mutually exclusive"
    if name:
        errors += invalids(f"{path}.name", name, names.path_segment(name))
        if selector is not None:
            errors.append(forbidden(f"{path}.name", exclusive))
    if selector is not None:
        label_selector(errors, f"{path}.selector", selector)
        if name:
            errors.append(forbidden(f"{path}.selector", exclusive))
    if not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    action = ref.get("parameterNotFoundAction", "")
    if not action:
        errors.append(required(f"{path}.parameterNotFoundAction"))
    elif action not in ("Deny", "Allow"):
        errors.append(not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow")))


CREATE = {
    "ValidatingAdmissionPolicy": _validating,
    "MutatingAdmissionPolicy": _mutating,
    "ValidatingAdmissionPolicyBinding": _validating_binding,
    "MutatingAdmissionPolicyBinding": _mutating_binding,
}
UPDATE = CREATE
