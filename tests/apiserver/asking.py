"""A real API server to ask: in-process, over a store in memory or on disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import orjson

from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.messages import Peer, Request, Response, User

Json = dict[str, Any]

ADMIN = User("admin", ("system:masters",))


class Api:
    """An API server seen by one user."""

    def __init__(self, server: ApiServer, user: User | None = ADMIN) -> None:
        self.server = server
        self._peer = Peer("127.0.0.1:1", user)

    def as_user(self, user: User | None) -> Api:
        return Api(self.server, user)

    async def send(
        self, method: str, url: str, body: Any = None, *, content_type: str = "application/json", **headers: str
    ) -> Response:
        """The raw answer; keyword `accept_encoding` is the header accept-encoding."""
        path, _, query = url.partition("?")
        data = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if data:
            named["content-type"] = content_type
        return await self.server.handle(Request(method, path, query, named, data, self._peer))

    async def ask(self, method: str, url: str, body: Any = None, **headers: str) -> tuple[int, Json]:
        """The status and the JSON of an answer."""
        response = await self.send(method, url, body, **headers)
        return response.status, orjson.loads(response.body)

    async def ok(self, method: str, url: str, body: Any = None, **headers: str) -> Json:
        """The JSON of an answer that must be a yes."""
        status, answer = await self.ask(method, url, body, **headers)
        assert status < 300, answer
        return answer

    @asynccontextmanager
    async def watching(self, url: str, **headers: str) -> AsyncIterator[AsyncIterator[Json]]:
        """The events of a watch, one by one."""
        response = await self.send("GET", url, **headers)
        assert response.stream is not None, response.body
        async with aclosing(response.stream) as chunks:  # type: ignore[type-var] # our streams are generators
            yield _events(chunks)


async def _events(chunks: AsyncIterator[bytes]) -> AsyncIterator[Json]:
    async for chunk in chunks:
        for line in chunk.splitlines():
            yield orjson.loads(line)
