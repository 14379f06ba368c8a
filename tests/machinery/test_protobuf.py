from __future__ import annotations

import base64
import contextlib
import json
import re
from datetime import datetime
from functools import cache
from random import Random
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import kinds, protobuf, shapes
from hardpoint.machinery.shapes import Field, Shape, values
from hardpoint.machinery.shapes.shape import names
from tests.machinery import shape_samples

TYPES = descriptor_pb2.FieldDescriptorProto
SCALAR_TYPES = {
    "string": TYPES.TYPE_STRING,
    "bool": TYPES.TYPE_BOOL,
    "int32": TYPES.TYPE_INT32,
    "int64": TYPES.TYPE_INT64,
    "double": TYPES.TYPE_DOUBLE,
    "bytes": TYPES.TYPE_BYTES,
}
KINDS = [kind for kind in kinds.builtin() if shapes.find(kind.api_version, kind.kind)]


def plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


@cache
def classes() -> Any:
    """Google's own message classes, made of the same rows."""
    file = descriptor_pb2.FileDescriptorProto(name="shapes.proto", package="shapes", syntax="proto2")
    for name in names():
        message = file.message_type.add(name=plain(name))
        for row in shapes.named(name).rows:
            if row.number:
                add_field(message, row)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return lambda name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"shapes.{plain(name)}"))


def add_field(message: Any, row: Field) -> None:
    label = TYPES.LABEL_OPTIONAL if row.label == "optional" else TYPES.LABEL_REPEATED
    if row.is_map:
        entry = message.nested_type.add(name=f"F{row.number}Entry")
        entry.field.add(name="key", number=1, label=TYPES.LABEL_OPTIONAL, type=TYPES.TYPE_STRING)
        add_typed(entry, "value", 2, TYPES.LABEL_OPTIONAL, row.type)
        type_name = f".shapes.{message.name}.{entry.name}"
        message.field.add(name=plain(row.name), number=row.number, label=label, type_name=type_name, type=11)
    else:
        add_typed(message, plain(row.name), row.number, label, row.type)


def add_typed(message: Any, name: str, number: int, label: int, type_name: str) -> None:
    if type_name in SCALAR_TYPES:
        message.field.add(name=name, number=number, label=label, type=SCALAR_TYPES[type_name])
    else:
        message.field.add(name=name, number=number, label=label, type=11, type_name=f".shapes.{plain(type_name)}")


def encoded(api_version: str, kind: str, value: dict[str, Any]) -> bytes:
    message = classes()(shapes.shape(api_version, kind).name)()
    write(message, shapes.shape(api_version, kind), value)
    return envelope(api_version, kind, message.SerializeToString())


def envelope(api_version: str, kind: str, raw: bytes) -> bytes:
    meta = chunk(1, api_version.encode()) + chunk(2, kind.encode())
    return protobuf.MAGIC + chunk(1, meta) + chunk(2, raw) + chunk(3, b"") + chunk(4, b"")


def chunk(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def write(message: Any, shape: Shape, value: dict[str, Any]) -> None:
    for row in shape.rows:
        if row.go == "inline":
            inner = getattr(message, plain(row.name))
            inner.SetInParent()
            write(inner, shapes.named(row.type), value)
        elif row.number and value.get(row.name) is not None:
            write_field(message, row, value[row.name])


def write_field(message: Any, row: Field, value: Any) -> None:
    name = plain(row.name)
    if row.is_map:
        for key, item in value.items():
            entry = getattr(message, name).add(key=key)
            write_one(entry, "value", row.type, item)
    elif row.is_list and row.type in SCALAR_TYPES:
        getattr(message, name).extend(value)
    elif row.is_list:
        for item in value:
            write_message(getattr(message, name).add(), row.type, item)
    else:
        write_one(message, name, row.type, value)


def write_one(message: Any, name: str, type_name: str, value: Any) -> None:
    if type_name in SCALAR_TYPES:
        setattr(message, name, base64.b64decode(value) if type_name == "bytes" else value)
    else:
        inner = getattr(message, name)
        inner.SetInParent()
        write_message(inner, type_name, value)


def write_message(message: Any, type_name: str, value: Any) -> None:
    if type_name in (values.TIME, values.MICRO_TIME):
        moment = datetime.fromisoformat(value)
        message.seconds = int((moment - datetime.fromisoformat("1970-01-01T00:00:00Z")).total_seconds() // 1)
        message.nanos = moment.microsecond * 1000
    elif type_name == values.QUANTITY:
        message.string = value
    elif type_name == values.INT_OR_STRING:
        message.type = int(isinstance(value, str))
        message.intVal, message.strVal = (0, value) if isinstance(value, str) else (value, "")
    elif type_name in values.AS_THEY_ARE:
        name = message.DESCRIPTOR.fields_by_number[1].name
        setattr(message, name, json.dumps(value).encode())
    elif type_name in values.LISTS_OF_STRINGS:
        message.items.extend(value)
    elif "JSONSchemaPropsOr" in type_name:
        message.schema.SetInParent()
        write(message.schema, shapes.named(values.SCHEMAS + "JSONSchemaProps"), value)
    else:
        write(message, shapes.named(type_name), value)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.api_version}/{kind.kind}")
def test_every_kind_decodes_to_what_json_would_have_given(kind: kinds.Kind) -> None:
    shape = shapes.shape(kind.api_version, kind.kind)
    for seed in range(5):
        value = shape_samples.sample(shape, Random(seed))
        expected = shape.decode({"apiVersion": kind.api_version, "kind": kind.kind, **value})
        decoded = shape.decode(protobuf.decode(encoded(kind.api_version, kind.kind, value)))
        assert decoded == expected


POD = envelope("v1", "Pod", chunk(1, chunk(1, b"web-0")))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (POD, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-0"}}),
        (protobuf.MAGIC + chunk(2, b""), {"apiVersion": "v1", "kind": "Pod"}),
        (protobuf.MAGIC, {"apiVersion": "v1", "kind": "Pod"}),
        (
            envelope("apps/v1", "DeleteOptions", b"\x08\x00"),
            {"apiVersion": "apps/v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0},
        ),
        (
            envelope("example.com/v7", "DeleteOptions", b""),
            {"apiVersion": "example.com/v7", "kind": "DeleteOptions"},
        ),
        (
            envelope("v1", "Pod", chunk(1, chunk(1, b"a")) + chunk(1, chunk(3, b"b")) + chunk(1, chunk(1, b"c"))),
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "c", "namespace": "b"}},
        ),
        (
            envelope("v1", "Pod", chunk(99, b"new") + b"\x93\x03\x08\x01\x94\x03" + b"\x90\x03\x01"),
            {"apiVersion": "v1", "kind": "Pod"},
        ),
        (
            envelope("v1", "Secret", chunk(2, chunk(1, b"a")) + chunk(2, chunk(2, b"\xff"))),
            {"apiVersion": "v1", "kind": "Secret", "data": {"a": "", "": "/w=="}},
        ),
        (
            envelope("v1", "ConfigMap", chunk(2, chunk(1, b"a") + chunk(2, b"\xff")) + chunk(1, chunk(8, b""))),
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "\ufffd"}, "metadata": {"creationTimestamp": None}},
        ),
        (
            envelope("v1", "List", chunk(2, chunk(1, b'{"a":1}')) + chunk(2, chunk(1, POD))),
            {
                "apiVersion": "v1",
                "kind": "List",
                "items": [{"a": 1}, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-0"}}],
            },
        ),
    ],
    ids=["pod", "no kind", "nothing", "options", "any version", "merged", "unknown", "bytes", "text", "list"],
)
def test_bodies(body: bytes, expected: dict[str, Any]) -> None:
    assert protobuf.decode(body, "v1", "Pod") == expected


