"""Messages that are one value in JSON and contain no other message: times, quantities, JSON text, lists of strings.

Each reader takes the bytes between two offsets, and the depth they are at, and returns the JSON value.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hardpoint.machinery import jsontext, timestamps
from hardpoint.machinery.jsonexact import ONE_MARK_A_BYTE
from hardpoint.machinery.protobuf import wire
from hardpoint.machinery.protobuf.wire import BadProtobuf
from hardpoint.machinery.shapes import values

Value = Callable[[bytes, int, int, int], Any]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ZERO_TIME: Final = -62135596800


def text(data: bytes, at: int, end: int, _: int) -> str:
    return data[at:end].decode("utf-8", ONE_MARK_A_BYTE)


def _base64(data: bytes, at: int, end: int, _: int) -> str:
    return b2a_base64(data[at:end], newline=False).decode()


def _strings(data: bytes, at: int, end: int, depth: int) -> list[str]:
    items = []
    while at < end:
        tag, at = wire.varint(data, at, end)
        if tag == wire.tag(1, wire.BYTES):
            start, at = wire.span(data, at, end)
            items.append(text(data, start, at, depth))
        else:
            at = wire.skipped(data, at, end, tag, depth)
    return items


def _time(data: bytes, at: int, end: int, depth: int) -> str | None:
    moment = _moment(data, at, end, depth)
    return timestamps.format_time(moment) if moment else None


def _micro_time(data: bytes, at: int, end: int, depth: int) -> str | None:
    moment = _moment(data, at, end, depth)
    return timestamps.format_micro_time(moment) if moment else None


def _moment(data: bytes, at: int, end: int, depth: int) -> datetime | None:
    """The time of a message; one without any field is the zero time."""
    found = wire.numbered(data, at, end, depth)
    seconds, nanoseconds = _number(found, 1), _number(found, 2)
    if not found or seconds == _ZERO_TIME:
        return None
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1000)
    except OverflowError:
        raise BadProtobuf(f"{seconds} seconds is a time outside of the years 1 to 9999") from None


def _quantity(data: bytes, at: int, end: int, depth: int) -> str:
    found = wire.numbered(data, at, end, depth)
    amount = _text_of(found, 1, data) if 1 in found else "0"
    if amount != amount.strip():
        raise BadProtobuf("a quantity has blanks around it")
    return amount


def _int_or_string(data: bytes, at: int, end: int, depth: int) -> str | int:
    found = wire.numbered(data, at, end, depth)
    kind = _number(found, 1)
    if kind == 0:
        return _number(found, 2)
    if kind == 1:
        return _text_of(found, 3, data)
    raise BadProtobuf(f"an IntOrString has the type {kind}, which is neither 0 nor 1")


def _json(data: bytes, at: int, end: int, depth: int) -> Any:
    """JSON text in a message of its own; none at all is null."""
    raw = raw_bytes(data, at, end, depth)
    return parsed(raw) if raw else None


def raw_bytes(data: bytes, at: int, end: int, depth: int) -> bytes | None:
    """The first field of a message that has only that, or None."""
    found = wire.numbered(data, at, end, depth).get(1)
    if found is None:
        return None
    return data[slice(*_bytes(found))]


def parsed(raw: bytes) -> Any:
    try:
        return jsontext.parse(raw).value
    except jsontext.BadJson as bad:
        raise BadProtobuf(f"a field that holds JSON cannot be read: {bad}") from None


def _number(found: Mapping[int, int | tuple[int, int]], number: int) -> int:
    value = found.get(number, 0)
    if not isinstance(value, int):
        raise BadProtobuf("bytes are where a number should be")
    return value


def _text_of(found: Mapping[int, int | tuple[int, int]], number: int, data: bytes) -> str:
    return text(data, *_bytes(found[number]), 0) if number in found else ""


def _bytes(value: int | tuple[int, int]) -> tuple[int, int]:
    if isinstance(value, int):
        raise BadProtobuf("a number is where bytes should be")
    return value


READERS: Mapping[str, Value] = {
    "string": text,
    "bytes": _base64,
    values.TIME: _time,
    values.MICRO_TIME: _micro_time,
    values.QUANTITY: _quantity,
    values.INT_OR_STRING: _int_or_string,
    values.META + "FieldsV1": _json,
    values.SCHEMAS + "JSON": _json,
    **dict.fromkeys(values.LISTS_OF_STRINGS, _strings),
}
