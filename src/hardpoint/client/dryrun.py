"""A transport whose writes are none: whatever is sent, the server is told to go all the way but the last step.

It is said here and not where a write is made, so that no write can be forgotten.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import orjson

from hardpoint.client.transport import Answer, Stream, Transport

_READS = frozenset(("GET", "HEAD", "OPTIONS"))
_SAID = "dryRun=All"


class DryRun:
    """Carries reads as they are, and writes as dry runs. Closing it closes what carries them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        query, body = _pretended(method, query, body)
        return await self._transport.request(method, path, query, headers, body)

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> AsyncIterator[Stream]:
        query, body = _pretended(method, query, body)
        async with self._transport.stream(method, path, query, headers, body) as stream:
            yield stream

    async def close(self) -> None:
        await self._transport.close()


def _pretended(method: str, query: str, body: bytes) -> tuple[str, bytes]:
    if method in _READS:
        return query, body
    if method == "DELETE" and body:
        # Options in the body of a delete make the server pass over those in its query.
        body = orjson.dumps({**orjson.loads(body), "dryRun": ["All"]})
    if _SAID in query.split("&"):
        return query, body
    return (f"{query}&{_SAID}" if query else _SAID), body


_conforms: type[Transport] = DryRun
