"""Equality of values whose types say that the order of some list in them means nothing.

The left side decides, as it does in kube-apiserver: its type is known when the expression is made ready, so that values
with ordinary lists, nearly all, are compared in the ordinary way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.types import Kind, Type
from hardpoint.machinery.cel.values import equal

Same = Callable[[Any, Any], bool]


def comparer(type: Type) -> Same:
    """Whether two values are equal, the first of which is of this type."""
    match type.kind:
        case Kind.LIST if type.keys == ():
            return _same_set
        case Kind.LIST if type.keys is not None:
            return _keyed(type.keys, comparer(type.parameters[0]))
        case Kind.LIST:
            return _items(comparer(type.parameters[0]))
        case Kind.MAP:
            values = comparer(type.parameters[1])
            return equal if values is equal else _fields({}, values)
        case Kind.OBJECT:
            known = {name: same for name, field in type.fields if (same := comparer(field)) is not equal}
            return _fields(known, equal) if known else equal
    return equal


def merged(items: list[Any], others: list[Any], keys: Sequence[str]) -> list[Any]:
    """A list that is a set or a map, with other items added: those whose keys it has already take their places."""
    found = {_identity(item, keys): item for item in items}
    for other in others:
        identity = _identity(other, keys)
        found[identity] = other if keys else found.get(identity, other)
    return list(found.values())


def _identity(item: Any, keys: Sequence[str]) -> Hashable:
    """What tells an item of a set or map from the others."""
    if keys:
        return tuple(_hashable(item.get(key)) for key in keys) if type(item) is dict else None
    if type(item) in (list, dict):
        raise EvaluationError("listSet operations are only supported on lists of scalar values")
    return _hashable(item)


def _hashable(value: Any) -> Hashable:
    # For Python True is 1, and 1.0 is.
    return (type(value), repr(value) if type(value) in (list, dict) else value)


def _same_set(left: Any, right: Any) -> bool:
    if type(left) is not list or type(right) is not list or len(left) != len(right):
        return False
    return {_identity(item, ()) for item in left} == {_identity(item, ()) for item in right}


def _keyed(keys: Sequence[str], same: Same) -> Same:
    def compare(left: Any, right: Any) -> bool:
        if type(left) is not list or type(right) is not list or len(left) != len(right):
            return False
        known = {_identity(item, keys): item for item in left}
        others = {_identity(item, keys): item for item in right}
        return known.keys() == others.keys() and all(same(item, others[key]) for key, item in known.items())

    return compare


def _items(same: Same) -> Same:
    if same is equal:
        return equal

    def compare(left: Any, right: Any) -> bool:
        if type(left) is not list or type(right) is not list:
            return False
        return len(left) == len(right) and all(map(same, left, right))

    return compare


def _fields(known: Mapping[str, Same], otherwise: Same) -> Same:
    def compare(left: Any, right: Any) -> bool:
        if type(left) is not dict or type(right) is not dict or left.keys() != right.keys():
            return False
        return all(known.get(name, otherwise)(value, right[name]) for name, value in left.items())

    return compare
