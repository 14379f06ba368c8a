"""Defaults of a schema, filled into a decoded object in place.

A default stands in for a field that is absent, and for null where null is not allowed. What it brings may itself be
incomplete: defaulting goes on inside it. Follows apiextensions' schema/defaulting.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from hardpoint.machinery.structural.spine import has_parts

Json = dict[str, Any]
Complete = Callable[[Any], None]


def defaulter(schema: Json) -> Complete | None:
    """The function that completes a value of this schema, or None where there is nothing to fill in."""
    if not has_parts(schema):
        return None
    properties: Json = schema.get("properties") or {}
    given = [(name, _maker(child), bool(child.get("nullable"))) for name, child in properties.items() if _has(child)]
    below = {name: made for name, child in properties.items() if (made := defaulter(child))}
    additional, items = schema.get("additionalProperties"), schema.get("items")
    each_value = _element(additional) if isinstance(additional, dict) else None
    each_item = _element(items) if isinstance(items, dict) else None
    if not (given or below or each_value or each_item):
        return None

    def complete(value: Any) -> None:
        if value.__class__ is dict:
            for name, make, nullable in given:
                if name not in value or (value[name] is None and not nullable):
                    value[name] = make()
            for name, complete_child in below.items():
                if name in value:
                    complete_child(value[name])
            if each_value is not None:
                for name in value:
                    if name not in properties:
                        value[name] = each_value(value[name])
        elif value.__class__ is list and each_item is not None:
            value[:] = [each_item(item) for item in value]

    return complete


def _has(schema: Json) -> bool:
    return schema.get("default") is not None


def _maker(schema: Json) -> Callable[[], Any]:
    """Makes the default anew for everyone who gets it."""
    default = schema.get("default")
    return (lambda: deepcopy(default)) if isinstance(default, dict | list) else (lambda: default)


def _element(schema: Json) -> Callable[[Any], Any] | None:
    """Completes a map's value or a list's item: only where it is null does the element's own default stand in."""
    complete = defaulter(schema)
    make = _maker(schema) if _has(schema) and not schema.get("nullable") else None
    if complete is None and make is None:
        return None

    def element(value: Any) -> Any:
        if value is None and make is not None:
            value = make()
        if complete is not None:
            complete(value)
        return value

    return element
