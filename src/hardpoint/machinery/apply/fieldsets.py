"""Sets of field paths, in the very form of fieldsV1: a dict from path elements to the sets below them.

    {"f:metadata": {"f:labels": {".": {}, "f:app": {}}}}

holds `.metadata.labels` and `.metadata.labels.app`. An empty dict below an element says that the element is a member
and has nothing below it; `.` says that it is one although it has. The outermost dict stands for the object as a whole,
which is nobody's. Sets are never changed in place and always in canonical order, so they are stored and sent as they
are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hardpoint.machinery.apply import elements
from hardpoint.machinery.apply.elements import SELF

FieldSet = dict[str, Any]
Path = tuple[str, ...]

LEAF: FieldSet = {}
"""A member with nothing below it. Shared: it must stay empty."""


def is_member(node: FieldSet) -> bool:
    """Whether what a node stands for is itself in the set."""
    return not node or SELF in node


def ordered(level: FieldSet) -> FieldSet:
    """One level of a set in canonical order."""
    if len(level) < 2:
        return level
    texts = sorted(level)
    # Fields sort as their texts do. The texts of everything else come after them.
    if texts[-1][0] != "f":
        texts.sort(key=elements.order)
    return {text: level[text] for text in texts}


def of_paths(paths: Iterable[Path]) -> FieldSet:
    """The set of these paths."""
    whole: FieldSet = {}
    for path in paths:
        node: FieldSet = LEAF
        for element in reversed(path):
            node = {element: node}
        whole = union(whole, node)
    return whole


def paths(fields: FieldSet, prefix: Path = ()) -> Iterator[Path]:
    """Every member's path; on each level members come before what is below them."""
    for element, node in fields.items():
        if element != SELF and is_member(node):
            yield (*prefix, element)
    for element, node in fields.items():
        if element != SELF and node:
            yield from paths(node, (*prefix, element))


def shown(path: Path) -> str:
    """A path as messages write it: `.spec.ports[port=80,protocol="TCP"].name`."""
    return "".join(elements.shown(element) for element in path)


def has(fields: FieldSet, path: Path) -> bool:
    """Whether the path is a member."""
    for element in path:
        found = fields.get(element)
        if found is None:
            return False
        fields = found
    return bool(path) and is_member(fields)


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in either."""
    if not one or not other:
        return one or other
    return _union(one, other)


def _union(one: FieldSet, other: FieldSet) -> FieldSet:
    if not one:
        return _as_member(other)
    if not other:
        return _as_member(one)
    merged = one.copy()
    for element, node in other.items():
        mine = one.get(element)
        merged[element] = node if mine is None else node if element == SELF else _union(mine, node)
    return ordered(merged) if len(merged) > len(one) else merged


def _as_member(node: FieldSet) -> FieldSet:
    return node if is_member(node) else {SELF: LEAF, **node}


def difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in `one` and not in `other`: what is below a member of `other` stays."""
    if one.keys().isdisjoint(other):
        return one
    return _below(one, other, _difference)


def _difference(one: FieldSet, other: FieldSet) -> FieldSet | None:
    stays = is_member(one) and not is_member(other)
    return _node(_below(one, other, _difference), stays)


def without(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in `one` and neither in `other` nor below a member of it."""
    if one.keys().isdisjoint(other):
        return one
    return _below(one, other, _without)


def _without(one: FieldSet, other: FieldSet) -> FieldSet | None:
    if is_member(other):
        return None
    return _node(_below(one, other, _without), is_member(one))


def intersection(one: FieldSet, other: FieldSet) -> FieldSet:
    """What is in both."""
    shared = {}
    for element, node in one.items():
        theirs = other.get(element)
        if theirs is None or element == SELF:
            continue
        both = _node(intersection(node, theirs), is_member(node) and is_member(theirs))
        if both is not None:
            shared[element] = both
    return shared


def _below(one: FieldSet, other: FieldSet, subtract: Callable[[FieldSet, FieldSet], FieldSet | None]) -> FieldSet:
    """The elements below `one`, each with what is left of it; those with nothing left are dropped."""
    left: FieldSet = {}
    for element, node in one.items():
        if element == SELF:
            continue
        theirs = other.get(element)
        rest = node if theirs is None else subtract(node, theirs)
        if rest is not None:
            left[element] = rest
    return left


def _node(below: FieldSet, member: bool) -> FieldSet | None:
    """A node of what is below it, and of whether it is a member; None if it is neither."""
    if not member:
        return below or None
    return {SELF: LEAF, **below} if below else LEAF


class BadFields(ValueError):
    """Something that is no fieldsV1."""


def parse(fields: Any) -> FieldSet:
    """A set as a client wrote it. Raises BadFields."""
    try:
        return _parsed(fields) or {}
    except elements.BadElement as wrong:
        raise BadFields(str(wrong)) from wrong


def _parsed(fields: Any) -> FieldSet:
    if fields is None:
        return LEAF
    if not isinstance(fields, dict):
        raise BadFields(f"a set of fields is an object, not {type(fields).__name__}")
    level: FieldSet = {}
    for text, below in fields.items():
        element = SELF if text == SELF else elements.canonical(text)
        if element is not None:
            level[element] = LEAF if element == SELF else _parsed(below)
    return LEAF if level.keys() <= {SELF} else ordered(level)
