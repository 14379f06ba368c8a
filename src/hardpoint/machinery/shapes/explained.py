"""The slow walk over a value that did not fit, or that has fields its type does not have: finds Go's words for it.

Go keeps the first type error and goes on, but stops at the first error of a type that decodes itself (a quantity, a
time, a JSON schema's union), and that one is reported. Inside such types unknown fields go unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.quantity import FORMAT_WRONG, BadQuantity, canonical
from hardpoint.machinery.shapes import gobase64, gotime, values
from hardpoint.machinery.shapes.refusals import cannot_unmarshal, json_type

if TYPE_CHECKING:
    from hardpoint.machinery.shapes.shape import Field, Shape

# Go remembers no more of them.
_COMPLAINTS_MAX = 100


def refusal(shape: Shape, value: Any) -> str:
    """Why Go does not take the value."""
    walk = _Walk()
    try:
        walk.struct(shape, value, _Place())
    except _Stopped as stopped:
        return str(stopped)
    assert walk.first is not None, "the decoder and the walk disagree about a value"
    return walk.first


def unknown_fields(shape: Shape, value: Any) -> list[str]:
    """The paths of the fields that the type does not have; each once, and no more than Go remembers."""
    walk = _Walk()
    walk.struct(shape, value, _Place())
    return list(dict.fromkeys(walk.unknown))[:_COMPLAINTS_MAX]


def strict_errors(shape: Shape, value: Any, duplicates: Iterable[str]) -> list[str]:
    """What strict decoding complains about: `unknown field "a.b"` and `duplicate field "a.c"`, in the body's order."""
    walk = _Walk(frozenset(duplicates))
    walk.struct(shape, value, _Place())
    return list(dict.fromkeys(walk.complaints))[:_COMPLAINTS_MAX]


class _Stopped(Exception):
    """A type that decodes itself refused the value."""


