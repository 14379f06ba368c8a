"""PEM: DER between lines that say what it is. Read as Go's encoding/pem reads it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE = re.compile(rb"^-----(BEGIN|END) ([^\n]*?)-----[ \t]*\r?$", re.MULTILINE)
_HEADERS = re.compile(rb"\s*([^\n:]*:[^\n]*\n)+")


class Block(NamedTuple):
    kind: str
    """`CERTIFICATE`, `CERTIFICATE REQUEST` ..."""
    has_headers: bool
    der: bytes


def blocks(text: bytes) -> Iterator[Block]:
    """Every block, in order. What is no block is passed over, as is one that is not Base64 inside.

    A beginning without an end costs no second look: strangers send these.
    """
    began: re.Match[bytes] | None = None
    for line in _LINE.finditer(text):
        if line[1] == b"BEGIN":
            began = line
            continue
        if began is not None and began[2] == line[2]:
            block = _block(line[2], text[began.end() : line.start()])
            if block is not None:
                yield block
        began = None


def _block(kind: bytes, body: bytes) -> Block | None:
    headers = _HEADERS.match(body)
    encoded = b"".join((body[headers.end() :] if headers else body).split())
    try:
        der = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        return None
    return Block(kind.decode("latin-1"), headers is not None, der)


def first(text: bytes) -> Block | None:
    return next(blocks(text), None)


def encoded(kind: str, der: bytes) -> bytes:
    body = base64.b64encode(der)
    lines = [body[start : start + 64] for start in range(0, len(body), 64)]
    return b"\n".join((b"-----BEGIN %b-----" % kind.encode(), *lines, b"-----END %b-----" % kind.encode(), b""))
