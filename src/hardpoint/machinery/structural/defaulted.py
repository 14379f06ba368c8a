"""Defaults of a schema, filled into a decoded object in place.

A default stands in for a field that is absent, and for null where null is not allowed. What it brings may itself be
incomplete: defaulting goes on inside it. Follows apiextensions' schema/defaulting.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.structural.spine import has_parts

Json = dict[str, Any]
Complete = Callable[[Any], None]
_Fill = Callable[[Any, "_Room"], None]

BYTES_MAX = 3 * 1024 * 1024
"""So much defaults may add to one object: a list of many items that all have some would grow without end."""


class TooMuch(Exception):
    """Defaults would add more than an object may have."""


class _Room:
    """What defaults may still add to an object."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = BYTES_MAX

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise TooMuch


def defaulter(schema: Json) -> Complete | None:
    """The function that completes a value of this schema, or None where there is nothing to fill in.

    It raises TooMuch rather than to add more than BYTES_MAX.
    """
    fill = _filler(schema)
    return None if fill is None else lambda value: fill(value, _Room())


def _filler(schema: Json) -> _Fill | None:
    if not has_parts(schema):
        return None
    properties: Json = schema.get("properties") or {}
    given = [
        (name, _maker(child, name), bool(child.get("nullable"))) for name, child in properties.items() if _has(child)
    ]
    below = {name: made for name, child in properties.items() if (made := _filler(child))}
    additional, items = schema.get("additionalProperties"), schema.get("items")
    each_value = _element(additional) if isinstance(additional, dict) else None
    each_item = _element(items) if isinstance(items, dict) else None
    if not (given or below or each_value or each_item):
        return None

    def fill(value: Any, room: _Room) -> None:
        if value.__class__ is dict:
            for name, make, nullable in given:
                if name not in value or (value[name] is None and not nullable):
                    value[name] = make(room)
            for name, fill_child in below.items():
                if name in value:
                    fill_child(value[name], room)
            if each_value is not None:
                for name in value:
                    if name not in properties:
                        value[name] = each_value(value[name], room)
        elif value.__class__ is list and each_item is not None:
            value[:] = [each_item(item, room) for item in value]

    return fill


def _has(schema: Json) -> bool:
    return schema.get("default") is not None


def _maker(schema: Json, name: str = "") -> Callable[[_Room], Any]:
    """Makes the default anew for everyone who gets it."""
    default = schema.get("default")
    size = len(encode({name: default}))
    is_shared = not isinstance(default, dict | list)

    def make(room: _Room) -> Any:
        room.take(size)
        return default if is_shared else deepcopy(default)

    return make


def _element(schema: Json) -> Callable[[Any, _Room], Any] | None:
    """Completes a map's value or a list's item: only where it is null does the element's own default stand in."""
    fill = _filler(schema)
    make = _maker(schema) if _has(schema) and not schema.get("nullable") else None
    if fill is None and make is None:
        return None

    def element(value: Any, room: _Room) -> Any:
        if value is None and make is not None:
            value = make(room)
        if fill is not None:
            fill(value, room)
        return value

    return element
