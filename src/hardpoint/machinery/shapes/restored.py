"""How Go words it when a strategic patch leaves a value that does not fit its field.

There the patched object is not decoded from JSON but restored from maps and lists, by apimachinery's converter, which
names no field: it stops at the first value it cannot restore, field by field in the order of the struct.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardpoint.machinery.shapes import gobase64, values
from hardpoint.machinery.shapes.refusals import TypeMismatch, cannot_unmarshal, json_type

if TYPE_CHECKING:
    from hardpoint.machinery.shapes.shape import Field, Shape

_KINDS = {bool: "bool", str: "string", int: "int64", float: "float64", dict: "map", list: "slice"}
_FITS = {
    "string": (str,),
    "bool": (bool,),
    "int32": (int,),
    "int64": (int,),
    "double": (int, float),
}
_KIND_NAMES = {"double": "float64"}
# Go would convert these, but JSON does not.
_CONVERTIBLE = frozenset((("int64", "string"), ("float64", "int32"), ("float64", "int64")))
# Types that restore themselves from JSON, and what a value that is of the wrong JSON type should have been.
_FROM_JSON = {values.TIME: "string", values.MICRO_TIME: "string", values.INT_OR_STRING: "int32"}


def refusal(shape: Shape, value: Any) -> str:
    """Why the converter does not take the value; "" if it does."""
    try:
        _struct(shape, value)
    except TypeMismatch as wrong:
        return str(wrong)
    return ""


def _struct(shape: Shape, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        raise TypeMismatch(f"cannot restore struct from: {_KINDS[type(value)]}")
    for name, field in shape.fields.items():
        if value.get(name) is not None:
            _field(field, value[name])


def _field(field: Field, value: Any) -> None:
    if field.is_list:
        if not isinstance(value, list):
            raise TypeMismatch(f"cannot restore slice from {_KINDS[type(value)]}")
        for item in value:
            _value(field, item, field.go_element_type)
    elif field.is_map:
        if not isinstance(value, dict):
            raise TypeMismatch(f"cannot restore map from {_KINDS[type(value)]}")
        for item in value.values():
            _value(field, item, field.go_element_type)
    else:
        _value(field, value, field.go_type)


def _value(field: Field, value: Any, go_type: str) -> None:
    if value is None or field.type in values.AS_THEY_ARE:
        return
    if field.type in _FROM_JSON:
        _from_json(field.type, value)
    elif field.type == "bytes":
        _bytes(value)
    elif field.type in _FITS:
        _scalar(field.type, value, go_type)
    elif field.element is not None and field.type not in values.DECODERS:
        _struct(field.element, value)


def _scalar(kind: str, value: Any, go_type: str) -> None:
    found = type(value)
    if found in _FITS[kind] or (found is float and kind != "string" and kind != "bool" and value.is_integer()):
        return
    if (_KINDS[found], kind) in _CONVERTIBLE:
        raise TypeMismatch(f"cannot convert {_KINDS[found]} to {go_type}")
    raise TypeMismatch(f"unrecognized type: {_KIND_NAMES.get(kind, kind)}")


def _bytes(value: Any) -> None:
    if not isinstance(value, str):
        raise TypeMismatch(f"cannot restore slice from {_KINDS[type(value)]}")
    if (offset := gobase64.illegal_at(value)) is not None:
        raise TypeMismatch(f"error decoding from json: illegal base64 data at input byte {offset}")


def _from_json(kind: str, value: Any) -> None:
    wanted = _FROM_JSON[kind]
    takes = str if wanted == "string" else str | int
    if not isinstance(value, takes) or isinstance(value, bool):
        raise TypeMismatch(cannot_unmarshal(json_type(value), wanted))
