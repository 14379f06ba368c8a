"""Schemas of custom resources: the author's, with what every object has added to it."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.openapi.names import meta_name, schema_name
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]

_ANYTHING: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def custom(kind: Kind, schema: Json | None) -> dict[str, Json]:
    """The schemas of the kind and of its list, by name."""
    name = schema_name(kind.group, kind.version, kind.kind)
    return {name: _object(kind, schema or _ANYTHING), f"{name}List": _list(kind, name)}


def _object(kind: Kind, schema: Json) -> Json:
    properties = {**schema.get("properties", {}), **_type_meta(), "metadata": _metadata("ObjectMeta")}
    return {**schema, "type": "object", "properties": properties, **_identity(kind, kind.kind)}


def _list(kind: Kind, name: str) -> Json:
    items = {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}, "description": "The objects."}
    return {
        "description": f"A list of {kind.kind}.",
        "type": "object",
        "required": ["items"],
        "properties": {**_type_meta(), "items": items, "metadata": _metadata("ListMeta")},
        **_identity(kind, f"{kind.kind}List"),
    }


def _type_meta() -> Json:
    return {
        "apiVersion": {"type": "string", "description": "Group and version of the kind."},
        "kind": {"type": "string", "description": "Which kind of object this is."},
    }


def _metadata(kind: str) -> Json:
    reference = {"$ref": f"#/components/schemas/{meta_name(kind)}"}
    return {"allOf": [reference], "description": "What every object and every list has."}


def _identity(kind: Kind, name: str) -> Json:
    return {"x-kubernetes-group-version-kind": [{"group": kind.group, "kind": name, "version": kind.version}]}
