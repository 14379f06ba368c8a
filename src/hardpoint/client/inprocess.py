"""Requests without sockets: they go straight to a handler in the same process, and take its whole walk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager

from hardpoint.client.http import PATIENCE_SECONDS
from hardpoint.client.transport import Answer, Stream, TimedOut, Transport, whole
from hardpoint.machinery.messages import IN_PROCESS, Handler, Peer, Request, Response, User

WHERE = IN_PROCESS


class InProcessTransport:
    """Asks `handler` as `user`, whom the handler knows as it knows the owner of a verified client certificate."""

    def __init__(
        self,
        handler: Handler,
        user: User,
        *,
        user_agent: str = "hardpoint",
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self._handler = handler
        self._user_agent = user_agent
        self._peer = Peer(WHERE, certificate=user)
        self._patience_seconds = patience_seconds

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        try:
            async with asyncio.timeout(self._patience_seconds):
                response = await self._ask(method, path, query, headers, body)
                if response.stream is None:
                    return Answer(response.status, _headers(response), response.body)
                async with _closing(response.stream) as chunks:
                    return await whole(Stream(response.status, _headers(response), chunks), WHERE)
        except TimeoutError as cause:
            where = f"{WHERE}: {method} {path}"
            raise TimedOut(where, f"no complete answer within {self._patience_seconds:g} s") from cause

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> AsyncIterator[Stream]:
        try:
            async with asyncio.timeout(self._patience_seconds):
                response = await self._ask(method, path, query, headers, body)
        except TimeoutError as cause:
            raise TimedOut(f"{WHERE}: {method} {path}", f"no answer within {self._patience_seconds:g} s") from cause
        source = response.stream if response.stream is not None else _once(response.body)
        async with _closing(source) as chunks:
            yield Stream(response.status, _headers(response), chunks)

    async def close(self) -> None:
        """There is nothing to release: the handler belongs to whoever made it."""

    async def _ask(
        self, method: str, path: str, query: str, headers: Mapping[str, str] | None, body: bytes
    ) -> Response:
        lowered = {"user-agent": self._user_agent}
        lowered |= {name.lower(): value for name, value in (headers or {}).items()}
        return await self._handler(Request(method, path, query, lowered, body, self._peer))


def _headers(response: Response) -> dict[str, str]:
    headers = {"content-type": response.content_type}
    for name, value in response.headers:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


async def _once(body: bytes) -> AsyncIterator[bytes]:
    if body:
        yield body


@asynccontextmanager
async def _closing(chunks: AsyncIterator[bytes]) -> AsyncIterator[AsyncIterator[bytes]]:
    """A handler's generator is told at once that nobody listens any more, as a closed socket would tell it."""
    try:
        yield chunks
    finally:
        if isinstance(chunks, AsyncGenerator):
            await chunks.aclose()


_conforms: type[Transport] = InProcessTransport
