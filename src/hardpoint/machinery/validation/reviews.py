"""What makes a question about access invalid."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.fielderrors import FieldError, at, invalid, required
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.labelselectors import label_selector

Json = dict[str, Any]
Errors = list[FieldError]

ONE_OF = "exactly one of nonResourceAttributes or resourceAttributes must be specified"


def _about_somebody(obj: Json) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    _one_attribute(errors, spec)
    if not spec.get("user") and not spec.get("groups"):
        errors.append(invalid("spec.user", "", "at least one of user or group must be specified"))
    _attributes(errors, spec)
    _unnamed(errors, obj)
    return errors


def _about_self(obj: Json) -> Errors:
    errors: Errors = []
    _one_attribute(errors, obj["spec"])
    _attributes(errors, obj["spec"])
    _unnamed(errors, obj)
    return errors


def _about_somebody_here(obj: Json) -> Errors:
    errors: Errors = []
    spec, namespace = obj["spec"], obj["metadata"].get("namespace", "")
    _one_attribute(errors, spec)
    if not spec.get("user") and not spec.get("groups"):
        errors.append(invalid("spec.user", "", "at least one of user or group must be specified"))
    _attributes(errors, spec)
    if set(obj["metadata"]) - {"namespace", "managedFields", "creationTimestamp"}:
        errors.append(invalid("metadata", obj["metadata"], "must be empty except for namespace"))
    attributes = spec.get("resourceAttributes")
    if attributes is not None and attributes.get("namespace", "") != namespace:
        place = "spec.resourceAttributes.namespace"
        errors.append(invalid(place, attributes.get("namespace", ""), "must match metadata.namespace"))
    if "nonResourceAttributes" in spec:
        shown = _path_as_go(spec["nonResourceAttributes"])
        detail = "disallowed on this kind of request"
        errors.append(FieldError("FieldValueInvalid", "spec.nonResourceAttributes", shown, detail))
    return errors


def _one_attribute(errors: Errors, spec: Json) -> None:
    if ("resourceAttributes" in spec) == ("nonResourceAttributes" in spec):
        path = spec.get("nonResourceAttributes")
        shown = "null" if path is None else _path_as_go(path)
        errors.append(FieldError("FieldValueInvalid", "spec", shown, ONE_OF))


def _path_as_go(attributes: Json) -> str:
    return rules.as_go_struct(Path=attributes.get("path", ""), Verb=attributes.get("verb", ""))


def _unnamed(errors: Errors, obj: Json) -> None:
    if set(obj["metadata"]) - {"managedFields", "creationTimestamp"}:
        errors.append(invalid("metadata", obj["metadata"], "must be empty"))


def _attributes(errors: Errors, spec: Json) -> None:
    attributes = spec.get("resourceAttributes") or {}
    for field in ("fieldSelector", "labelSelector"):
        if field in attributes:
            _selector(errors, f"spec.resourceAttributes.{field}", attributes[field])


def _selector(errors: Errors, path: str, selector: Json) -> None:
    raw, requirements = selector.get("rawSelector", ""), selector.get("requirements") or []
    if raw and requirements:
        detail = "may not specified at the same time as requirements"
        errors.append(invalid(f"{path}.rawSelector", raw, detail))
    if not raw and not requirements:
        detail = f"when {path} is specified, requirements or rawSelector is required"
        errors.append(required(f"{path}.requirements", detail))
    for index, requirement in enumerate(requirements):
        # An operator that is not known yet is for the authorizer to judge.
        if requirement.get("operator") in ("In", "NotIn", "Exists", "DoesNotExist"):
            found: Errors = []
            label_selector(found, "", {"matchExpressions": [requirement]}, invalid_values_allowed=True)
            place = at(f"{path}.requirements", index)
            errors += [
                FieldError(
                    error.reason, place + error.field.removeprefix(".matchExpressions[0]"), error.shown, error.detail
                )
                for error in found
            ]


CREATE = {
    "SubjectAccessReview": _about_somebody,
    "SelfSubjectAccessReview": _about_self,
    "LocalSubjectAccessReview": _about_somebody_here,
}
