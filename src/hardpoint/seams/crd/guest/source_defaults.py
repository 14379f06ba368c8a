"""Defaults as Python writes them: values, lists of them, and models with the fields that are said."""

from __future__ import annotations

from typing import Any

from hardpoint.seams.crd.guest.drafts import LIST_TYPE, Model, is_model
from hardpoint.seams.crd.guest.layout import Expr, call, listed, literal, mapped
from hardpoint.seams.crd.guest.schema import INT_OR_STRING
from hardpoint.seams.crd.guest.source_scalars import SCALARS, WRITTEN_OTHERWISE

Json = dict[str, Any]


def default_of(schema: Json, value: Any, model: Model | None) -> Expr | None:
    """A default in Python; None if only the schema can say it."""
    if value is None or (schema.get("type"), schema.get("format", "")) in WRITTEN_OTHERWISE:
        return None
    if schema.get("type") in SCALARS or (schema.get(INT_OR_STRING) and "pattern" not in schema):
        return literal(value)
    if schema.get("type") == "array" and schema.get(LIST_TYPE) != "set":
        items = [default_of(schema.get("items", {}), item, model) for item in value]
        return listed([item for item in items if item is not None]) if None not in items else None
    if is_model(schema):
        return _made(schema, value, model) if model is not None else None
    values = schema.get("additionalProperties")
    if schema.get("type") == "object" and isinstance(values, dict):
        found = {key: default_of(values, item, model) for key, item in value.items()}
        said = {key: item for key, item in found.items() if item is not None}
        return mapped(said) if len(said) == len(found) else None
    return None


def _made(schema: Json, value: Json, model: Model) -> Expr | None:
    """A model with the fields that are said, and no others."""
    named: dict[str, Expr] = {}
    for wire, said in value.items():
        child = schema.get("properties", {}).get(wire)
        written = default_of(child, said, model.models[wire]) if child is not None else None
        if written is None:
            return None
        named[model.names[wire]] = written
    return call(model.name, (), named)
