"""The slow walk that tells which fields pruning took out of a value, as paths like `spec.parts[0].bogus`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hardpoint.machinery.shapes.refusals import TypeMismatch
from hardpoint.machinery.structural.embedded import object_meta
from hardpoint.machinery.structural.keywords import EMBEDDED, PRESERVE, RESOURCE_FIELDS

Json = dict[str, Any]


def fields(schema: Json, obj: Json) -> list[str]:
    """The unknown fields of a whole object: of its metadata, then its own, then of the metadata of objects inside."""
    own = list(_pruned({**schema, EMBEDDED: True}, obj, "", lenient=False))
    inside = list(_of_embedded(schema, obj, ""))
    return _of_metadata(obj, "") + sorted(own) + sorted(inside)


def _pruned(schema: Json | None, value: Any, path: str, *, lenient: bool) -> Iterator[str]:
    lenient = schema is not None and (lenient or bool(schema.get(PRESERVE)))
    known = schema or {}
    if isinstance(value, dict):
        properties, additional = known.get("properties") or {}, known.get("additionalProperties")
        for key, item in value.items():
            below = f"{path}.{key}" if path else key
            if known.get(EMBEDDED) and key in RESOURCE_FIELDS:
                continue
            if key in properties:
                yield from _pruned(properties[key], item, below, lenient=False)
            elif additional is not None and additional is not False:
                yield from _pruned(additional if isinstance(additional, dict) else None, item, below, lenient=False)
            elif not lenient:
                yield below
    elif isinstance(value, list):
        items = known.get("items")
        if items is None and lenient:
            return
        for index, item in enumerate(value):
            yield from _pruned(items, item, f"{path}[{index}]", lenient=lenient)


def _of_embedded(schema: Json, value: Any, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        if schema.get(EMBEDDED):
            yield from _of_metadata(value, path)
        for key, item in value.items():
            child = properties.get(key, additional)
            if isinstance(child, dict):
                below = f"{path}.{key}" if path else key
                yield from _of_embedded(child, item, below if key in properties else f"{path}[{key}]")
    elif isinstance(value, list) and isinstance(schema.get("items"), dict):
        for index, item in enumerate(value):
            yield from _of_embedded(schema["items"], item, f"{path}[{index}]")


def _of_metadata(obj: Json, path: str) -> list[str]:
    if not isinstance(obj.get("metadata"), dict):
        return []
    try:
        unknown = object_meta().decode(obj["metadata"]).unknown
    except TypeMismatch:
        return []
    prefix = f"{path}.metadata" if path else "metadata"
    return [f"{prefix}.{field}" for field in sorted(unknown)]
