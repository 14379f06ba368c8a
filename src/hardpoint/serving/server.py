"""All connections: listen, look at them now and then, stop."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from types import TracebackType

from hardpoint.machinery.messages import Handler
from hardpoint.serving.connection import Connection
from hardpoint.serving.limits import Limits
from hardpoint.serving.peers import Peers

log = logging.getLogger(__name__)

BACKLOG = 1024
GOODBYE_SECONDS = 0.5
"""How long a stopping server waits for peers to notice that their connection is being closed."""
KEEPALIVE_SECONDS = 60
"""When a silent peer is asked whether it is still there, so that watches of machines that vanished end."""


async def serve(
    handler: Handler,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    bound: socket.socket | None = None,
    ssl_context: ssl.SSLContext | None,
    limits: Limits | None = None,
    peers: Peers | None = None,
) -> HttpServer:
    """Listen on `host` and `port` (0: any free one), or on a socket `bound` before, and hand requests to `handler`.

    Without an `ssl_context` it is plain HTTP, which is for what anybody on the machine may know.
    `peers` tells whose client certificates count for what; by default each that `ssl_context` lets pass is a user's.
    Raises OSError if that is not possible.
    """
    server = HttpServer(handler, limits or Limits(), peers or Peers())
    await server.listen(bound or bind(host, port), ssl_context)
    return server


def bind(host: str, port: int) -> socket.socket:
    """A socket for `serve`, so that the port is known, and taken, before there is anything to serve. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit these.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if hasattr(socket, "TCP_KEEPIDLE"):
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, KEEPALIVE_SECONDS)
        bound.bind((host, port))
        # Two servers may be bound to one port until one of them listens.
        bound.listen(BACKLOG)
    except BaseException:
        bound.close()
        raise
    return bound


def bind_or_any(host: str, port: int | None, usual: int) -> socket.socket:
    """A socket on `port`; if none is asked for, on the usual one, or on any if that is taken. Raises OSError."""
    try:
        return bind(host, usual if port is None else port)
    except OSError as cause:
        if cause.errno == errno.EADDRINUSE and port is None:
            return bind(host, 0)
        raise


class HttpServer:
    """A listening server. Leaving it as a context manager stops it."""

    def __init__(self, handler: Handler, limits: Limits, peers: Peers) -> None:
        self.handler = handler
        self.limits = limits
        self.peers = peers
        self.port = 0
        self._connections: set[Connection] = set()
        self._is_stopping = False
        self._unsettled: set[Connection] = set()
        """Those that still have, or may get, something to answer; a write can outlive its connection."""
        self._all_left = asyncio.Event()
        self._all_left.set()
        self._all_settled = asyncio.Event()
        self._all_settled.set()

    async def listen(self, bound: socket.socket, ssl_context: ssl.SSLContext | None) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self, loop),
            sock=bound,
            ssl=ssl_context,
            ssl_handshake_timeout=self.limits.handshake_seconds if ssl_context else None,
            ssl_shutdown_timeout=self.limits.stall_seconds if ssl_context else None,
            backlog=BACKLOG,
        )
        self.port = bound.getsockname()[1]
        self._sweeper = loop.create_task(self._sweep(), name="connection sweeper")

    async def stop(self, *, grace_seconds: float = 10.0) -> None:
        """Accept no more, end streams, answer what has begun, close; after the grace, cut off the rest. Idempotent."""
        self._is_stopping = True
        self._server.close()
        for connection in list(self._connections):
            connection.end()
        if not await _set_within(self._all_settled, grace_seconds):
            log.warning("requests cut off at stop", extra={"requests": len(self._unsettled)})
        elif await _set_within(self._all_left, GOODBYE_SECONDS):
            self._sweeper.cancel()
            return
        for connection in list(self._connections | self._unsettled):
            connection.abort()
        await self._all_settled.wait()
        await self._all_left.wait()
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
        self._unsettled.add(connection)
        self._all_left.clear()
        self._all_settled.clear()
        return has_room

    def settle(self, connection: Connection) -> None:
        self._unsettled.discard(connection)
        if not self._unsettled:
            self._all_settled.set()

    def leave(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._all_left.set()

    async def _sweep(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(self.limits.sweep_seconds)
            now = loop.time()
            for connection in list(self._connections):
                connection.look(now)


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
