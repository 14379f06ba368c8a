"""Requests over HTTP/1.1, plain or TLS: what goes on the wire, and the deadlines around it.

Which requests are worth repeating is `retries.py`'s decision; this makes each attempt.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Self

from hardpoint.client.connection import Connection, Head
from hardpoint.client.credentials import Proof
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.inflate import BYTES_MAX as INFLATED_BYTES_MAX
from hardpoint.client.inflate import Bomb, Inflater
from hardpoint.client.pool import Pool
from hardpoint.client.transport import (
    ANSWER_BYTES_MAX,
    Answer,
    BadAnswer,
    Interrupted,
    Stream,
    TimedOut,
    Transport,
)

# The server gives up a request after 60 s. Waiting a little longer lets its reason arrive.
PATIENCE_SECONDS = 70.0
CONNECT_SECONDS = 10.0
REQUESTS_MAX = 64


class HttpTransport:
    """Talks to one endpoint over a pool of connections.

    At most `requests_max` requests are under way at once, the others wait their turn; streams do not count.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        patience_seconds: float = PATIENCE_SECONDS,
        connect_seconds: float = CONNECT_SECONDS,
        requests_max: int = REQUESTS_MAX,
        user_agent: str = "hardpoint",
    ) -> None:
        self._endpoint = endpoint
        self._patience_seconds = patience_seconds
        self._pool = Pool(endpoint, connect_seconds=connect_seconds)
        self._turns = asyncio.Semaphore(requests_max)
        self._fixed = _fixed_headers(endpoint, user_agent)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        async with self._turns:
            proof = await self._endpoint.credentials.proof()
            where = f"{self._endpoint.url}: {method} {path}"
            connection: Connection | None = None
            try:
                async with asyncio.timeout(self._patience_seconds):
                    connection = await self._pool.take(proof.certificate)
                    request = self._encode(method, path, query, headers, body, proof)
                    connection.send(request, wants_body=method != "HEAD")
                    head = await connection.head()
                    content = await _whole_body(connection, head, where)
            except TimeoutError as cause:
                raise TimedOut(where, f"no complete answer within {self._patience_seconds:g} s") from cause
            finally:
                if connection is not None:
                    self._pool.give_back(connection)
        if head.status == 401:
            self._endpoint.credentials.refused(proof)
        return Answer(head.status, head.headers, content)

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> AsyncIterator[Stream]:
        proof = await self._endpoint.credentials.proof()
        where = f"{self._endpoint.url}: {method} {path}"
        connection: Connection | None = None
        try:
            try:
                async with asyncio.timeout(self._patience_seconds):
                    connection = await self._pool.take(proof.certificate)
                    connection.send(self._encode(method, path, query, headers, body, proof))
                    head = await connection.head()
            except TimeoutError as cause:
                raise TimedOut(where, f"no answer within {self._patience_seconds:g} s") from cause
            if head.status == 401:
                self._endpoint.credentials.refused(proof)
            async with aclosing(_chunks(connection, head, where, bytes_max=None)) as chunks:
                yield Stream(head.status, head.headers, chunks)
        finally:
            if connection is not None:
                self._pool.give_back(connection)

    async def close(self) -> None:
        self._pool.close()

    def _encode(
        self, method: str, path: str, query: str, headers: Mapping[str, str] | None, body: bytes, proof: Proof
    ) -> bytes:
        """The request's bytes. Raises ValueError for what would break out of its line."""
        target = f"{self._endpoint.prefix}{path}?{query}" if query else f"{self._endpoint.prefix}{path}"
        if not (target.isascii() and target.isprintable()) or " " in target:
            raise ValueError(f"{target!r} is not percent-encoded")
        lines = [f"{method} {target} HTTP/1.1", self._fixed]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        lines += [f"{name}: {value}" for name, value in proof.headers]
        if body or method not in ("GET", "HEAD", "DELETE"):
            lines.append(f"content-length: {len(body)}")
        if not all(line.isprintable() for line in lines[2:]):
            raise ValueError("a header holds a character that no header can")
        return "\r\n".join((*lines, "\r\n")).encode("latin-1") + body


def _fixed_headers(endpoint: Endpoint, user_agent: str) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    lines = [f"host: {endpoint.authority or f'{host}:{endpoint.port}'}", f"user-agent: {user_agent}"]
    if endpoint.compress:
        lines.append("accept-encoding: gzip")
    return "\r\n".join(lines)


async def _whole_body(connection: Connection, head: Head, where: str) -> bytes:
    parts = []
    total = 0
    async for part in _chunks(connection, head, where, bytes_max=INFLATED_BYTES_MAX):
        parts.append(part)
        total += len(part)
        if total > ANSWER_BYTES_MAX:
            raise BadAnswer(where, f"the answer has more than {ANSWER_BYTES_MAX} bytes; ask for pages with a limit")
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _chunks(connection: Connection, head: Head, where: str, bytes_max: int | None) -> AsyncGenerator[bytes, None]:
    """The body as it comes, unpacked. `bytes_max` bounds what a compressed one unpacks to."""
    inflater = _inflater(head, where, bytes_max)
    while chunk := await connection.read():
        if inflater is None:
            yield chunk
            continue
        try:
            for piece in inflater.feed(chunk):
                yield piece
        except Bomb as cause:
            raise BadAnswer(where, f"the compressed answer {cause}") from cause
    if inflater is not None and not inflater.is_complete():
        raise Interrupted(where, "the compressed answer ended too early")


def _inflater(head: Head, where: str, bytes_max: int | None) -> Inflater | None:
    encoding = head.headers.get("content-encoding", "identity")
    if encoding == "identity":
        return None
    if encoding != "gzip":
        raise BadAnswer(where, f"the answer is encoded as {encoding!r}, which nobody asked for")
    return Inflater(bytes_max=bytes_max)


_conforms: type[Transport] = HttpTransport
