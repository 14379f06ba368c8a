"""The protobuf encoding itself: tags, numbers of variable length, spans of bytes, and fields that nobody knows."""

from __future__ import annotations

import struct
from typing import Final

from hardpoint.machinery.errors import HardpointError

DEPTH_MAX: Final = 100
VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 = range(6)

_TRUNCATED: Final = "the protobuf body ends too early"
_SIZES: Final = {FIXED64: 8, FIXED32: 4}
_UINT64: Final = 0xFFFFFFFFFFFFFFFF


class BadProtobuf(HardpointError):
    """A body that cannot be decoded; the message is one sentence."""


def tag(number: int, wire_type: int) -> int:
    """What stands before the value of a field."""
    return number << 3 | wire_type


def varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """An unsigned number of up to 64 bits, and where it ends."""
    number = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & _UINT64, at
        shift += 7
        if shift > 63:
            raise BadProtobuf("a number in the protobuf body has more than 64 bits")
    raise BadProtobuf(_TRUNCATED)


def span(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where a length-delimited value begins and ends."""
    # Most lengths are one byte, and every string and message has one.
    if at < end and (length := data[at]) < 0x80:
        at += 1
    else:
        length, at = varint(data, at, end)
    if length > end - at:
        raise BadProtobuf(_TRUNCATED)
    return at, at + length


def int32(data: bytes, at: int, end: int) -> tuple[int, int]:
    number, at = varint(data, at, end)
    return ((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000, at


def int64(data: bytes, at: int, end: int) -> tuple[int, int]:
    number, at = varint(data, at, end)
    return (number ^ 0x8000000000000000) - 0x8000000000000000, at


def boolean(data: bytes, at: int, end: int) -> tuple[bool, int]:
    number, at = varint(data, at, end)
    return number != 0, at


def double(data: bytes, at: int, end: int) -> tuple[float, int]:
    if end - at < 8:
        raise BadProtobuf(_TRUNCATED)
    number: float = struct.unpack_from("<d", data, at)[0]
    return number, at + 8


def skipped(data: bytes, at: int, end: int, field_tag: int, depth: int) -> int:
    """Where a field that nobody knows ends, given where its tag ends; groups may be inside groups."""
    groups: list[int] = []
    while True:
        number, wire_type = field_tag >> 3, field_tag & 7
        if number == 0:
            raise BadProtobuf("a field in the protobuf body has the number 0")
        if wire_type == VARINT:
            _, at = varint(data, at, end)
        elif wire_type == BYTES:
            _, at = span(data, at, end)
        elif wire_type in _SIZES:
            at += _SIZES[wire_type]
        elif wire_type == GROUP and len(groups) + depth < DEPTH_MAX:
            groups.append(number)
        elif wire_type == GROUP_END and groups and groups[-1] == number:
            groups.pop()
        else:
            raise BadProtobuf(f"a field in the protobuf body has the wire type {wire_type} where it cannot be")
        if at > end:
            raise BadProtobuf(_TRUNCATED)
        if not groups:
            return at
        field_tag, at = varint(data, at, end)


def numbered(data: bytes, at: int, end: int, depth: int) -> dict[int, int | tuple[int, int]]:
    """The last value of each field of a small message by number: a number, or the span of its bytes."""
    found: dict[int, int | tuple[int, int]] = {}
    while at < end:
        field_tag, at = varint(data, at, end)
        if field_tag & 7 == VARINT and field_tag > 7:
            found[field_tag >> 3], at = int64(data, at, end)
        elif field_tag & 7 == BYTES and field_tag > 7:
            start, at = span(data, at, end)
            found[field_tag >> 3] = (start, at)
        else:
            at = skipped(data, at, end, field_tag, depth)
    return found
