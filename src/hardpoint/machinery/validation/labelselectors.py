"""What makes labels and label selectors invalid. Errors are added to the list each function is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid, invalids, json_as_go, required

Json = dict[str, Any]


def labels(errors: list[FieldError], path: str, values: Mapping[str, str]) -> None:
    """Keys are qualified names, values are short; both are told under the path of the map."""
    for key, value in values.items():
        if wrong := names.label_key(key):
            errors += invalids(path, key, wrong)
        if wrong := names.label_value(value):
            errors += invalids(path, value, wrong)


def label_selector(
    errors: list[FieldError], path: str, selector: Json | None, *, invalid_values_allowed: bool = False
) -> None:
    """A LabelSelector, or None, which is never wrong. Invalid values are allowed where an old object has them."""
    if not selector:
        return
    if wanted := selector.get("matchLabels"):
        labels(errors, f"{path}.matchLabels", wanted)
    for index, requirement in enumerate(selector.get("matchExpressions") or ()):
        place = f"{path}.matchExpressions[{index}]"
        _requirement(errors, place, requirement, invalid_values_allowed=invalid_values_allowed)


def has_invalid_values(selector: Json | None) -> bool:
    """Whether an expression of the selector compares with something that can never be a label's value."""
    return any(
        names.label_value(value)
        for expression in (selector or {}).get("matchExpressions") or ()
        for value in expression.get("values") or ()
    )


def immutable_selector(errors: list[FieldError], path: str, selector: Json | None, old: Json | None) -> None:
    """A selector that stays what it was."""
    if selector != old:
        errors.append(FieldError("FieldValueInvalid", path, shown(selector), "field is immutable"))


def shown(selector: Json | None) -> str:
    """A selector as Go prints it: in the order of the struct's fields, not sorted."""
    if selector is None:
        return "null"
    expressions = [
        {field: each[field] for field in ("key", "operator", "values") if field in each}
        for each in selector.get("matchExpressions") or ()
    ]
    fields = {"matchLabels": dict(sorted((selector.get("matchLabels") or {}).items())), "matchExpressions": expressions}
    return json_as_go({field: value for field, value in fields.items() if value})


def is_empty(selector: Json) -> bool:
    """Whether the selector selects everything."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def is_set_operator(errors: list[FieldError], path: str, operator: str, values: Sequence[str]) -> bool:
    """Whether this is one of the four operators every selector has; if so, its values are checked to fit it."""
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        return True
    if operator in ("Exists", "DoesNotExist"):
        if values:
            told = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{path}.values", told))
        return True
    return False


def _requirement(errors: list[FieldError], path: str, requirement: Json, *, invalid_values_allowed: bool) -> None:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    if not is_set_operator(errors, path, operator, values):
        errors.append(invalid(f"{path}.operator", operator, "not a valid selector operator"))
    key = requirement.get("key", "")
    if wrong := names.label_key(key):
        errors += invalids(f"{path}.key", key, wrong)
    if invalid_values_allowed:
        return
    for index, value in enumerate(values):
        if wrong := names.label_value(value):
            errors += invalids(f"{path}.values[{index}]", value, wrong)
