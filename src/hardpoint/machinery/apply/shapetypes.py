"""The apply Types of built-in kinds, from the facts about their Go types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from hardpoint.machinery.apply.types import DEDUCED, UNTYPED, ListType, MapType, Type, list_relationship
from hardpoint.machinery.shapes import Field, Shape
from hardpoint.machinery.shapes import values as known

_STRING, _NUMERIC, _BOOLEAN, _SCALAR = (Type(scalar=name) for name in ("string", "numeric", "boolean", "untyped"))
_SCALARS: Mapping[str, Type] = {
    "string": _STRING,
    "bytes": _STRING,
    "bool": _BOOLEAN,
    "int32": _NUMERIC,
    "int64": _NUMERIC,
    "double": _NUMERIC,
    known.TIME: _SCALAR,
    known.MICRO_TIME: _SCALAR,
    known.QUANTITY: _SCALAR,
    # To OpenAPI this is a value of no type; that it is a number or a text is for decoding to say.
    known.INT_OR_STRING: DEDUCED,
    **dict.fromkeys(known.AS_THEY_ARE, DEDUCED),
    "apimachinery.pkg.runtime.RawExtension": UNTYPED,
    **dict.fromkeys(known.LISTS_OF_STRINGS, Type(list=ListType(lambda: _STRING, is_atomic=True))),
    known.SCHEMAS + "JSONSchemaPropsOrBool": DEDUCED,
    known.SCHEMAS + "JSONSchemaPropsOrArray": DEDUCED,
    known.SCHEMAS + "JSONSchemaPropsOrStringArray": DEDUCED,
}


def of_shape(shape: Shape) -> Type:
    """The type of a built-in kind, or of any struct in it."""
    return _of_struct(shape, shape.map_type == "atomic")


@cache
def _of_struct(shape: Shape, is_atomic: bool) -> Type:
    # A struct without fields may hold anything, to OpenAPI.
    element = None if shape.fields else _deduced
    return Type(map=MapType(partial(_fields, shape), element=element, is_atomic=is_atomic))


def _deduced() -> Type:
    return DEDUCED


def _fields(shape: Shape) -> Mapping[str, tuple[Type, Any]]:
    return {name: (_of_field(field), field.default) for name, field in shape.fields.items()}


def _of_field(field: Field) -> Type:
    if field.is_list:
        is_atomic, keys = list_relationship(field.facts)
        return Type(list=ListType(_element(field), is_atomic=is_atomic, keys=keys))
    if field.is_map:
        return Type(map=MapType(element=_element(field), is_atomic=field.map_type == "atomic"))
    if (scalar := _SCALARS.get(field.type)) is not None:
        return scalar
    assert field.element is not None, f"{field.type} is neither a scalar nor a shape"
    return _of_struct(field.element, field.map_type == "atomic")


def _element(field: Field) -> Callable[[], Type]:
    """The type of a list's items or of a map's values, asked for when needed: types may contain themselves."""
    if (scalar := _SCALARS.get(field.type)) is not None:
        return lambda: scalar
    element = field.element
    assert element is not None, f"{field.type} is neither a scalar nor a shape"
    return lambda: of_shape(element)
