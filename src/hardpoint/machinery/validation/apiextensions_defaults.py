"""Whether the defaults in a CRD's schema fit the schema they stand in.

A default must keep to its own schema, and must not hold fields that would be pruned from it.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.fielderrors import FieldError, at, invalid
from hardpoint.machinery.structural import explained

Json = dict[str, Any]

PRESERVE = "x-kubernetes-preserve-unknown-fields"
RESOURCE_FIELDS = frozenset({"apiVersion", "kind", "metadata"})


def problems(path: str, schema: Json) -> list[FieldError]:
    """What is wrong with the defaults in a schema and below it. Maps' values have none."""
    found: list[FieldError] = []
    if "default" in schema:
        default = schema["default"]
        place = f"{path}.default"
        if has_unknown_fields(default, schema):
            found.append(invalid(place, default, "must not have unknown fields"))
        found += explained.problems(place, default, schema)
    if isinstance(schema.get("items"), dict):
        found += problems(f"{path}.items", schema["items"])
    for name, child in schema.get("properties", {}).items():
        found += problems(at(f"{path}.properties", key=name), child)
    return found


def has_unknown_fields(value: Any, schema: Json) -> bool:
    """Whether pruning by `schema` would take something out of `value`."""
    if isinstance(value, list):
        items = schema.get("items")
        return isinstance(items, dict) and any(has_unknown_fields(each, items) for each in value)
    if not isinstance(value, dict):
        return False
    properties = schema.get("properties", {})
    additional = schema.get("additionalProperties")
    for name, child in value.items():
        if name in properties:
            below = properties[name]
        elif isinstance(additional, dict):
            below = additional
        elif additional is True or _keeps(schema, name):
            continue
        else:
            return True
        if has_unknown_fields(child, below):
            return True
    return False


def _keeps(schema: Json, name: str) -> bool:
    """Whether a field the schema does not name survives pruning."""
    if schema.get(PRESERVE):
        return True
    return name in RESOURCE_FIELDS and bool(schema.get("x-kubernetes-embedded-resource"))
