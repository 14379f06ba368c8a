"""An applied configuration put into a live object: what it says counts, what it does not mention stays.

Items of lists keep the order of the live object where the configuration leaves it, and take the configuration's where
it names several. Nothing is removed here; that is for `removing` to do afterwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hardpoint.machinery.apply import items
from hardpoint.machinery.apply.types import ListType, MapType, Type

Json = dict[str, Any]


def merge(kind: Type, live: Json, config: Json) -> Json:
    """A new object: `live` with `config` put into it. Neither is changed, and parts of both are shared."""
    assert kind.map is not None, "an object is a map"
    return _maps(kind.map, live, config)


def _values(kind: Type, live: Any, config: Any) -> Any:
    if config.__class__ is dict and config and kind.map is not None:
        if kind.map.is_atomic or live.__class__ is not dict:
            return config
        return _maps(kind.map, live, config)
    if config.__class__ is list and config and kind.list is not None:
        if kind.list.is_atomic or live.__class__ is not list:
            return config
        return _lists(kind.list, live, config)
    return _emptied(kind, live, config)


def _emptied(kind: Type, live: Any, config: Any) -> Any:
    """A scalar, null or an empty container: of the latter two a live container of the same kind keeps its items."""
    container = {dict: kind.map, list: kind.list}.get(live.__class__) if live else None
    if container is None or container.is_atomic:
        return config
    return live if config is None or config.__class__ is live.__class__ else config


def _maps(kind: MapType, live: Json, config: Json) -> Json:
    merged = live.copy()
    for name, value in config.items():
        # Only containers and null are merged; of everything else the configuration's value counts.
        is_plain = value is not None and value.__class__ is not dict and value.__class__ is not list
        merged[name] = value if is_plain or name not in live else _values(kind.child(name), live[name], value)
    return merged


def _lists(kind: ListType, live: list[Any], config: list[Any]) -> list[Any]:
    """Both lists in one, with an order that keeps as much of either as it can."""
    ours = [items.element_of(kind, item) for item in live]
    theirs = {items.element_of(kind, item): item for item in config}
    # Items that cannot be told apart are replaced by the one that was applied.
    alone = {element for element, number in Counter(ours).items() if number == 1}
    return [
        live_item
        if element not in theirs
        else _values(kind.element, live_item, theirs[element])
        if element in alone
        else theirs[element]
        for element, live_item in _woven(ours, live, theirs)
    ]


def _woven(ours: Sequence[str], live: Sequence[Any], theirs: dict[str, Any]) -> list[tuple[str, Any]]:
    """The elements of both lists in the order of the result, each with the live item if there is one.

    Both lists are walked at once. A live item that was not applied is taken where it stands; one that was is taken when
    the configuration gets to it, so the applied items end up in their own order.
    """
    known = dict(zip(reversed(ours), reversed(live), strict=True))
    applied = list(theirs)
    shared = [element for element in applied if element in known]
    woven: list[tuple[str, Any]] = []
    done: set[str] = set()
    left = right = passed = 0
    while left < len(ours) or right < len(applied):
        if left < len(ours) and right < len(applied):
            element = ours[left]
            if element == applied[right]:
                woven.append((element, known[element]))
                done.add(element)
                left, right, passed = left + 1, right + 1, passed + 1
                continue
            if element in theirs and passed < len(shared) and shared[passed] != element:
                left += 1
                continue
        if left < len(ours):
            element = ours[left]
            if element not in theirs:
                woven.append((element, live[left]))
                left += 1
                continue
            if element in done:
                left += 1
        if right < len(applied):
            element = applied[right]
            woven.append((element, known.get(element)))
            done.add(element)
            right += 1
            if passed < len(shared) and shared[passed] == element:
                passed += 1
    return woven
