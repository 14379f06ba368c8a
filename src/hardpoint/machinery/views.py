"""Typed views: a JSON object read with attributes, under the field names Kubernetes gives them.

    class Subject(View):
        user: str
        groups: list[str]

    Subject({"user": "jane"}).groups == []

A view holds the object it was made from and copies nothing, so nothing is lost: a field that the class does not declare
is an attribute too, and `json` is the whole object. A declared field that is absent reads as Go reads it: empty text,
zero, false, an empty list or object; or None where the annotation says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

Read = Callable[[Any], Any]


class View:
    """A JSON object, for reading."""

    __slots__ = ("json",)

    def __init__(self, json: Mapping[str, Any]) -> None:
        self.json = json

    def __getattr__(self, name: str) -> Any:
        read = _fields(type(self)).get(name)
        if read is not None:
            return read(self.json.get(name))
        if name in self.json:
            return self.json[name]
        raise AttributeError(f"{type(self).__name__} has no field {name!r}, and neither has the object it shows")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.json!r})"


_known: dict[type[View], Mapping[str, Read]] = {}


def _fields(view: type[View]) -> Mapping[str, Read]:
    """How each declared field is read: worked out at first use, for annotations may name classes further down."""
    fields = _known.get(view)
    if fields is None:
        hints = get_type_hints(view)
        fields = _known[view] = {name: _reader(hint) for name, hint in hints.items()}
    return fields


def _reader(hint: Any) -> Read:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        (inner,) = (_reader(argument) for argument in arguments if argument is not type(None))
        return lambda value: None if value is None else inner(value)
    if origin is Literal:
        return _reader(type(arguments[0]))
    if origin is list:
        return _list_reader(arguments[0])
    if isinstance(hint, type) and issubclass(hint, View):
        return lambda value: hint({} if value is None else value)
    zero = origin or (hint if hint in (str, int, float, bool) else None)
    if zero is None:
        return lambda value: value
    return lambda value: zero() if value is None else value


def _list_reader(item: Any) -> Read:
    if isinstance(item, type) and issubclass(item, View):
        return lambda value: [item(each) for each in value or ()]
    return lambda value: [] if value is None else value
