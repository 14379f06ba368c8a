"""What a client needs from below: one exchange, whole or as a stream, and a word for each way it can fail.

TransportError
├── Unreachable    no connection: nothing was sent
├── Interrupted    the connection was cut before the answer was complete; the request may have been carried out
├── TimedOut       no complete answer within the time allowed
├── BadAnswer      what came is not HTTP, or more than we are ready to hold
└── Closed         we closed the transport ourselves; asking again is no use

An answer that says no is still an answer; making an ApiError of it is `client.py`'s business.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from hardpoint.machinery.errors import HardpointError

ANSWER_BYTES_MAX = 256 * 1024 * 1024
"""An answer that is held in memory as a whole may not be larger. Long lists come in pages."""


class TransportError(HardpointError):
    """No answer came. `where` is the server, or the server and the request."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
        self.where = where


class Unreachable(TransportError):
    """No connection could be made, so nothing was asked."""


class Interrupted(TransportError):
    """The connection was cut before the answer was complete."""


class TimedOut(TransportError):
    """No complete answer came in time."""


class BadAnswer(TransportError):
    """The answer is not HTTP, or too large."""


class Closed(TransportError):
    """The transport was closed, and asks nothing any more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer whose body comes bit by bit; `chunks` ends where the server ended it, or raises Interrupted."""

    status: int
    headers: Mapping[str, str]
    chunks: AsyncIterator[bytes]


class Transport(Protocol):
    """Carries requests to one API server. Calls overlap. `path` and `query` come percent-encoded."""

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        """Ask and wait for the whole answer. Raises TransportError. Cancelling gives the request up."""
        ...

    def stream(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> AbstractAsyncContextManager[Stream]:
        """Ask, and read the answer as it comes. Leaving early tells the server to stop."""
        ...

    async def close(self) -> None:
        """Release every connection. Idempotent."""
        ...


async def whole(stream: Stream, where: str) -> Answer:
    """The rest of a stream as one answer, as long as it stays within ANSWER_BYTES_MAX."""
    body = bytearray()
    async for chunk in stream.chunks:
        body += chunk
        if len(body) > ANSWER_BYTES_MAX:
            raise BadAnswer(where, f"the answer has more than {ANSWER_BYTES_MAX} bytes; ask for pages with a limit")
    return Answer(stream.status, stream.headers, bytes(body))
