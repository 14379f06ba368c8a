"""Which versions of a custom resource may be stored, and what is unwise in its schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.validation.apiextensions_structural import walk

Json = dict[str, Any]

# Formats of strings that are checked, without their dashes.
# fmt: off
STRING_FORMATS = frozenset({
    "bsonobjectid", "uri", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5",
    "isbn", "isbn10", "isbn13", "creditcard", "ssn", "hexcolor", "rgbcolor", "byte", "password", "date", "duration",
    "datetime", "k8sshortname", "k8slongname",
})
# fmt: on
NUMBER_FORMATS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def _create(obj: Json) -> None:
    obj.setdefault("status", {})["storedVersions"] = _stored(obj)[:1] or None


def _update(obj: Json, old: Json) -> None:
    """Versions leave the list of stored ones by the status endpoint only."""
    status = obj.setdefault("status", {})
    known = status.get("storedVersions") or []
    status["storedVersions"] = [*known, *(name for name in _stored(obj)[:1] if name not in known)] or None


def _stored(obj: Json) -> list[str]:
    return [version.get("name", "") for version in obj["spec"].get("versions") or () if version.get("storage")]


def _schemas(obj: Json) -> Iterator[Json]:
    """Every schema of every version; what several versions have alike comes once."""
    seen: list[Json] = []
    for version in obj["spec"].get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None and schema not in seen:
            seen.append(schema)
            yield from walk(schema)


def _warn_create(obj: Json) -> list[str]:
    return _warnings(obj)


def _warn_update(obj: Json, old: Json) -> list[str]:
    known = _warnings(old)
    return [told for told in _warnings(obj) if told not in known]


def _warnings(obj: Json) -> list[str]:
    told = []
    compared = set()
    for schema in _schemas(obj):
        if "format" in schema and not _is_recognized(schema.get("type", ""), schema["format"]):
            told.append(f"unrecognized format {quote(schema['format'])}")
        items = schema.get("items")
        if schema.get("x-kubernetes-list-type") == "set" and isinstance(items, dict):
            compared.add(items.get("type", ""))
    for kind in sorted(compared & {"array", "object"}):
        why = "is not supported by server-side apply or CEL validation rules"
        told.append(f'x-kubernetes-list-type: set for items of type "{kind}" {why}')
    return told


def _is_recognized(kind: str, layout: str) -> bool:
    if kind in ("", "string"):
        return layout.replace("-", "") in STRING_FORMATS
    return layout in NUMBER_FORMATS.get(kind, ())


CREATE = {"CustomResourceDefinition": _create}
UPDATE = {"CustomResourceDefinition": _update}
WARN_CREATE = {"CustomResourceDefinition": _warn_create}
WARN_UPDATE = {"CustomResourceDefinition": _warn_update}
