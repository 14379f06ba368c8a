"""Messages decoded by the tables of `shapes`: for each field a function that reads it and stores it in the object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from hardpoint.machinery import shapes
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.jsonexact import ONE_MARK_A_BYTE
from hardpoint.machinery.protobuf import leaves, wire
from hardpoint.machinery.protobuf.leaves import Value
from hardpoint.machinery.protobuf.wire import BadProtobuf
from hardpoint.machinery.shapes import Field, Shape, values

MAGIC: Final = b"k8s\0"

_TYPE_META: Final = wire.tag(1, wire.BYTES)
_RAW: Final = wire.tag(2, wire.BYTES)
_DELETE_OPTIONS: Final = values.META + "DeleteOptions"

Json = dict[str, Any]
Store = Callable[[Json, bytes, int, int, int], int]
"""Reads a field's value from where its tag ends, puts it into the object, and returns where it ends."""


def envelope(data: bytes, at: int, end: int, depth: int, api_version: str = "", kind: str = "") -> Json:
    """The object in a runtime.Unknown behind the magic bytes; `api_version` and `kind` are what it is by default."""
    if not data.startswith(MAGIC, at, end):
        raise BadProtobuf("the body does not begin with the magic bytes of Kubernetes' protobuf")
    at += len(MAGIC)
    raw = (at, at)
    while at < end:
        tag, at = wire.varint(data, at, end)
        if tag not in (_TYPE_META, _RAW):
            at = wire.skipped(data, at, end, tag, depth)
            continue
        start, at = wire.span(data, at, end)
        if tag == _RAW:
            raw = (start, at)
        else:
            named = _type_meta(data, start, at)
            api_version, kind = named.get("apiVersion") or api_version, named.get("kind") or kind
    decoded: Json = {"apiVersion": api_version, "kind": kind}
    _fill(decoded, _shape(api_version, kind), data, *raw, depth + 1)
    return decoded


def _type_meta(data: bytes, at: int, end: int) -> Json:
    stores = {
        wire.tag(1, wire.BYTES): _single("apiVersion", leaves.text),
        wire.tag(2, wire.BYTES): _single("kind", leaves.text),
    }
    named: Json = {}
    while at < end:
        tag, at = wire.varint(data, at, end)
        store = stores.get(tag)
        at = store(named, data, at, end, 0) if store else wire.skipped(data, at, end, tag, 0)
    return named


def _shape(api_version: str, kind: str) -> Shape:
    # The options of a delete may come in the version of whatever is deleted.
    shape = shapes.named(_DELETE_OPTIONS) if kind == "DeleteOptions" else shapes.find(api_version, kind)
    if shape is None:
        raise BadProtobuf(f"no kind {quote(kind)} is registered for version {quote(api_version)}")
    return shape


def _fill(target: Json, shape: Shape, data: bytes, at: int, end: int, depth: int) -> None:
    """Put the fields of a message into an object, merging with what is there, as protobuf does."""
    if depth > wire.DEPTH_MAX:
        raise BadProtobuf(f"the protobuf body is more than {wire.DEPTH_MAX} messages deep")
    stores = _stores(shape.name)
    while at < end:
        tag = data[at]
        at += 1
        if tag >= 0x80:
            tag, at = wire.varint(data, at - 1, end)
        store = stores.get(tag)
        if store is not None:
            at = store(target, data, at, end, depth)
        else:
            _refuse_known(shape, tag)
            at = wire.skipped(data, at, end, tag, depth)


def _refuse_known(shape: Shape, tag: int) -> None:
    for field in shape.rows:
        if field.number and field.number == tag >> 3:
            raise BadProtobuf(f"the field {field.name} has the wire type {tag & 7}, which is not its own")


@cache
def _stores(name: str) -> Mapping[int, Store]:
    """How to read each field of a message, by tag."""
    return {
        wire.tag(field.number, wire_type): store
        for field in shapes.named(name).rows
        if field.number
        for wire_type, store in _field(field).items()
    }


def _field(field: Field) -> dict[int, Store]:
    """How to read a field, by wire type."""
    if field.is_map:
        return {wire.BYTES: _entry(field)}
    if field.type in _NUMBERS:
        wire_type, read_number = _NUMBERS[field.type]
        if field.is_list:
            return {
                wire_type: _appended_number(field.name, read_number),
                wire.BYTES: _packed_numbers(field.name, read_number),
            }
        return {wire_type: _number(field.name, read_number)}
    read = _READERS.get(field.type)
    if field.is_list:
        return {wire.BYTES: _appended(field.name, read or _message(field.type))}
    if field.type == "string":
        return {wire.BYTES: _string(field.name)}
    return {wire.BYTES: _single(field.name, read) if read else _merged(field)}


def _merged(field: Field) -> Store:
    """A message; a second one is merged into the first, and an embedded one into the object around it."""
    shape, name, is_embedded = shapes.named(field.type), field.name, field.go == "inline"

    def store(target: Json, data: bytes, at: int, end: int, depth: int) -> int:
        start, stop = wire.span(data, at, end)
        inner = target if is_embedded else target.setdefault(name, {})
        _fill(inner, shape, data, start, stop, depth + 1)
        return stop

    return store