class _Place(NamedTuple):
    """Where the walk is: in Go's words for type errors, and as a path for unknown fields."""

    struct: str = ""
    fields: tuple[str, ...] = ()
    path: str = ""
    strict: bool = True

    def field(self, shape: Shape, field: Field) -> _Place:
        fields = (*self.fields, *field.embedded, field.name)
        return _Place(shape.go_name.rpartition(".")[2], fields, self.under(field.name), self.strict)

    def under(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


class _Walk:
    def __init__(self, duplicates: frozenset[str] = frozenset()) -> None:
        self.duplicates = duplicates
        self.first: str | None = None
        self.unknown: list[str] = []
        self.complaints: list[str] = []

    def struct(self, shape: Shape, value: Any, place: _Place) -> None:
        if value is None:
            return
        if not isinstance(value, dict):
            self._mismatch(value, shape.go_name, place)
            return
        for key, item in value.items():
            field = shape.fields.get(key)
            if field is None:
                self._note_unknown(place, key)
            else:
                self._note_duplicate(place, key)
                self._field(field, item, place.field(shape, field))

    def _field(self, field: Field, item: Any, place: _Place) -> None:
        if field.is_list:
            self._list(field, item, place)
        elif field.is_map:
            self._map(field, item, place)
        else:
            self._value(field, item, field.go_type, place)

    def _list(self, field: Field, items: Any, place: _Place) -> None:
        if items is None:
            return
        if not isinstance(items, list):
            self._mismatch(items, field.go_type, place)
            return
        for index, item in enumerate(items):
            self._value(field, item, field.go_element_type, place._replace(path=f"{place.path}[{index}]"))

    def _map(self, field: Field, items: Any, place: _Place) -> None:
        if items is None:
            return
        if not isinstance(items, dict):
            self._mismatch(items, field.go_type, place)
            return
        for key, item in items.items():
            self._note_duplicate(place, key)
            self._value(field, item, field.go_element_type, place._replace(path=place.under(key)))

    def _value(self, field: Field, item: Any, go_type: str, place: _Place) -> None:
        if item is None or field.type in values.AS_THEY_ARE:
            return
        if union := _UNIONS.get(field.type):
            union(self, field, item, place)
        elif decode_itself := _SELF_DECODING.get(field.type):
            decode_itself(item, place)
        elif field.type in values.LISTS_OF_STRINGS:
            self._strings(item, go_type, place)
        elif field.type == "bytes":
            self._bytes(item, go_type, place)
        elif field.element is not None:
            self.struct(field.element, item, place)
        else:
            self._scalar(field.type, item, go_type, place)

    def _scalar(self, kind: str, item: Any, go_type: str, place: _Place) -> None:
        found = json_type(item)
        if found != _JSON_TYPES[kind]:
            self._mismatch(item, go_type, place)
        elif found == "number" and not _number_fits(kind, item):
            self._refuse(cannot_unmarshal(f"number {item}", go_type, place.struct, place.fields))

    def _strings(self, items: Any, go_type: str, place: _Place) -> None:
        if not isinstance(items, list):
            self._mismatch(items, go_type, place)
            return
        for item in items:
            if item is not None:
                self._scalar("string", item, "string", place)

    def _bytes(self, item: Any, go_type: str, place: _Place) -> None:
        if isinstance(item, list):
            for byte in item:
                self._scalar("uint8", byte, "uint8", place)
        elif not isinstance(item, str):
            self._mismatch(item, go_type, place)
        elif (offset := gobase64.illegal_at(item)) is not None:
            self._refuse(f"illegal base64 data at input byte {offset}")

    def schema_or_bool(self, field: Field, item: Any, place: _Place) -> None:
        if isinstance(item, bool):
            return
        if not isinstance(item, dict):
            raise _Stopped("boolean or JSON schema expected")
        self._apart(field, "schema", item, place)

    def schema_or_list(self, field: Field, item: Any, place: _Place) -> None:
        if isinstance(item, dict):
            self._apart(field, "schema", item, place)
        elif isinstance(item, list):
            self._apart(field, "jSONSchemas" if field.type.endswith("OrArray") else "property", item, place)

    def _apart(self, field: Field, branch: str, item: Any, place: _Place) -> None:
        """Walk what Go decodes in a call of its own: any error in it ends everything."""
        assert field.element is not None
        walk = _Walk()
        walk._field(field.element.fields[branch], item, place._replace(strict=False))
        if walk.first is not None:
            raise _Stopped(walk.first)

    def _note_unknown(self, place: _Place, key: str) -> None:
        if place.strict:
            self.unknown.append(place.under(key))
            self.complaints.append(f"unknown field {quote(place.under(key))}")

    def _note_duplicate(self, place: _Place, key: str) -> None:
        if self.duplicates and place.strict and place.under(key) in self.duplicates:
            self.complaints.append(f"duplicate field {quote(place.under(key))}")

    def _mismatch(self, item: Any, go_type: str, place: _Place) -> None:
        self._refuse(cannot_unmarshal(json_type(item), go_type, place.struct, place.fields))

    def _refuse(self, reason: str) -> None:
        if self.first is None:
            self.first = reason


_JSON_TYPES = {
    "string": "string",
    "bool": "bool",
    "int32": "number",
    "int64": "number",
    "uint8": "number",
    "double": "number",
}


def _number_fits(kind: str, number: float) -> bool:
    if kind == "double":
        return abs(number) != float("inf")
    limit = values.INTEGERS.get(kind, 256)
    lowest = 0 if kind == "uint8" else -limit
    return isinstance(number, int) and lowest <= number < limit


def _quantity(item: Any, place: _Place) -> None:
    if isinstance(item, bool | dict | list):
        raise _Stopped(FORMAT_WRONG)
    try:
        canonical(values.amount(item))
    except BadQuantity as bad:
        raise _Stopped(str(bad)) from None


def _time(item: Any, place: _Place) -> None:
    _moment(item, place, gotime.seconds)


def _micro_time(item: Any, place: _Place) -> None:
    _moment(item, place, gotime.microseconds)


def _moment(item: Any, place: _Place, rewritten: Callable[[str], str | None]) -> None:
    if not isinstance(item, str):
        raise _Stopped(cannot_unmarshal(json_type(item), "string", place.struct, place.fields))
    try:
        rewritten(item)
    except gotime.BadTime as bad:
        raise _Stopped(str(bad)) from None


def _int_or_string(item: Any, place: _Place) -> None:
    if isinstance(item, str):
        return
    walk = _Walk()
    walk._scalar("int32", item, "int32", place)
    if walk.first is not None:
        raise _Stopped(walk.first)


_SELF_DECODING = {
    values.QUANTITY: _quantity,
    values.TIME: _time,
    values.MICRO_TIME: _micro_time,
    values.INT_OR_STRING: _int_or_string,
}
_UNIONS = {
    values.SCHEMAS + "JSONSchemaPropsOrBool": _Walk.schema_or_bool,
    values.SCHEMAS + "JSONSchemaPropsOrArray": _Walk.schema_or_list,
    values.SCHEMAS + "JSONSchemaPropsOrStringArray": _Walk.schema_or_list,
}
