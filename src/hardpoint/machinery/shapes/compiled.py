"""Decoders made of closures, one per struct type, compiled when first used.

A decoder takes a JSON value and returns what Go would write back, and is all about speed: it knows no paths and no
messages. A value that does not fit raises Misfit, a field that does not exist leaves a mark in `strange`; in both cases
`explained` walks the same value again, slowly, and finds the words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hardpoint.machinery.shapes import values
from hardpoint.machinery.shapes.values import Misfit

if TYPE_CHECKING:
    from hardpoint.machinery.shapes.shape import Field, Shape

_STORED_AS_JSON = ("apiextensions-apiserver.", "kube-aggregator.")

Decoder = Callable[[Any, list[str]], Any]
Zero = Callable[[], Any]


def struct(shape: Shape) -> Decoder:
    """The decoder of a struct: an object, or null for its zero value."""
    # Strings and bools that are set need nothing but a look at their class, and most fields of most objects are such.
    settled = {name: kind for name, field in shape.fields.items() if (kind := _settled_class(field))}.get
    actions: dict[str, Decoder] = {}
    for name, field in shape.fields.items():
        actions[name] = _compiled_later(actions, name, field)
    left_out_when_empty = frozenset(name for name, field in shape.fields.items() if _is_left_out_when_empty(field))
    null_when_empty = frozenset(name for name, field in shape.fields.items() if _is_null_when_empty(shape, field))
    written_when_zero = [(name, zero) for name, field in shape.fields.items() if (zero := _zero_when_absent(field))]

    def decode(value: Any, strange: list[str]) -> Any:
        if value.__class__ is not dict:
            if value is not None:
                raise Misfit
            value = {}
        decoded = value.copy()
        for key, item in value.items():
            if item.__class__ is settled(key) and item:
                continue
            action = actions.get(key)
            if action is None:
                strange.append(key)
                del decoded[key]
            elif item is None:
                del decoded[key]
            else:
                new = action(item, strange)
                if new is not item:
                    decoded[key] = new
                if not new:
                    if key in left_out_when_empty:
                        del decoded[key]
                    elif key in null_when_empty:
                        decoded[key] = None
        for key, zero in written_when_zero:
            if key not in decoded:
                decoded[key] = zero()
        return decoded

    return decode


def _settled_class(field: Field) -> type | None:
    if field.label != "optional":
        return None
    return {"string": str, "bool": bool}.get(field.type)


def _compiled_later(actions: dict[str, Decoder], name: str, field: Field) -> Decoder:
    """A decoder that replaces itself in `actions` on its first call: types may contain themselves."""

    def compile_now(item: Any, strange: list[str]) -> Any:
        actions[name] = action = _field(field)
        return action(item, strange)

    return compile_now


def _is_left_out_when_empty(field: Field) -> bool:
    return field.go == "val,omitzero" or (field.go == "val,omitempty" and _can_be_empty(field))


def _is_null_when_empty(shape: Shape, field: Field) -> bool:
    """Objects come back from the real store as protobuf, which knows no empty list, only none.

    The kinds of two groups are stored as JSON, and keep theirs.
    """
    return field.go == "val" and field.label == "repeated" and not shape.name.startswith(_STORED_AS_JSON)


def _can_be_empty(field: Field) -> bool:
    """Whether `omitempty` applies: structs are never empty to Go."""
    return field.label != "optional" or "." not in field.type or field.type in values.LISTS_OF_STRINGS


def _field(field: Field) -> Decoder:
    """The decoder of a field's value that is not null."""
    return _COLLECTIONS[field.label](field) if field.label in _COLLECTIONS else _value(field)


def _value(field: Field) -> Decoder:
    """The decoder of one value, one item of a list or one value of a map, that is not null."""
    if decode := values.DECODERS.get(field.type):
        return decode
    assert field.element is not None, f"{field.type} is neither a scalar nor a shape"
    if union := _UNIONS.get(field.type.rpartition(".")[2]):
        return union(field.element)
    return field.element.decoder


def _zero(field: Field) -> Zero:
    """Makes the zero value of a field's type as Go writes it, or of one item where the field is a collection."""
    if field.type in values.ZEROS:
        zero = values.ZEROS[field.type]
        return lambda: zero
    element = field.element
    assert element is not None, f"{field.type} has no zero value"
    return lambda: element.decoder(None, [])


def _zero_when_absent(field: Field) -> Zero | None:
    """What Go writes for a field that was not given; None where it writes nothing."""
    if field.go == "ptr,null":
        return lambda: None
    if field.go == "val" or (field.go == "val,omitempty" and not _can_be_empty(field)):
        return _zero(field) if field.label == "optional" else lambda: None
    return None


def _list(field: Field) -> Decoder:
    if field.type == "string":
        return values.strings
    decode, zero = _value(field), _zero(field)

    def decode_list(items: Any, strange: list[str]) -> Any:
        if items.__class__ is not list:
            raise Misfit
        return [zero() if item is None else decode(item, strange) for item in items]

    return decode_list


def _map(field: Field) -> Decoder:
    if field.type == "string":
        return values.string_map
    decode, zero = _value(field), _zero(field)

    def decode_map(items: Any, strange: list[str]) -> Any:
        if items.__class__ is not dict:
            raise Misfit
        return {key: zero() if item is None else decode(item, strange) for key, item in items.items()}

    return decode_map


_COLLECTIONS = {"repeated": _list, "map": _map}


def _schema_or_bool(shape: Shape) -> Decoder:
    schema = _value(shape.fields["schema"])

    def decode(item: Any, strange: list[str]) -> Any:
        if item.__class__ is bool:
            return item
        if item.__class__ is dict:
            return schema(item, [])
        raise Misfit

    return decode


def _schema_or_schemas(shape: Shape) -> Decoder:
    return _schema_or_list(shape, _list(shape.fields["jSONSchemas"]))


def _schema_or_strings(shape: Shape) -> Decoder:
    return _schema_or_list(shape, values.strings)


def _schema_or_list(shape: Shape, decode_list: Decoder) -> Decoder:
    """An object or a list; Go drops everything else without a word, as it drops the unknown fields inside."""
    schema = _value(shape.fields["schema"])

    def decode(item: Any, strange: list[str]) -> Any:
        if item.__class__ is dict:
            return schema(item, [])
        return (decode_list(item, []) or None) if item.__class__ is list else None

    return decode


_UNIONS = {
    "JSONSchemaPropsOrBool": _schema_or_bool,
    "JSONSchemaPropsOrArray": _schema_or_schemas,
    "JSONSchemaPropsOrStringArray": _schema_or_strings,
}