def _string(name: str) -> Store:
    """Most fields of most objects: short strings, read without a call."""

    def store(target: Json, data: bytes, at: int, end: int, depth: int) -> int:
        stop = at + 1 + data[at] if at < end and data[at] < 0x80 else 0
        if 0 < stop <= end:
            at += 1
        else:
            at, stop = wire.span(data, at, end)
        target[name] = data[at:stop].decode("utf-8", ONE_MARK_A_BYTE)
        return stop

    return store


def _single(name: str, read: Value) -> Store:
    def store(target: Json, data: bytes, at: int, end: int, depth: int) -> int:
        start, stop = wire.span(data, at, end)
        target[name] = read(data, start, stop, depth)
        return stop

    return store


def _appended(name: str, read: Value) -> Store:
    def store(target: Json, data: bytes, at: int, end: int, depth: int) -> int:
        start, stop = wire.span(data, at, end)
        target.setdefault(name, []).append(read(data, start, stop, depth))
        return stop

    return store


Number = Callable[[bytes, int, int], tuple[Any, int]]

_NUMBERS: Mapping[str, tuple[int, Number]] = {
    "int32": (wire.VARINT, wire.int32),
    "int64": (wire.VARINT, wire.int64),
    "bool": (wire.VARINT, wire.boolean),
    "double": (wire.FIXED64, wire.double),
}


def _number(name: str, read: Number) -> Store:
    def store(target: Json, data: bytes, at: int, end: int, depth: int) -> int:
        target[name], at = read(data, at, end)
        return at

    return store


def _appended_number(name: str, read: Number) -> Store:
    def store(target: Json, data: bytes, at: int, end: int, depth: int) -> int:
        number, at = read(data, at, end)
        target.setdefault(name, []).append(number)
        return at

    return store


def _packed_numbers(name: str, read: Number) -> Store:
    def store(target: Json, data: bytes, at: int, end: int, depth: int) -> int:
        at, stop = wire.span(data, at, end)
        numbers = target.setdefault(name, [])
        while at < stop:
            number, at = read(data, at, stop)
            numbers.append(number)
        return stop

    return store


def _entry(field: Field) -> Store:
    """An entry of a map: a message whose key is field 1 and whose value is field 2, and both may be missing."""
    name, nothing = field.name, "" if field.type == "bytes" else None
    value = Field(2, "value", field.type, "optional", "val", {})
    stores = {wire.tag(1, wire.BYTES): _single("key", leaves.text)}
    stores |= {wire.tag(2, wire_type): store for wire_type, store in _field(value).items()}

    def store(target: Json, data: bytes, at: int, end: int, depth: int) -> int:
        at, stop = wire.span(data, at, end)
        entry: Json = {"key": ""}
        while at < stop:
            tag, at = wire.varint(data, at, stop)
            put = stores.get(tag)
            at = put(entry, data, at, stop, depth + 1) if put else wire.skipped(data, at, stop, tag, depth)
        target.setdefault(name, {})[entry["key"]] = entry.get("value", nothing)
        return stop

    return store


def _message(name: str) -> Value:
    def read(data: bytes, at: int, end: int, depth: int) -> Json:
        return _read(name, data, at, end, depth)

    return read


def _read(name: str, data: bytes, at: int, end: int, depth: int) -> Json:
    read: Json = {}
    _fill(read, shapes.named(name), data, at, end, depth + 1)
    return read


def _raw_extension(data: bytes, at: int, end: int, depth: int) -> Any:
    """JSON text, or a whole object in an envelope of its own; present but empty it is nothing that JSON can tell."""
    raw = leaves.raw_bytes(data, at, end, depth)
    if raw is None:
        return None
    return envelope(raw, 0, len(raw), depth + 1) if raw.startswith(MAGIC) else leaves.parsed(raw)


def _schema_or_bool(data: bytes, at: int, end: int, depth: int) -> Any:
    read = _read(values.SCHEMAS + "JSONSchemaPropsOrBool", data, at, end, depth)
    return read.get("schema", read.get("allows", False))


def _schema_or_schemas(data: bytes, at: int, end: int, depth: int) -> Any:
    read = _read(values.SCHEMAS + "JSONSchemaPropsOrArray", data, at, end, depth)
    return read.get("jSONSchemas") or read.get("schema")


def _schema_or_strings(data: bytes, at: int, end: int, depth: int) -> Any:
    read = _read(values.SCHEMAS + "JSONSchemaPropsOrStringArray", data, at, end, depth)
    return read.get("property") or read.get("schema")


_READERS: Mapping[str, Value] = {
    **leaves.READERS,
    "apimachinery.pkg.runtime.RawExtension": _raw_extension,
    values.SCHEMAS + "JSONSchemaPropsOrBool": _schema_or_bool,
    values.SCHEMAS + "JSONSchemaPropsOrArray": _schema_or_schemas,
    values.SCHEMAS + "JSONSchemaPropsOrStringArray": _schema_or_strings,
}
