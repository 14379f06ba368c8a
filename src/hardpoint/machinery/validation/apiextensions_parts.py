"""The parts of a CustomResourceDefinition, each alone: names, columns, subresources, selectable fields, conversion."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, forbidden, invalid, required, too_many
from hardpoint.machinery.structural.fieldpaths import BadPath, follow
from hardpoint.machinery.validation import rules, webhookclients

Json = dict[str, Any]

COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
COLUMN_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
SELECTABLE_FIELDS_MAX = 8


def required_names(named: Json) -> list[FieldError]:
    return [
        required(f"spec.names.{field}") for field in ("plural", "singular", "kind", "listKind") if not named.get(field)
    ]


def resource_names(path: str, named: Json) -> list[FieldError]:
    found: list[FieldError] = []
    for field in ("plural", "singular"):
        value = named.get(field, "")
        if value and (problems := names.dns_1035_label(value)):
            found.append(invalid(f"{path}.{field}", value, ",".join(problems)))
    for field in ("kind", "listKind"):
        value = named.get(field, "")
        if value and (problems := names.dns_1035_label(value.lower())):
            detail = f"may have mixed case, but should otherwise match: {','.join(problems)}"
            found.append(invalid(f"{path}.{field}", value, detail))
    found += _labels(f"{path}.shortNames", named.get("shortNames") or [])
    if named.get("kind") and named["kind"] == named.get("listKind"):
        found.append(invalid(f"{path}.listKind", named["listKind"], "kind and listKind may not be the same"))
    return found + _labels(f"{path}.categories", named.get("categories") or [])


def _labels(path: str, values: list[str]) -> list[FieldError]:
    return [
        invalid(at(path, index), value, ",".join(problems))
        for index, value in enumerate(values)
        if (problems := names.dns_1035_label(value))
    ]


def printer_column(path: str, column: Json) -> list[FieldError]:
    found = []
    if not column.get("name"):
        found.append(required(f"{path}.name"))
    kind = column.get("type", "")
    kinds = f"must be one of {','.join(COLUMN_TYPES)}"
    if not kind:
        found.append(required(f"{path}.type", kinds))
    elif kind not in COLUMN_TYPES:
        found.append(invalid(f"{path}.type", kind, kinds))
    layout = column.get("format", "")
    if layout and layout not in COLUMN_FORMATS:
        found.append(invalid(f"{path}.format", layout, f"must be one of {','.join(COLUMN_FORMATS)}"))
    return found + _simple_path(f"{path}.JSONPath", column.get("jsonPath", ""))


def _simple_path(path: str, value: str, *, below: tuple[str, ...] = (), where: str = "") -> list[FieldError]:
    if not value:
        return [required(path)]
    if not value.startswith("."):
        return [invalid(path, value, "must be a simple json path starting with .")]
    if below and not value.startswith(below):
        return [invalid(path, value, f"should be a json path under {where}")]
    return []


def scale_paths(path: str, subresources: Json) -> list[FieldError]:
    scale = subresources.get("scale")
    if scale is None:
        return []
    spec, status = scale.get("specReplicasPath", ""), scale.get("statusReplicasPath", "")
    found = _simple_path(f"{path}.scale.specReplicasPath", spec, below=(".spec.",), where=".spec")
    found += _simple_path(f"{path}.scale.statusReplicasPath", status, below=(".status.",), where=".status")
    if selector := scale.get("labelSelectorPath"):
        either = (".spec.", ".status.")
        where = "either .spec or .status"
        found += _simple_path(f"{path}.scale.labelSelectorPath", selector, below=either, where=where)
    return found


def selectable_fields(path: str, fields: list[Json], schema: Json | None) -> list[FieldError]:
    if schema is None:
        of_version = "`version.schema.openAPIV3Schema` is not included"
        missing = "validations.schema is included" if path == "spec.selectableFields" else of_version
        return [invalid(path, "", f"may only be set when {missing}")]
    found: list[FieldError] = []
    unique = set()
    for index, field in enumerate(fields):
        place = f"{at(path, index)}.jsonPath"
        wanted = field.get("jsonPath", "")
        if not wanted:
            found.append(required(place))
            continue
        try:
            steps, leaf, _ = follow(schema, wanted, allow_brackets=False)
        except BadPath as problem:
            found.append(invalid(place, wanted, f"is an invalid path: {problem}"))
            continue
        if steps[0] == "metadata":
            found.append(invalid(place, wanted, "must not point to fields in metadata"))
        if leaf.get("type") not in ("string", "boolean", "integer"):
            detail = "must point to a field of type string, boolean or integer."
            found.append(invalid(place, wanted, f"{detail} Enum string fields and strings with formats are allowed."))
        if steps in unique:
            found.append(duplicate(place, wanted))
        unique.add(steps)
    if len(unique) > SELECTABLE_FIELDS_MAX:
        found.append(too_many(path, len(unique), SELECTABLE_FIELDS_MAX))
    return found


def conversion_strategy(conversion: Json, *, checks_ca: bool) -> list[FieldError]:
    path = "spec.conversion"
    strategy = conversion.get("strategy", "")
    webhook = conversion.get("webhook") or {}
    config = webhook.get("clientConfig")
    versions = webhook.get("conversionReviewVersions") or []
    if not strategy:
        found = [required(f"{path}.strategy")]
    else:
        found = rules.choice(f"{path}.strategy", strategy, ("None", "Webhook"))
    if strategy == "Webhook":
        if config is None:
            found.append(required(f"{path}.webhookClientConfig", "required when strategy is set to Webhook"))
        else:
            found += webhookclients.client_config(f"{path}.webhookClientConfig", config)
            if checks_ca and config.get("caBundle"):
                found += webhookclients.ca_bundle(f"{path}.webhookClientConfig.caBundle", config["caBundle"])
        return found + webhookclients.review_versions(f"{path}.conversionReviewVersions", versions)
    unwanted = "should not be set when strategy is not set to Webhook"
    if config is not None:
        found.append(forbidden(f"{path}.webhookClientConfig", unwanted))
    if versions:
        found.append(forbidden(f"{path}.conversionReviewVersions", unwanted))
    return found
