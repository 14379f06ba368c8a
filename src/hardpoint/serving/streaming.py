"""The pieces of a stream on their way out.

Pieces that are ready together leave together: one chunk, one TLS record, one system call.
"""

from __future__ import annotations

import asyncio

# One TLS record holds 16 KiB. Below that, copying pieces together is cheaper than a record for each.
RECORD_BYTES = 16 * 1024


class Outflow:
    """Gathers pieces and writes them as chunks; or, for HTTP/1.0, just as they are until the connection ends."""

    __slots__ = ("_chunked", "_held", "_held_bytes", "_transport")

    def __init__(self, transport: asyncio.Transport, *, chunked: bool) -> None:
        self._transport = transport
        self._chunked = chunked
        self._held: list[bytes] = []
        self._held_bytes = 0

    def add(self, piece: bytes) -> None:
        self._held.append(piece)
        self._held_bytes += len(piece)
        if self._held_bytes >= RECORD_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what is held. Nothing held writes nothing: an empty chunk would be the end."""
        size = self._held_bytes
        if size == 0:
            return
        before, after = (b"%x\r\n" % size, b"\r\n") if self._chunked else (b"", b"")
        if size <= RECORD_BYTES:
            self._transport.write(b"".join((before, *self._held, after)))
        else:
            self._transport.writelines((before, *self._held, after))
        self._held.clear()
        self._held_bytes = 0

    def end(self) -> None:
        self.flush()
        if self._chunked:
            self._transport.write(b"0\r\n\r\n")
