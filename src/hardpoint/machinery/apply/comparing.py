"""What changed from one object to another: the paths that were added, those that were modified and those removed.

A container that came or went is among the paths, with everything in it. Lists are compared item by item, wherever the
items stand; items that cannot be told apart are compared together, as one value.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import ne
from typing import Any, NamedTuple

from hardpoint.machinery.apply import items
from hardpoint.machinery.apply.elements import SELF
from hardpoint.machinery.apply.fieldsets import LEAF, FieldSet, ordered, union
from hardpoint.machinery.apply.types import ListType, MapType, Type
from hardpoint.machinery.sameness import differs

Json = dict[str, Any]


class Comparison(NamedTuple):
    """How one object differs from another. No path is in two of the sets."""

    added: FieldSet
    modified: FieldSet
    removed: FieldSet

    @property
    def written(self) -> FieldSet:
        """What the new object says that the old one did not."""
        return union(self.modified, self.added)

    @property
    def changed(self) -> FieldSet:
        """What was written or removed."""
        return union(self.written, self.removed)

    def filtered(self, keep: Callable[[FieldSet], FieldSet]) -> Comparison:
        """The comparison of what `keep` leaves of each set."""
        return Comparison(keep(self.added), keep(self.modified), keep(self.removed))


NO_CHANGE = Comparison({}, {}, {})


def compare(kind: Type, old: Json, new: Json) -> Comparison:
    """How `new` differs from `old`."""
    changes = _Changes(differs if kind.is_loose else ne)
    if not changes.differ(old, new):
        return NO_CHANGE
    assert kind.map is not None, "an object is a map"
    changes.maps(kind.map, old, new)
    return changes.comparison()


def said_first(kind: Type, empty: Json, new: Json) -> FieldSet:
    """What an object says beyond the zeros of its kind.

    It is `compare(kind, empty, new).written`, and found in a third of the time: every create asks for it.
    """
    assert kind.map is not None, "an object is a map"
    return _said_first(kind.map, empty, new)


def _said_first(kind: MapType, empty: Json, new: Json) -> FieldSet:
    steps = kind.steps
    found: FieldSet = {}
    for name in sorted(new):
        value = new[name]
        if name in empty and empty[name] == value:
            continue
        if (step := steps.get(name)) is None:
            step = f"f:{name}", None if kind.rest.is_leaf else kind.rest
        element, child = step
        if child is None:
            found[element] = LEAF
        elif name not in empty:
            found[element] = whole(child, value)
        elif below := _below_zero(child, empty[name], value):
            found[element] = below
    return found


def _below_zero(kind: Type, zero: Any, value: Any) -> FieldSet:
    """What a value says beyond a zero that is not the same: an empty struct, or null."""
    if value.__class__ is dict and zero.__class__ is dict and kind.map is not None:
        return _said_first(kind.map, zero, value)
    changes = _Changes(ne)
    changes.children("f:", kind, zero, value)
    found: FieldSet = changes.comparison().written.get("f:", {})
    return found


def whole(kind: Type, value: Any) -> FieldSet:
    """The set of a value and of everything in it."""
    if value.__class__ is dict:
        if kind.map is not None:
            return _whole_map(kind.map, value)
    elif value.__class__ is list and kind.list is not None:
        return _whole_list(kind.list, value)
    return LEAF


def _whole_map(kind: MapType, value: Json) -> FieldSet:
    if kind.is_atomic or not value:
        return LEAF
    steps = kind.steps
    found: FieldSet = {SELF: LEAF}
    for name in sorted(value):
        if (step := steps.get(name)) is None:
            step = f"f:{name}", None if kind.rest.is_leaf else kind.rest
        element, child = step
        found[element] = LEAF if child is None else whole(child, value[name])
    return found


def _whole_list(kind: ListType, value: list[Any]) -> FieldSet:
    if kind.is_atomic or not value:
        return LEAF
    element = kind.element
    found: FieldSet = {SELF: LEAF}
    if kind.keys and len(value) == 1:
        found[items.element_of(kind, value[0])] = whole(element, value[0])
        return found
    for text, alike in items.grouped(kind, value).items():
        found[text] = whole(element, alike[0]) if len(alike) == 1 else LEAF
    return ordered(found)


class _Changes:
    """What is found to differ on one level."""

    __slots__ = ("added", "differ", "modified", "removed")

    def __init__(self, differ: Callable[[Any, Any], bool]) -> None:
        self.differ = differ
        self.added: FieldSet = {}
        self.modified: FieldSet = {}
        self.removed: FieldSet = {}

    def comparison(self) -> Comparison:
        return Comparison(ordered(self.added), ordered(self.modified), ordered(self.removed))

    def maps(self, kind: MapType, old: Json, new: Json) -> None:
        for name, value in new.items():
            if name not in old:
                child = kind.child(name)
                self.added[f"f:{name}"] = LEAF if child.is_leaf else whole(child, value)
            elif self.differ(old[name], value):
                self.children(f"f:{name}", kind.child(name), old[name], value)
        for name, value in old.items():
            if name not in new:
                self.removed[f"f:{name}"] = whole(kind.child(name), value)

    def lists(self, kind: ListType, old: list[Any], new: list[Any]) -> None:
        before, after = items.grouped(kind, old), items.grouped(kind, new)
        for element in before.keys() | after.keys():
            self._items(element, kind.element, before.get(element, []), after.get(element, []))

    def _items(self, element: str, kind: Type, old: list[Any], new: list[Any]) -> None:
        """Compare the items that share a path element: at most one on either side, unless there are duplicates."""
        if len(old) > 1 and len(new) > 1:
            if self.differ(old, new):
                self.modified[element] = LEAF
        elif len(old) > 1:
            self.removed[element] = LEAF
            if new:
                self.added[element] = whole(kind, new[0])
        elif len(new) > 1:
            self.added[element] = LEAF
            if old:
                self.removed[element] = whole(kind, old[0])
        elif not old:
            self.added[element] = whole(kind, new[0])
        elif not new:
            self.removed[element] = whole(kind, old[0])
        elif self.differ(old[0], new[0]):
            self.children(element, kind, old[0], new[0])

    def children(self, element: str, kind: Type, old: Any, new: Any) -> None:
        """Compare two values that differ."""
        if kind.is_leaf:
            self.modified[element] = LEAF
            return
        below = _Changes(self.differ)
        is_modified = below.values(kind, old, new)
        self._put(self.added, element, below.added, False)
        self._put(self.modified, element, below.modified, is_modified)
        self._put(self.removed, element, below.removed, False)

    @staticmethod
    def _put(level: FieldSet, element: str, below: FieldSet, member: bool) -> None:
        if below:
            level[element] = ordered({SELF: LEAF, **below} if member else below)
        elif member:
            level[element] = LEAF

    def values(self, kind: Type, old: Any, new: Any) -> bool:
        """Find what differs below two values that do; returns whether the value itself counts as modified."""
        if kind.map is not None and _is_map(old) and _is_map(new):
            if kind.map.is_atomic or not (old or new):
                return True
            self.maps(kind.map, old or {}, new or {})
            return False
        if kind.list is not None and _is_list(old) and _is_list(new):
            if kind.list.is_atomic or not (old or new):
                return True
            self.lists(kind.list, old or [], new or [])
            return False
        # One kind of value became another: whatever was inside went, and whatever is inside came.
        self.removed = _below(whole(kind, old))
        self.added = _below(whole(kind, new))
        return True


def _is_map(value: Any) -> bool:
    return value is None or value.__class__ is dict


def _is_list(value: Any) -> bool:
    return value is None or value.__class__ is list


def _below(node: FieldSet) -> FieldSet:
    return {element: below for element, below in node.items() if element != SELF}
