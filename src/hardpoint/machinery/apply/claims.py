"""Which fields an applied configuration claims: every value it mentions, and every item of its lists and maps.

A struct that holds something is not claimed itself, nor is a list: only what is in them. That is what tells a claim
from the set of a value and everything in it, which `comparing` makes.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.apply import items
from hardpoint.machinery.apply.elements import SELF
from hardpoint.machinery.apply.fieldsets import LEAF, FieldSet, is_member, ordered
from hardpoint.machinery.apply.types import ListType, MapType, Type

Json = dict[str, Any]


def claims(kind: Type, config: Json) -> FieldSet:
    """The fields that a configuration claims."""
    assert kind.map is not None, "an object is a map"
    return _below_map(kind.map, config)


def _below_map(kind: MapType, value: Json) -> FieldSet:
    steps = kind.steps
    found: FieldSet = {}
    for name in sorted(value):
        each, is_item = value[name], name not in steps
        element, child = (f"f:{name}", kind.rest) if is_item else steps[name]
        node = LEAF if child is None else _node(child, each, is_item or each is None or each == {})
        if node is not None:
            found[element] = node
    return found


def _below_list(kind: ListType, value: list[Any]) -> FieldSet:
    found: FieldSet = {}
    for element, alike in items.grouped(kind, value).items():
        found[element] = (_node(kind.element, alike[0], True) or LEAF) if len(alike) == 1 else LEAF
    return ordered(found)


def _node(kind: Type, value: Any, is_item: bool) -> FieldSet | None:
    """What is claimed of a value and below it; an item of a list or map is itself claimed, however much it holds."""
    if value.__class__ is dict and kind.map is not None and not kind.map.is_atomic:
        below = _below_map(kind.map, value)
    elif value.__class__ is list and kind.list is not None and not kind.list.is_atomic:
        below = _below_list(kind.list, value)
    else:
        return LEAF
    if not is_item:
        return below or None
    return {SELF: LEAF, **below} if below else LEAF


def with_named_parents(kind: Type | None, fields: FieldSet) -> FieldSet:
    """The set with every struct field that has members below it made a member too."""
    named = kind.map.fields if kind is not None and kind.map is not None else {}
    found: FieldSet = {}
    for element, node in fields.items():
        if element == SELF or not node:
            found[element] = node
            continue
        below = with_named_parents(type_at(kind, element), node)
        is_named = element[0] == "f" and element[2:] in named
        found[element] = {SELF: LEAF, **below} if is_named and not is_member(below) else below
    return found


def type_at(kind: Type | None, element: str) -> Type | None:
    if kind is None:
        return None
    if element[0] == "f" and kind.map is not None:
        name = element[2:]
        return kind.map.fields.get(name) or kind.map.element
    return kind.list.element if element[0] == "k" and kind.list is not None else None
