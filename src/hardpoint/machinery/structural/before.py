"""What a value was before an update, as far as it can be told: what was wrong and did not change stays allowed.

Fields are told by their names, items of a list-map by their keys; items of other lists cannot be told apart. Only what
the schema has can be followed. Follows apiserver's CorrelatedObject and the ratcheting of custom resources built on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hardpoint.machinery.sameness import is_same
from hardpoint.machinery.structural.keywords import LIST_MAP_KEYS, LIST_TYPE

Json = dict[str, Any]
Key = tuple[tuple[type, Any], ...]

_SCALARS = frozenset((bool, int, float, str))


class Before:
    """A value and what it was. What was found out about it is kept."""

    __slots__ = ("_below", "_keyed", "_schema", "_unchanged", "new", "old")

    def __init__(self, new: Any, old: Any, schema: Json) -> None:
        self.new = new
        self.old = old
        self._schema = schema
        self._unchanged: bool | None = None
        self._below: dict[str | int, Before] = {}
        self._keyed: Mapping[Key, Json] | None = None

    def is_unchanged(self) -> bool:
        """Whether the value is what it was. The order of a list-map does not count; what no schema describes does."""
        if self._unchanged is None:
            self._unchanged = self._compare()
        return self._unchanged

    def field(self, name: str) -> Before | None:
        """A field and what it was; None if there was none."""
        if name in self._below:
            return self._below[name]
        new, old = self.new, self.old
        if not isinstance(new, dict) or not isinstance(old, dict) or name not in new or name not in old:
            return None
        schema = (self._schema.get("properties") or {}).get(name, self._schema.get("additionalProperties"))
        return self._kept(name, new[name], old[name], schema)

    def item(self, index: int) -> Before | None:
        """An item of a list and what it was; None if that cannot be told."""
        if index in self._below:
            return self._below[index]
        if not isinstance(self.old, list):
            return None
        old = keyed(self._schema, self.old) if self._keyed is None else self._keyed
        self._keyed = old
        found = was(self.new[index], old, self._schema)
        return None if found is None else self._kept(index, self.new[index], found, self._schema.get("items"))

    def _kept(self, place: str | int, new: Any, old: Any, schema: Any) -> Before | None:
        if not isinstance(schema, dict):
            return None
        self._below[place] = below = Before(new, old, schema)
        return below

    def _compare(self) -> bool:
        new, old = self.new, self.old
        if new.__class__ is not old.__class__:
            return False
        if isinstance(new, dict):
            return len(new) == len(old) and all(_is_unchanged(self.field(name)) for name in new)
        if isinstance(new, list) and self._schema.get(LIST_TYPE) == "map":
            return len(new) == len(old) and all(_is_unchanged(self.item(index)) for index in range(len(new)))
        return is_same(new, old)


def _is_unchanged(before: Before | None) -> bool:
    return before is not None and before.is_unchanged()


def keyed(schema: Json, items: Sequence[Any]) -> Mapping[Key, Json]:
    """The items of a list-map by their keys, of several with one key the first; of other lists none."""
    found: dict[Key, Json] = {}
    names = schema.get(LIST_MAP_KEYS) or ()
    if schema.get("type") != "array" or schema.get(LIST_TYPE) != "map" or not names:
        return found
    for item in items:
        if (key := _key(item, names)) is not None:
            found.setdefault(key, item)
    return found


def was(item: Any, old: Mapping[Key, Json], schema: Json) -> Json | None:
    """What an item of a list-map was, given the old items by their keys."""
    key = _key(item, schema.get(LIST_MAP_KEYS) or ()) if old else None
    return None if key is None else old.get(key)


def _key(item: Any, names: Sequence[str]) -> Key | None:
    if not isinstance(item, dict):
        return None
    key = tuple((item[name].__class__, item[name]) for name in names if name in item)
    return key if len(key) == len(names) and all(kind in _SCALARS for kind, _ in key) else None
