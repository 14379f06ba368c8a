"""Schemas of custom resources: the author's, with what every object has added to it."""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.openapi.names import meta_name, schema_name
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]

REFERRED = {meta_name("ObjectMeta"), meta_name("ListMeta")}
"""The built-in schemas that those of custom resources refer to."""

DEPTH_MAX = 200
"""A schema that nests deeper is not published: its readers, ours among them, would run out of stack."""

_ANYTHING: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def custom(kind: Kind, schema: Json | None) -> dict[str, Json]:
    """The schemas of the kind and of its list, by name."""
    name, listed = names(kind)
    published = schema if schema and _depth(schema) <= DEPTH_MAX else _ANYTHING
    return {name: _object(kind, published), listed: _list(kind, name)}


def names(kind: Kind) -> tuple[str, str]:
    """What the schemas of the kind and of its list are called."""
    name = schema_name(kind.group, kind.version, kind.kind)
    return name, f"{name}List"


def _depth(schema: Json) -> int:
    """How deep the JSON nests."""
    depth = 0
    level: list[Any] = [schema]
    while level:
        depth += 1
        inner = (part.values() if isinstance(part, dict) else part for part in level)
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
    return depth


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
