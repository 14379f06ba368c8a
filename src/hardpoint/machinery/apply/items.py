"""Which item of a list is which: the path elements of the items of sets and of lists with keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery.apply import elements
from hardpoint.machinery.apply.types import ListType

Json = dict[str, Any]


class BadItem(ValueError):
    """An item that cannot be told from others."""


def element_of(kind: ListType, item: Any) -> str:
    """The path element of an item of a list that is not atomic. Raises BadItem."""
    if not kind.keys:
        return _valued(item)
    if item.__class__ is not dict:
        what = "a null element" if item is None else "non-map elements"
        raise BadItem(f"associative list with keys may not have {what}")
    found = _keys(kind, item)
    if not found:
        names = " ".join(f'"{key}"' for key in kind.keys)
        raise BadItem(
            f"associative list with keys has an element that omits all key fields [{names}]"
            " (and doesn't have default values for any key fields)"
        )
    return elements.keyed(found)


def _keys(kind: ListType, item: Json) -> Json:
    """The values of an item's keys, by name; a key that is neither there nor has a default is left out."""
    found = {}
    for key in kind.keys:
        if key in item:
            found[key] = item[key]
        elif key in kind.key_defaults:
            found[key] = kind.key_defaults[key]
    return found


def _valued(item: Any) -> str:
    if item.__class__ is dict:
        raise BadItem("associative list without keys has an element that's a map type")
    if item.__class__ is list:
        raise BadItem("not supported: associative list with lists as elements")
    if item is None:
        raise BadItem("associative list without keys has an element that's an explicit null")
    return elements.valued(item)


def grouped(kind: ListType, items: Sequence[Any]) -> dict[str, list[Any]]:
    """The items by path element, in order; those that cannot be told apart share one. Raises BadItem."""
    found: dict[str, list[Any]] = {}
    for item in items:
        found.setdefault(element_of(kind, item), []).append(item)
    return found
