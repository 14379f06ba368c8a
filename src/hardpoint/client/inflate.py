"""Undo gzip without trusting whoever sent it: bounded in size, bounded in ratio, one piece at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

BYTES_MAX = 64 * 1024 * 1024
RATIO_MAX = 100
PIECE_BYTES = 256 * 1024
# Below this the ratio says nothing: a short answer full of equal objects packs very well.
RATIO_FREE_BYTES = 1024 * 1024
GZIP = 16 + zlib.MAX_WBITS


class Bomb(ValueError):
    """The data is no gzip, or unpacks to more than it should."""


class Inflater:
    """Unpacks gzip members in a row, as servers write them that flush a member at a time.

    `bytes_max` bounds all that comes out; None leaves only the ratio, for streams that never end.
    """

    def __init__(self, *, bytes_max: int | None = BYTES_MAX, ratio_max: int = RATIO_MAX) -> None:
        self._bytes_max = bytes_max
        self._ratio_max = ratio_max
        self._packed = 0
        self._unpacked = 0
        self._member = zlib.decompressobj(wbits=GZIP)

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `data` unpacks to, in pieces. Raises Bomb."""
        self._packed += len(data)
        while data:
            if self._member.eof:
                self._member = zlib.decompressobj(wbits=GZIP)
            try:
                piece = self._member.decompress(data, PIECE_BYTES)
            except zlib.error as cause:
                raise Bomb(f"is not gzip: {cause}") from cause
            self._unpacked += len(piece)
            self._check()
            if piece:
                yield piece
            data = self._member.unused_data if self._member.eof else self._member.unconsumed_tail

    def is_complete(self) -> bool:
        """Whether the last member came to its end."""
        return self._member.eof or not self._packed

    def _check(self) -> None:
        if self._bytes_max is not None and self._unpacked > self._bytes_max:
            raise Bomb(f"unpacks to more than {self._bytes_max} bytes")
        if self._unpacked > RATIO_FREE_BYTES and self._unpacked > self._ratio_max * self._packed:
            raise Bomb(f"unpacks to more than {self._ratio_max} times its size")