def test_numbers_may_be_packed() -> None:
    body = envelope("v1", "Pod", chunk(2, chunk(14, chunk(4, b"\x01\x02") + b"\x20\x03")))
    assert protobuf.decode(body)["spec"]["securityContext"]["supplementalGroups"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "does not begin with the magic bytes"),
        (b'{"kind":"Pod"}', "does not begin with the magic bytes"),
        (envelope("v1", "Nope", b""), 'no kind "Nope" is registered for version "v1"'),
        (POD[:-8], "ends too early"),
        (protobuf.MAGIC + b"\x12\xff\xff\xff\xff\x7f", "ends too early"),
        (envelope("v1", "Pod", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), "ends too early"),
        (envelope("v1", "Pod", b"\x00"), "the number 0"),
        (envelope("v1", "Pod", b"\x9c\x03"), "wire type 4 where it cannot be"),
        (envelope("v1", "Pod", b"\x9b\x03" * 101), "wire type 3 where it cannot be"),
        (envelope("v1", "Pod", b"\x9d\x03\x00"), "ends too early"),
        (envelope("v1", "Pod", b"\x08\x01"), "field metadata has the wire type 0"),
        (envelope("v1", "Pod", b"\xff" * 11), "more than 64 bits"),
        (envelope("v1", "Pod", chunk(1, chunk(8, b"\x08" + varint(2**60)))), "outside of the years"),
        (envelope("v1", "ResourceQuota", chunk(2, chunk(1, chunk(2, chunk(1, b" 1"))))), "blanks around it"),
        (envelope("v1", "Service", chunk(2, chunk(1, chunk(4, b"\x08\x02")))), "neither 0 nor 1"),
        (envelope("v1", "Service", chunk(2, chunk(1, chunk(4, chunk(1, b""))))), "bytes are where a number"),
        (envelope("v1", "List", chunk(2, chunk(1, b""))), "unexpected end of JSON input"),
        (envelope("v1", "List", chunk(2, b"\x08\x01")), "a number is where bytes"),
    ],
)
def test_a_bad_body_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(protobuf.BadProtobuf, match=re.escape(reason)):
        protobuf.decode(body)


def test_messages_nest_a_hundred_levels_deep() -> None:
    body = POD
    for _ in range(protobuf.DEPTH_MAX):
        body = envelope("v1", "List", chunk(2, chunk(1, body)))
    with pytest.raises(protobuf.BadProtobuf, match="100 messages deep"):
        protobuf.decode(body)


@given(st.binary())
def test_any_bytes_are_an_object_or_refused(content: bytes) -> None:
    for body in (content, protobuf.MAGIC + content, envelope("v1", "Pod", content)):
        attempt(body)


@given(st.sampled_from(KINDS), st.integers(0, 3), st.data())
def test_a_spoiled_body_is_an_object_or_refused(kind: kinds.Kind, seed: int, data: st.DataObject) -> None:
    value = shape_samples.sample(shapes.shape(kind.api_version, kind.kind), Random(seed))
    body = bytearray(encoded(kind.api_version, kind.kind, value))
    at = data.draw(st.integers(4, len(body) - 1))
    body[at] = data.draw(st.integers(0, 255))
    attempt(bytes(body))
    attempt(bytes(body[:at]))


def attempt(body: bytes) -> None:
    with contextlib.suppress(protobuf.BadProtobuf):
        assert isinstance(protobuf.decode(body, "v1", "Pod"), dict)
