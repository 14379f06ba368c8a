"""All connections: listen, look at them now and then, stop."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from types import TracebackType

from hardpoint.apiserver.http.connection import Connection
from hardpoint.apiserver.http.limits import Limits
from hardpoint.machinery.messages import Handler

log = logging.getLogger(__name__)

KEEPALIVE_SECONDS = 60
"""When a silent peer is asked whether it is still there, so that watches of machines that vanished end."""


async def serve(
    handler: Handler,
    *,
    host: str,
    port: int,
    ssl_context: ssl.SSLContext,
    limits: Limits | None = None,
) -> HttpServer:
    """Listen on `host` and `port` (0: any free one) and hand requests to `handler` until stopped.

    Raises OSError if that is not possible.
    """
    server = HttpServer(handler, limits or Limits())
    await server.listen(host, port, ssl_context)
    return server


class HttpServer:
    """A listening server. Leaving it as a context manager stops it."""

    def __init__(self, handler: Handler, limits: Limits) -> None:
        self.handler = handler
        self.limits = limits
        self.port = 0
        self._connections: set[Connection] = set()
        self._is_stopping = False
        self._emptied = asyncio.Event()
        self._emptied.set()

    async def listen(self, host: str, port: int, ssl_context: ssl.SSLContext) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self, loop),
            host,
            port,
            ssl=ssl_context,
            ssl_handshake_timeout=self.limits.handshake_seconds,
            ssl_shutdown_timeout=self.limits.handshake_seconds,
            backlog=1024,
        )
        for listening in self._server.sockets:
            # Accepted sockets inherit this.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_SECONDS)
        self.port = self._server.sockets[0].getsockname()[1]
        self._sweeper = loop.create_task(self._sweep(), name="connection sweeper")

    async def stop(self, *, grace_seconds: float = 10.0) -> None:
        """Accept no more, end streams, answer what has begun, and after the grace cut off the rest. Idempotent."""
        self._is_stopping = True
        self._server.close()
        for connection in list(self._connections):
            connection.end()
        try:
            async with asyncio.timeout(grace_seconds):
                await self._emptied.wait()
        except TimeoutError:
            log.warning("requests cut off at stop", extra={"connections": len(self._connections)})
            for connection in list(self._connections):
                connection.abort()
            await self._emptied.wait()
        self._sweeper.cancel()

    async def __aenter__(self) -> HttpServer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def join(self, connection: Connection) -> bool:
        has_room = len(self._connections) < self.limits.connections_max and not self._is_stopping
        self._connections.add(connection)
        self._emptied.clear()
        return has_room

    def leave(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._emptied.set()

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.limits.sweep_seconds)
            now = loop.time()
            for connection in list(self._connections):
                connection.look(now)
