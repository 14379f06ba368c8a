"""Fields that were recorded under an older schema, brought to the one of today.

A list or map that has become atomic since is owned as a whole by whoever owned something in it.
"""

from __future__ import annotations

from hardpoint.machinery.apply.claims import type_at
from hardpoint.machinery.apply.elements import SELF
from hardpoint.machinery.apply.fieldsets import LEAF, FieldSet
from hardpoint.machinery.apply.types import Type


def reconciled(kind: Type, fields: FieldSet) -> FieldSet:
    """The fields as they are recorded now."""
    return {element: _node(kind, element, node) for element, node in fields.items()}


def _node(kind: Type, element: str, node: FieldSet) -> FieldSet:
    if element == SELF or not node:
        return node
    child = type_at(kind, element)
    if child is None or (child.map is not None and child.map.is_deduced):
        return node
    container = child.map or (child.list if child.scalar is None else None)
    if container is None:
        return node
    return LEAF if container.is_atomic else reconciled(child, node)
