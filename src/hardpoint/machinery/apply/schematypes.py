"""The apply Types of custom resources, from a version's openAPIV3Schema.

Every object also has apiVersion, kind and metadata, whatever its schema says; so has everything that the schema calls
an embedded resource.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from hardpoint.machinery.apply.shapetypes import of_shape
from hardpoint.machinery.apply.types import DEDUCED, UNTYPED, ListType, MapType, Type, list_relationship
from hardpoint.machinery.shapes import named

Schema = Mapping[str, Any]

_PRESERVES = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
_MAP_TYPE = "x-kubernetes-map-type"
_OBJECT_META = "apimachinery.pkg.apis.meta.v1.ObjectMeta"
_STRING = Type(scalar="string")
_SCALARS: Mapping[str, str] = {"integer": "numeric", "number": "numeric", "boolean": "boolean"}


def of_schema(schema: Schema | None, *, preserves_unknown: bool = False) -> Type:
    """The type of a custom resource; of one without a schema, that it is what its values show."""
    if not schema:
        return DEDUCED
    preserves = preserves_unknown or schema.get(_PRESERVES) is True
    return Type(map=_map(schema, preserves, is_resource=True), is_loose=True)


def _of(schema: Schema, preserves: bool) -> Type:
    preserves = preserves or schema.get(_PRESERVES) is True
    kind = schema.get("type", "")
    if kind == "object":
        return Type(map=_map(schema, preserves))
    if kind == "array":
        return Type(list=_list(schema, preserves))
    if kind == "string":
        return Type(scalar="string" if schema.get("format", "") in ("", "byte") else "untyped")
    if kind in _SCALARS:
        return Type(scalar=_SCALARS[kind])
    return Type(scalar="untyped", list=_list(schema, preserves), map=_map(schema, preserves))


def _map(schema: Schema, preserves: bool, *, is_resource: bool = False) -> MapType:
    named_fields = partial(_fields, schema, preserves, is_resource or schema.get(_EMBEDDED) is True)
    is_atomic = schema.get(_MAP_TYPE) == "atomic"
    return MapType(named_fields, element=_element(schema, preserves), is_atomic=is_atomic)


def _fields(schema: Schema, preserves: bool, is_resource: bool) -> Mapping[str, tuple[Type, Any]]:
    declared = schema.get("properties") or {}
    fields = {name: (_of(each, preserves), each.get("default")) for name, each in declared.items()}
    if is_resource:
        fields |= {
            "apiVersion": (_STRING, None),
            "kind": (_STRING, None),
            "metadata": (of_shape(named(_OBJECT_META)), None),
        }
    return fields


def _element(schema: Schema, preserves: bool) -> Callable[[], Type] | None:
    """The type of what is at a key that the schema does not name; None if there may be no such key."""
    additional = schema.get("additionalProperties")
    if isinstance(additional, Mapping):
        return _once(partial(_of, additional, preserves))
    if additional is True or (additional is None and (preserves or not schema.get("properties"))):
        return lambda: DEDUCED
    return None


def _list(schema: Schema, preserves: bool) -> ListType:
    is_atomic, keys = list_relationship(schema)
    items = schema.get("items")
    element = _once(partial(_of, items, preserves)) if isinstance(items, Mapping) else lambda: UNTYPED
    return ListType(element, is_atomic=is_atomic, keys=keys)


def _once(make: Callable[[], Type]) -> Callable[[], Type]:
    """A type that is made when it is first asked for, and then kept."""
    made: list[Type] = []

    def get() -> Type:
        if not made:
            made.append(make())
        return made[0]

    return get
