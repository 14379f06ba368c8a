"""A TCP relay between a client and a server, to cut or to deafen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Relay:
    """Passes bytes both ways until told otherwise."""

    def __init__(self, target_port: int) -> None:
        self.port = 0
        self.is_deaf = False
        """Answers are swallowed, while requests still get through."""
        self._target_port = target_port
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def cut(self) -> None:
        """Drop every connection and accept no new one."""
        if self._server:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        target_reader, target_writer = await asyncio.open_connection("127.0.0.1", self._target_port)
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                await asyncio.gather(self._pump(reader, target_writer, False), self._pump(target_reader, writer, True))
        finally:
            self._tasks.discard(task)
            for side in (writer, target_writer):
                side.transport.abort()

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, is_answer: bool) -> None:
        while data := await source.read(65536):
            if not (is_answer and self.is_deaf):
                target.write(data)
                await target.drain()
        raise ConnectionResetError


@asynccontextmanager
async def relay_to(port: int) -> AsyncIterator[Relay]:
    """A relay to this port of the loopback."""
    relay = Relay(port)
    await relay.start()
    try:
        yield relay
    finally:
        await relay.cut()
