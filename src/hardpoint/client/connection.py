"""One HTTP/1.1 connection: a request at a time, its answer as it comes.

The parser is httptools'; this adds the waiting, the bounds and the back-pressure. Who may use a connection, and when
it is thrown away, is `pool.py`'s decision.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from dataclasses import dataclass, field
from typing import cast

import httptools

from hardpoint.client.transport import BadAnswer, Interrupted, TransportError

HEADER_BYTES_MAX = 256 * 1024
"""Bounds all that is neither body nor complete: headers, trailers, and the parser's memory of them."""
BUFFER_BYTES_HIGH = 1024 * 1024


@dataclass(slots=True)
class Head:
    """An answer's status and headers, names in lower case; a header that came twice is joined with commas."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)


class Connection(asyncio.Protocol):
    """Call `send`, then `head`, then `read` until it returns nothing. After that it `is_reusable`, or it is not."""

    def __init__(self, where: str) -> None:
        self.idle_since = 0.0
        self._where = where
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False
        self._keep_alive = True
        self._is_paused = False
        self._wants_body = True
        self._parser = httptools.HttpResponseParser(self)
        self._begin()
        self._is_complete = True

    def _begin(self) -> None:
        self._headers: dict[str, str] = {}
        self._unheard_bytes = 0
        self._head: Head | None = None
        self._chunks: deque[bytes] = deque()
        self._buffered = 0
        self._is_complete = False
        self._error: TransportError | None = None

    @property
    def is_reusable(self) -> bool:
        """Whether another request may be sent."""
        return self._is_complete and self._keep_alive and not self._closed and self._error is None

    def send(self, data: bytes, *, wants_body: bool = True) -> None:
        """Start an exchange. The last one must be complete. HEAD `wants_body` not, whatever length its answer says."""
        assert self._is_complete, "one request at a time"
        self._begin()
        self._wants_body = wants_body
        if self._closed or self._transport is None:
            self._error = Interrupted(self._where, "the server closed the connection")
        else:
            self._transport.write(data)

    async def head(self) -> Head:
        """The status and the headers. Raises Interrupted, BadAnswer."""
        while self._head is None:
            await self._wait_for_progress()
        return self._head

    async def read(self) -> bytes:
        """The body's next bytes, b"" after the last. Raises Interrupted, BadAnswer."""
        while not self._chunks:
            if self._is_complete:
                return b""
            await self._wait_for_progress()
        data = self._chunks.popleft() if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self._buffered = 0
        self._resume_reading()
        return data

    def abort(self) -> None:
        """Close at once, whatever is still under way."""
        self._closed = True
        if self._transport is not None:
            self._transport.abort()

    async def _wait_for_progress(self) -> None:
        if self._error is not None:
            raise self._error
        assert self._waiter is None, "one reader at a time"
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _resume_reading(self) -> None:
        if self._is_paused and not self._closed and self._transport is not None:
            self._is_paused = False
            self._transport.resume_reading()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not an isinstance: uvloop's transports do all that asyncio's do, without being any.
        self._transport = cast("asyncio.Transport", transport)
        plain = transport.get_extra_info("socket")
        if plain is not None:
            # A peer that vanished without a word is found out even while nothing is being said.
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)

    def data_received(self, data: bytes) -> None:
        if self._is_complete:
            # An answer nobody asked for: whatever it is, the next request must not mistake it for its own.
            self.abort()
            return
        self._unheard_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as cause:
            self._fail(BadAnswer(self._where, f"the answer is not HTTP: {cause}"))
        except httptools.HttpParserUpgrade:
            self._fail(BadAnswer(self._where, "the server switched protocols, which nobody asked for"))
        if self._unheard_bytes > HEADER_BYTES_MAX:
            self._fail(BadAnswer(self._where, f"the answer's headers have more than {HEADER_BYTES_MAX} bytes"))
        if self._buffered > BUFFER_BYTES_HIGH and not self._is_paused and self._transport is not None:
            self._is_paused = True
            self._transport.pause_reading()
        self._wake()

    def connection_lost(self, cause: Exception | None) -> None:
        self._closed = True
        if not self._is_complete and self._error is None:
            if self._ends_with_connection():
                self._is_complete = True
            else:
                why = f": {cause}" if cause else ""
                self._error = Interrupted(self._where, f"the connection was closed before the answer was complete{why}")
        self._wake()

    def _ends_with_connection(self) -> bool:
        """Whether the answer has no length of its own, so that closing is how it ends."""
        if self._head is None:
            return False
        return not ({"content-length", "transfer-encoding"} & self._head.headers.keys())

    def _fail(self, error: TransportError) -> None:
        self._error = error
        self.abort()

    # What the parser calls.

    def on_message_begin(self) -> None:
        if self._is_complete:
            # A second answer to one request: nothing on this connection can be trusted any more.
            self._keep_alive = False

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._head is None:
            key, text = name.decode("latin-1").lower(), value.decode("latin-1")
            before = self._headers.get(key)
            self._headers[key] = text if before is None else f"{before}, {text}"

    def on_headers_complete(self) -> None:
        self._unheard_bytes = 0
        status = self._parser.get_status_code()
        if status >= 200 and self._head is None:
            self._head = Head(status, self._headers)
            if not self._wants_body:
                # The parser now waits for a body that never comes, so this connection is done for.
                self._is_complete, self._keep_alive = True, False

    def on_body(self, body: bytes) -> None:
        self._unheard_bytes = 0
        if not self._is_complete:
            self._chunks.append(body)
            self._buffered += len(body)

    def on_message_complete(self) -> None:
        if self._head is None:
            # 100 Continue and 103 Early Hints only announce the answer.
            self._headers = {}
        elif not self._is_complete:
            self._is_complete = True
            self._keep_alive = self._parser.should_keep_alive()
