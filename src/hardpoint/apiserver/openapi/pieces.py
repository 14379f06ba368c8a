"""A long text kept compressed in pieces, so that a change of one does not compress the others again.

Each piece is a part of a deflate stream that ends where a byte does and refers to nothing before it (RFC 1951), so
pieces can stand behind each other in one gzip file (RFC 1952). What is missing then is the checksum of the whole: it
follows from those of the pieces, because a CRC is linear over polynomials with coefficients of zero and one.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from functools import reduce
from typing import NamedTuple

LEVEL = 6
_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_END = b"\x03\x00"
"""A last block with nothing in it."""
_POLYNOMIAL = 0xEDB88320
_ONE = 1 << 31
_X8 = 1 << 23
"""The polynomials 1 and x^8, their bits in the order in which a CRC has them."""


class Piece(NamedTuple):
    """A part of a text: compressed, its length before that, its checksum, and what it does to one before it."""

    deflated: bytes
    length: int
    crc: int
    shift: int


def piece(content: bytes) -> Piece:
    """The piece of a text."""
    compressor = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    deflated = compressor.compress(content) + compressor.flush(zlib.Z_FULL_FLUSH)
    return Piece(deflated, len(content), zlib.crc32(content), _power(len(content)))


def gzipped(pieces: Iterable[Piece]) -> bytes:
    """A gzip file of all pieces, one behind the other."""
    found = list(pieces)
    crc = reduce(lambda before, each: _product(each.shift, before) ^ each.crc, found, 0)
    length = sum(each.length for each in found) & 0xFFFFFFFF
    return b"".join((_HEAD, *(each.deflated for each in found), _END, struct.pack("<II", crc, length)))


def _power(length: int) -> int:
    """x^(8 * length), modulo the polynomial: what so many bytes do to the checksum of what was before them."""
    found, square = _ONE, _X8
    while length:
        if length & 1:
            found = _product(square, found)
        square = _product(square, square)
        length >>= 1
    return found


def _product(left: int, right: int) -> int:
    """Two polynomials multiplied, modulo the polynomial."""
    found, bit = 0, _ONE
    while left:
        if left & bit:
            found ^= right
            left ^= bit
        bit >>= 1
        right = right >> 1 ^ _POLYNOMIAL if right & 1 else right >> 1
    return found
