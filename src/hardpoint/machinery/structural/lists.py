"""Lists that are sets or maps: no item, and no key, may come twice. Follows apiextensions' schema/listtype."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import orjson

from hardpoint.machinery import patience
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, invalid, under
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.structural.keywords import LIST_MAP_KEYS, LIST_TYPE
from hardpoint.machinery.structural.spine import has_parts

Json = dict[str, Any]
Unique = Callable[[Any], bool]

_ITEM_STEPS = 10


def uniqueness(schema: Json) -> Unique | None:
    """The function that says whether every set and map in a value is one; None where the schema has neither."""
    if not has_parts(schema) and LIST_TYPE not in schema:
        return None
    properties: Json = schema.get("properties") or {}
    below = {name: unique for name, child in properties.items() if (unique := uniqueness(child))}
    additional, items = schema.get("additionalProperties"), schema.get("items")
    each_value = uniqueness(additional) if isinstance(additional, dict) else None
    each_item = uniqueness(items) if isinstance(items, dict) else None
    own = schema.get(LIST_TYPE) in ("set", "map")
    if not (below or each_value or each_item or own):
        return None

    def is_unique(value: Any) -> bool:
        if value.__class__ is dict:
            for name, unique in below.items():
                if name in value and not unique(value[name]):
                    return False
            return each_value is None or all(each_value(value[name]) for name in value if name not in properties)
        if value.__class__ is not list:
            return True
        patience.spend(_ITEM_STEPS * len(value))
        if own and any(_repeated(schema, value, "")):
            return False
        return each_item is None or all(map(each_item, value))

    return is_unique


def problems(schema: Json, value: Any, path: str = "") -> Iterator[FieldError]:
    """Every item that repeats another's key, once for each key."""
    if isinstance(value, dict):
        properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
        for key, item in value.items():
            child = properties.get(key, additional)
            if isinstance(child, dict):
                yield from problems(child, item, under(path, key) if key in properties else at(path, key=key))
    elif isinstance(value, list):
        yield from _repeated(schema, value, path)
        if isinstance(schema.get("items"), dict):
            for index, item in enumerate(value):
                yield from problems(schema["items"], item, at(path, index))


def _repeated(schema: Json, items: list[Any], path: str) -> Iterator[FieldError]:
    if schema.get(LIST_TYPE) == "set":
        yield from _duplicates(items, path)
    elif schema.get(LIST_TYPE) == "map":
        for index, item in enumerate(items):
            if item is not None and not isinstance(item, dict):
                yield invalid(at(path, index), item, "must be an object for an array of list-type map")
                return
        names = schema.get(LIST_MAP_KEYS) or ()
        yield from _duplicates([{name: item[name] for name in names if name in item} for item in _objects(items)], path)


def _objects(items: list[Any]) -> list[Json]:
    return [item or {} for item in items]


def _duplicates(items: list[Any], path: str) -> Iterator[FieldError]:
    """The second appearance of each item; those after it go without saying."""
    seen: dict[Any, int] = {}
    for index, item in enumerate(items):
        key = _comparable(item)
        seen[key] = times = seen.get(key, 0) + 1
        if times == 2:
            yield duplicate(at(path, index), item)


def _comparable(item: Any) -> Any:
    """Equal for equal items and for no others: True is not 1."""
    if isinstance(item, str):
        return item
    try:
        return orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        # Too deep for orjson, or a number no float holds.
        return encode(item)
