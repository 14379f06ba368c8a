"""Dataclasses that remember what they were read from.

A pydantic model knows which fields were set and holds fields it does not know. A dataclass does neither, so both are
kept beside its fields, where they take no part in comparing, printing or copying field by field.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic_core import core_schema

Node = dict[str, Any]

_ATTRIBUTE = "_hardpoint_read_from"


class _ReadFrom(NamedTuple):
    """What the JSON had: fields the class does not know, and the names of those it does."""

    unknown: Mapping[str, Any]
    seen: frozenset[str]


def keeping(node: Node) -> Node:
    """The plan of a dataclass, which reads and writes what it does not know."""
    names = {field["serialization_alias"]: field["name"] for field in node["schema"]["fields"]}
    reading = core_schema.no_info_wrap_validator_function(_reader(names), node)
    writing = core_schema.wrap_serializer_function_ser_schema(_writer(node["cls"], names), schema=node)
    return {**reading, "serialization": writing}


def _reader(names: Mapping[str, str]) -> Callable[[Any, Callable[[Any], Any]], Any]:
    def read(value: Any, handler: Callable[[Any], Any]) -> Any:
        instance = handler(value)
        if isinstance(value, dict):
            unknown = {name: field for name, field in value.items() if name not in names}
            seen = frozenset(name for name in names if name in value)
            instance.__dict__[_ATTRIBUTE] = _ReadFrom(unknown, seen)
        return instance

    return read


def _writer(cls: type[Any], names: Mapping[str, str]) -> Callable[[Any, Callable[[Any], Any]], Any]:
    defaults = {field.name: field for field in dataclasses.fields(cls)}

    def write(value: Any, handler: Callable[[Any], Any]) -> Any:
        written = handler(value)
        unknown, seen = vars(value).get(_ATTRIBUTE, _ReadFrom({}, frozenset()))
        for name in [name for name in written if name not in seen]:
            if _is_default(defaults[names[name]], getattr(value, names[name])):
                del written[name]
        return {**written, **unknown}

    return write


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    if field.default_factory is not dataclasses.MISSING:
        return bool(value == field.default_factory())
    return field.default is not dataclasses.MISSING and bool(value == field.default)
