"""Fields taken out of an object."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.apply import items
from hardpoint.machinery.apply.fieldsets import FieldSet, is_member
from hardpoint.machinery.apply.types import ListType, MapType, Type

Json = dict[str, Any]


def remove(kind: Type, value: Json, fields: FieldSet) -> Json:
    """The object without these fields; whatever is below a field goes with it. The object is not changed."""
    if not fields:
        return value
    return _remaining(kind, value, fields) or {}


def _remaining(kind: Type, value: Any, fields: FieldSet) -> Any:
    """What is left of a value; a container of which nothing is left is null."""
    if value.__class__ is dict and kind.map is not None:
        return _remaining_map(kind.map, value, fields)
    if value.__class__ is list and kind.list is not None:
        return _remaining_list(kind.list, value, fields)
    return value if kind.scalar is not None else None


def _remaining_map(kind: MapType, value: Json, fields: FieldSet) -> Json | None:
    if kind.is_atomic:
        return None
    left = {}
    for name, each in value.items():
        node = fields.get(f"f:{name}")
        if node is None:
            left[name] = each
        elif not is_member(node):
            left[name] = _remaining(kind.child(name), each, node)
    return left or None


def _remaining_list(kind: ListType, value: list[Any], fields: FieldSet) -> list[Any] | None:
    if kind.is_atomic:
        return None
    left = []
    for each in value:
        node = fields.get(items.element_of(kind, each))
        if node is None:
            left.append(each)
        elif not is_member(node):
            left.append(_remaining(kind.element, each, node))
    return left or None
