"""A real server in the same process, and words to wait for what others do with it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response, User

Json = dict[str, Any]

ADMIN = User("admin", ("system:masters",))
PATIENCE_SECONDS = 20


class Observed:
    """A server. Whoever waits looks again when somebody wrote through `handle`, or when something `happened`."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self._loop = asyncio.get_running_loop()
        self._happened = asyncio.Event()
        self.client = self.another_client()

    def another_client(self, user: User = ADMIN) -> Client:
        return Client.in_process(self.handle, user)

    async def handle(self, request: Request) -> Response:
        response = await self.server.handle(request)
        if request.method != "GET":
            self.happened()
        return response

    def happened(self) -> None:
        """Have those who wait look again."""
        self._happened.set()
        self._happened = asyncio.Event()

    def happened_elsewhere(self) -> None:
        """The same, from another thread."""
        self._loop.call_soon_threadsafe(self.happened)

    async def until(self, holds: Callable[[], Awaitable[Any]]) -> Any:
        """Return what `holds` does once it is true."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                next_time = self._happened
                if found := await holds():
                    return found
                await next_time.wait()

    async def find(self, kind: str, name: str, namespace: str = "default") -> Json | None:
        try:
            return await self.client.get(kind, name, namespace=namespace)
        except ApiError as refused:
            if refused.code != 404:
                raise
            return None
