"""Where Go's base64 decoder stops: it wants padding, allows line breaks, and counts offsets in its own way."""

from __future__ import annotations

from typing import Final

_ALPHABET: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_PADDING: Final = ord("=")
_LINE_BREAKS: Final = b"\r\n"


def illegal_at(text: str) -> int | None:
    """The offset that Go's base64 decoder complains about, or None if it does not complain."""
    data = text.encode()
    place = 0
    for offset, byte in enumerate(data):
        if byte in _ALPHABET:
            place = (place + 1) % 4
        elif byte not in _LINE_BREAKS:
            if byte != _PADDING or place < 2:
                return offset
            return _wrong_after_padding(data, offset + 1, is_one_more_due=place == 2)
    return len(data) - place if place else None


def _wrong_after_padding(data: bytes, offset: int, *, is_one_more_due: bool) -> int | None:
    offset = _past_line_breaks(data, offset)
    if is_one_more_due:
        if offset == len(data):
            return offset
        if data[offset] != _PADDING:
            return offset - 1
        offset = _past_line_breaks(data, offset + 1)
    return offset if offset < len(data) else None


def _past_line_breaks(data: bytes, offset: int) -> int:
    while offset < len(data) and data[offset] in _LINE_BREAKS:
        offset += 1
    return offset
