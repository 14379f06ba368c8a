"""What makes a CustomResourceDefinition invalid as a whole; its parts and its schemas have modules of their own.

kube-apiserver moves what all versions share to the top of the spec before it validates, and paths show it: with one
version, or several alike, a schema is told about under `spec.validation`. `_hoisted` does the same here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, required
from hardpoint.machinery.sameness import is_same
from hardpoint.machinery.validation import apiextensions_parts as parts
from hardpoint.machinery.validation import apiextensions_schema, apiextensions_structural, rules
from hardpoint.machinery.validation.apiextensions_view import versions_as_go

Json = dict[str, Any]

DEPRECATION_WARNING_LENGTH_MAX = 256
SCHEMA_DEPTH_MAX = 100
APPROVED = "api-approved.kubernetes.io"
APPROVAL_HELP = "see https://github.com/kubernetes/enhancements/pull/1111"

SHARED = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")


@dataclass(frozen=True)
class _Hoisted:
    """A spec as kube-apiserver sees it: `top` holds what every version has alike, `versions` the rest."""

    top: Mapping[str, Any]
    versions: list[Json]
    is_nil: bool


def _hoisted(spec: Json) -> _Hoisted:
    versions = spec.get("versions") or []
    top: Json = {}
    if versions:
        for field in SHARED:
            first = versions[0].get(field)
            if all((version.get(field) or None) == (first or None) for version in versions):
                top[field] = first
    left = [{field: value for field, value in version.items() if field not in top} for version in versions]
    return _Hoisted(top, left, spec.get("versions") is None)


def _on_create(obj: Json) -> list[FieldError]:
    if deep := _too_deep(obj["spec"]):
        return deep
    found = _fixed_name(obj)
    found += _spec(obj["spec"], None, established_ca=False)
    found += _status(obj)
    found += _approval(obj, None)
    return found + _preserve_unknown_fields(obj, None)


def _on_update(obj: Json, old: Json) -> list[FieldError]:
    spec, old_spec = obj["spec"], old["spec"]
    if deep := _too_deep(spec):
        return deep
    is_established = any(
        condition.get("type") == "Established" and condition.get("status") == "True"
        for condition in old.get("status", {}).get("conditions") or ()
    )
    found = _spec(spec, old_spec, established_ca=is_established)
    if is_established:
        found += rules.immutable("spec.scope", spec.get("scope"), old_spec.get("scope"))
        found += rules.immutable("spec.names.kind", spec["names"].get("kind"), old_spec["names"].get("kind"))
    found += rules.immutable("spec.group", spec.get("group"), old_spec.get("group"))
    found += rules.immutable("spec.names.plural", spec["names"].get("plural"), old_spec["names"].get("plural"))
    found += _status(obj)
    found += _approval(obj, old)
    return found + _preserve_unknown_fields(obj, old)


def _too_deep(spec: Json) -> list[FieldError]:
    """kube-apiserver has no such limit; but whoever walks a schema, and that is nearly everybody, has a stack."""
    detail = f"must not nest deeper than {SCHEMA_DEPTH_MAX} levels"
    return [
        forbidden(f"spec.versions[{index}].schema.openAPIV3Schema", detail)
        for index, version in enumerate(spec.get("versions") or ())
        if _depth((version.get("schema") or {}).get("openAPIV3Schema")) > SCHEMA_DEPTH_MAX
    ]


def _depth(schema: Any) -> int:
    """How many schemas stand inside one another, at most, counting no further than the limit asks."""
    level, depth = [schema] if isinstance(schema, dict) else [], 0
    while level and depth <= SCHEMA_DEPTH_MAX:
        depth += 1
        inner = (each for each in level if not apiextensions_structural.is_plain(each))
        level = [child for each in inner for child in apiextensions_structural.children(each)]
    return depth


def _fixed_name(obj: Json) -> list[FieldError]:
    name = obj["metadata"].get("name", "")
    spec = obj["spec"]
    if name and name != f"{spec['names'].get('plural', '')}.{spec.get('group', '')}":
        return [invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')]
    return []


def _spec(spec: Json, old: Json | None, *, established_ca: bool) -> list[FieldError]:
    view = _hoisted(spec)
    stored = _stored_schemas(spec, old)
    found = _group(spec.get("group", ""))
    found += rules.required_choice("spec.scope", spec.get("scope", ""), ("Cluster", "Namespaced"))
    found += _missing_schemas(view)
    if spec.get("preserveUnknownFields") and _any_default(view):
        detail = "must be false in order to use defaults in the schema"
        found.append(invalid("spec.preserveUnknownFields", True, detail))
    found += _versions(view, stored)
    found += parts.required_names(spec["names"])
    found += parts.resource_names("spec.names", spec["names"])
    is_stored = bool(view.versions) and view.versions[0].get("name", "") in stored
    found += _shared("spec", view.top, "validation", has_status=_any_status(view), is_stored=is_stored)
    if spec["conversion"].get("strategy") != "None" and spec.get("preserveUnknownFields"):
        detail = "must be None if spec.preserveUnknownFields is true"
        found.append(invalid("spec.conversion.strategy", spec["conversion"].get("strategy", ""), detail))
    return found + parts.conversion_strategy(spec["conversion"], checks_ca=established_ca)


def _group(group: str) -> list[FieldError]:
    if not group:
        return [required("spec.group")]
    if problems := names.dns_subdomain(group):
        return [invalid("spec.group", group, ",".join(problems))]
    if "." not in group:
        return [invalid("spec.group", group, "should be a domain with at least one dot")]
    return []


def _missing_schemas(view: _Hoisted) -> list[FieldError]:
    if (view.top.get("schema") or {}).get("openAPIV3Schema") is not None:
        return []
    return [
        required(f"spec.versions[{index}].schema.openAPIV3Schema")
        for index, version in enumerate(view.versions)
        if (version.get("schema") or {}).get("openAPIV3Schema") is None
    ]


def _any_default(view: _Hoisted) -> bool:
    schemas = [view.top.get("schema"), *(version.get("schema") for version in view.versions)]
    return any(
        apiextensions_schema.has(schema.get("openAPIV3Schema"), lambda each: "default" in each)
        for schema in schemas
        if schema
    )


def _any_status(view: _Hoisted) -> bool:
    return any("status" in (holder.get("subresources") or {}) for holder in (view.top, *view.versions))


def _stored_schemas(spec: Json, old: Json | None) -> frozenset[str]:
    """The versions whose schemas are as they were stored."""
    new, before = (
        {version.get("name", ""): version.get("schema") for version in (each or {}).get("versions") or ()}
        for each in (spec, old)
    )
    return frozenset(name for name, schema in new.items() if name in before and is_same(schema, before[name]))


def _versions(view: _Hoisted, stored: Collection[str]) -> list[FieldError]:
    found: list[FieldError] = []
    for index, version in enumerate(view.versions):
        path = at("spec.versions", index)
        name = version.get("name", "")
        if problems := names.dns_1035_label(name):
            found.append(invalid(f"{path}.name", name, ",".join(problems)))
        found += _deprecation(path, version)
        subresources = version.get("subresources") or view.top.get("subresources") or {}
        found += _shared(path, version, "schema", has_status="status" in subresources, is_stored=name in stored)
    found_names = [version.get("name", "") for version in view.versions]
    if len(set(found_names)) != len(found_names):
        found.append(_about_versions(view, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in view.versions) != 1:
        found.append(_about_versions(view, "must have exactly one version marked as storage version"))
    if found_names and (problems := names.dns_1035_label(found_names[0])) and found_names[0]:
        found.append(invalid("spec.version", found_names[0], ",".join(problems)))
    return found


def _about_versions(view: _Hoisted, detail: str) -> FieldError:
    shown = "null" if view.is_nil else versions_as_go(view.versions)
    return FieldError("FieldValueInvalid", "spec.versions", shown, detail)


def _deprecation(path: str, version: Json) -> list[FieldError]:
    warning = version.get("deprecationWarning")
    if warning is None:
        return []
    problems = []
    if not version.get("deprecated"):
        problems.append("can only be set for deprecated versions")
    else:
        if names.length(warning) > DEPRECATION_WARNING_LENGTH_MAX:
            problems.append(f"must be <= {DEPRECATION_WARNING_LENGTH_MAX} characters long")
        if not warning:
            problems.append("must not be an empty string")
        unprintable = next((index for index, each in enumerate(warning) if not each.isprintable()), None)
        if unprintable is not None:
            place = len(warning[:unprintable].encode())
            problems.append(
                f"must only contain printable UTF-8 characters; non-printable character found at index {place}"
            )
    return [invalid(f"{path}.deprecationWarning", warning, text) for text in problems]


def _shared(
    path: str, holder: Mapping[str, Any], schema_name: str, *, has_status: bool, is_stored: bool
) -> list[FieldError]:
    """What may stand in a version or, where all versions agree, at the top."""
    validation = holder.get("schema")
    schema = (validation or {}).get("openAPIV3Schema")
    found: list[FieldError] = []
    if schema is not None:
        place = f"{path}.{schema_name}.openAPIV3Schema"
        found += apiextensions_schema.root(place, schema, has_status=has_status, is_stored=is_stored)
    found += parts.scale_paths(f"{path}.subresources", holder.get("subresources") or {})
    for index, column in enumerate(holder.get("additionalPrinterColumns") or ()):
        found += parts.printer_column(at(f"{path}.additionalPrinterColumns", index), column)
    selectable = holder.get("selectableFields") or []
    if selectable:
        found += parts.selectable_fields(f"{path}.selectableFields", selectable, schema)
    return found


def _status(obj: Json) -> list[FieldError]:
    status = obj.get("status", {})
    found = parts.resource_names("status.acceptedNames", status.get("acceptedNames") or {})
    stored = status.get("storedVersions") or []
    path = "status.storedVersions"
    if not stored:
        return [*found, invalid(path, None, "must have at least one stored version")]
    left = {name: index for index, name in enumerate(stored)}
    for version in obj["spec"].get("versions") or ():
        name = version.get("name", "")
        if version.get("storage") and name not in left:
            found.append(invalid(path, stored, f"must have the storage version {name}"))
        left.pop(name, None)
    return found + [invalid(at(path, index), name, _gone(name)) for name, index in left.items()]


def _gone(version: str) -> str:
    return (
        f"missing from spec.versions; {version} was previously a storage version, and must remain in spec.versions"
        f" until a storage migration ensures no data remains persisted in {version} and removes {version}"
        " from status.storedVersions"
    )


def _approval_state(obj: Json) -> str:
    value = obj["metadata"].get("annotations", {}).get(APPROVED, "")
    if not value:
        return "missing"
    if value.startswith("unapproved"):
        return "bypassed"
    try:
        url = urlsplit(value)
    except ValueError:
        return "invalid"
    return "approved" if url.scheme and url.netloc else "invalid"


def _approval(obj: Json, old: Json | None) -> list[FieldError]:
    if not re.search(r"(^|\.)(k8s|kubernetes)\.io$", obj["spec"].get("group", "")):
        return []
    state = _approval_state(obj)
    if old is not None and _approval_state(old) == state:
        return []
    path = at("metadata.annotations", key=APPROVED)
    must = f'protected groups must have approval annotation "{APPROVED}"'
    if state == "missing":
        return [required(path, f"{must}, {APPROVAL_HELP}")]
    if state == "invalid":
        value = obj["metadata"]["annotations"][APPROVED]
        detail = f'{must} with either a URL or a reason starting with "unapproved", {APPROVAL_HELP}'
        return [invalid(path, value, detail)]
    return []


def _preserve_unknown_fields(obj: Json, old: Json | None) -> list[FieldError]:
    if old is not None and old["spec"].get("preserveUnknownFields"):
        return []
    if not obj["spec"].get("preserveUnknownFields"):
        return []
    detail = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
    return [invalid("spec.preserveUnknownFields", True, detail)]


CREATE = {"CustomResourceDefinition": _on_create}
UPDATE = {"CustomResourceDefinition": _on_update}
