"""What apply knows about a kind: which parts of it are merged item by item, and which are owned as one value.

A Type says what a value may be: a scalar, a list, a map, or any of these where the schema does not say. Atomic lists
and maps are one value. Other lists are sets, or have keys that tell their items apart; other maps are merged field by
field. `shapetypes` makes Types of built-in kinds and `schematypes` those of custom resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

Scalar = str
"""`string`, `numeric`, `boolean` or `untyped`."""


class Type:
    """What a value may be, and how it is owned."""

    __slots__ = ("is_leaf", "is_loose", "list", "map", "scalar")

    def __init__(
        self,
        *,
        scalar: Scalar | None = None,
        list: ListType | None = None,
        map: MapType | None = None,
        is_loose: bool = False,
    ) -> None:
        self.scalar = scalar
        self.list = list
        self.map = map
        self.is_loose = is_loose
        """Whether something in an object may be a bool today and a number tomorrow."""
        self.is_leaf = (list is None or list.is_atomic) and (map is None or map.is_atomic)
        """Whether a value is owned as a whole, whatever it is."""


class ListType:
    """A list: atomic, a set, or items told apart by keys."""

    def __init__(self, element: Callable[[], Type], *, is_atomic: bool = False, keys: tuple[str, ...] = ()) -> None:
        """`element` returns the type of the items; it is called once, when first needed."""
        self._element = element
        self.is_atomic = is_atomic
        self.keys = tuple(sorted(keys))
        """The names of the keys, in their canonical order."""

    @cached_property
    def element(self) -> Type:
        return self._element()

    @cached_property
    def key_defaults(self) -> Mapping[str, Any]:
        """What an item that leaves out a key has for it, for those keys where it has something then."""
        inner = self.element.map
        return {key: inner.defaults[key] for key in self.keys if key in inner.defaults} if inner is not None else {}


class MapType:
    """A map: atomic, the fields of a struct, any keys, or both. `element` is the type of what is not a named field."""

    def __init__(
        self,
        load: Callable[[], Mapping[str, tuple[Type, Any]]] | None = None,
        *,
        element: Callable[[], Type] | None = None,
        is_atomic: bool = False,
    ) -> None:
        """`load` returns the named fields, each with its type and default; it is called once, when first needed."""
        self._load = load
        self._element = element
        self.is_atomic = is_atomic

    @cached_property
    def _loaded(self) -> Mapping[str, tuple[Type, Any]]:
        return self._load() if self._load is not None else {}

    @cached_property
    def fields(self) -> Mapping[str, Type]:
        """The named fields."""
        return {name: kind for name, (kind, _) in self._loaded.items()}

    @cached_property
    def defaults(self) -> Mapping[str, Any]:
        """The defaults of the named fields that have one."""
        return {name: default for name, (_, default) in self._loaded.items() if default is not None}

    @cached_property
    def element(self) -> Type | None:
        """The type of a value whose key is no named field; None where there may be no such keys."""
        return self._element() if self._element is not None else None

    @cached_property
    def rest(self) -> Type:
        """The type of a value whose key is no named field; of what nobody declared, that it is what it is."""
        return self.element or DEDUCED

    def child(self, key: str) -> Type:
        """The type of what is at a key."""
        return self.fields.get(key) or self.rest

    @cached_property
    def steps(self) -> Mapping[str, tuple[str, Type | None]]:
        """The path elements of the named fields, with their types, or None for those that are owned as a whole."""
        return {name: (f"f:{name}", None if kind.is_leaf else kind) for name, kind in self.fields.items()}

    @cached_property
    def is_deduced(self) -> bool:
        """Whether all there is to know is what the values show."""
        return self.element is DEDUCED and not self.fields


UNTYPED: Type = Type(
    scalar="untyped",
    list=ListType(lambda: UNTYPED, is_atomic=True),
    map=MapType(element=lambda: UNTYPED, is_atomic=True),
)
"""Anything, owned as one value."""
DEDUCED: Type = Type(
    scalar="untyped",
    list=ListType(lambda: UNTYPED, is_atomic=True),
    map=MapType(element=lambda: DEDUCED),
    is_loose=True,
)
"""Anything: maps are merged, lists and scalars are one value."""


def list_relationship(facts: Mapping[str, Any]) -> tuple[bool, tuple[str, ...]]:
    """Whether a list is atomic, and its keys, from what OpenAPI says about it."""
    declared = facts.get("x-kubernetes-list-type")
    if declared is not None:
        return declared not in ("set", "map"), tuple(facts.get("x-kubernetes-list-map-keys", ())) * (declared == "map")
    if "merge" in str(facts.get("x-kubernetes-patch-strategy", "")).split(","):
        key = facts.get("x-kubernetes-patch-merge-key")
        return False, (key,) if key else ()
    return True, ()
