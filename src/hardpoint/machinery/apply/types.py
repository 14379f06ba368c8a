"""What apply knows about a kind: which parts of it are merged item by item, and which are owned as one value.

A Type says what a value may be: a scalar, a list, a map, or any of these where the schema does not say. Atomic lists
and maps are one value. Other lists are sets, or have keys that tell their items apart; other maps are merged field by
field. `shapetypes` makes Types of built-in kinds and `schematypes` those of custom resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Scalar = str
"""`string`, `numeric`, `boolean` or `untyped`."""


class Type:
    """What a value may be, and how it is owned."""

    __slots__ = ("is_leaf", "list", "map", "scalar")

    def __init__(
        self, *, scalar: Scalar | None = None, list: ListType | None = None, map: MapType | None = None
    ) -> None:
        self.scalar = scalar
        self.list = list
        self.map = map
        self.is_leaf = (list is None or list.is_atomic) and (map is None or map.is_atomic)
        """Whether a value is owned as a whole, whatever it is."""


class ListType:
    """A list: atomic, a set, or items told apart by keys."""

    __slots__ = ("_element", "is_atomic", "keys")

    def __init__(self, element: Callable[[], Type], *, is_atomic: bool = False, keys: tuple[str, ...] = ()) -> None:
        self._element = element
        self.is_atomic = is_atomic
        self.keys = keys

    @property
    def element(self) -> Type:
        return self._element()

    def key_default(self, key: str) -> Any:
        """What an item that leaves out a key has for it; None if it has nothing then."""
        inner = self.element.map
        return inner.defaults.get(key) if inner is not None else None


class MapType:
    """A map: atomic, the fields of a struct, any keys, or both. `element` is the type of what is not a named field."""

    __slots__ = ("_defaults", "_element", "_fields", "_load", "is_atomic")

    def __init__(
        self,
        load: Callable[[], Mapping[str, tuple[Type, Any]]] | None = None,
        *,
        element: Callable[[], Type] | None = None,
        is_atomic: bool = False,
    ) -> None:
        """`load` returns the named fields, each with its type and its default; it is called once, when first needed."""
        self._load = load
        self._element = element
        self.is_atomic = is_atomic
        self._fields: Mapping[str, Type] | None = None
        self._defaults: Mapping[str, Any] = {}

    @property
    def fields(self) -> Mapping[str, Type]:
        """The named fields."""
        if self._fields is None:
            loaded = self._load() if self._load is not None else {}
            self._defaults = {name: default for name, (_, default) in loaded.items() if default is not None}
            self._fields = {name: kind for name, (kind, _) in loaded.items()}
        return self._fields

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The defaults of the named fields that have one."""
        assert self.fields is not None
        return self._defaults

    @property
    def element(self) -> Type | None:
        """The type of a value whose key is no named field; None where there may be no such keys."""
        return self._element() if self._element is not None else None

    def child(self, key: str) -> Type:
        """The type of what is at a key; of what nobody declared, that it is what it is."""
        return self.fields.get(key) or self.element or DEDUCED

    @property
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
