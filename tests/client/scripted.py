"""A real HTTP server on a real socket that does what a test tells it: answer, dawdle, cut, send nonsense."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from hardpoint.client.endpoint import Endpoint


@dataclass(slots=True)
class Asked:
    """One request, as the server saw it."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    connection: int

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


class Reply:
    """The server's end of the wire."""

    def __init__(self, writer: asyncio.StreamWriter, reader: asyncio.StreamReader) -> None:
        self._writer = writer
        self._reader = reader

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self, body: bytes = b"{}", *, status: int = 200, headers: str = "") -> None:
        head = f"HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n{headers}"
        await self.send(head.encode() + b"\r\n" + body)

    async def start_chunks(self, *, headers: str = "") -> None:
        await self.send(f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n{headers}\r\n".encode())

    async def chunk(self, data: bytes) -> None:
        # An empty chunk would be the last one.
        if data:
            await self.send(b"%x\r\n%s\r\n" % (len(data), data))

    async def end_chunks(self) -> None:
        await self.send(b"0\r\n\r\n")

    async def say_nothing_until_the_client_leaves(self) -> None:
        await self._reader.read(1)

    def cut(self) -> None:
        """Reset the connection, in the middle of whatever it is."""
        self._writer.transport.abort()

    def close(self) -> None:
        """End the connection politely."""
        self._writer.close()


Script = Callable[[Asked, Reply], Awaitable[None]]


@dataclass(slots=True)
class Scripted:
    """A running server, what it was asked, and how many connections it has seen and has now."""

    script: Script
    port: int = 0
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint("http", "127.0.0.1", self.port, compress=True)

    async def wait_until_open(self, count: int) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: self.open == count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        await self._count(1)
        number = self.connections
        try:
            while (asked := await _read(reader, number)) is not None:
                self.asked.append(asked)
                await self.script(asked, Reply(writer, reader))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            await self._count(-1)

    async def _count(self, by: int) -> None:
        async with self.changed:
            self.open += by
            self.changed.notify_all()


async def _read(reader: asyncio.StreamReader, connection: int) -> Asked | None:
    try:
        block = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = block.decode("latin-1").rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = [(name.lower(), value) for name, _, value in (line.partition(": ") for line in lines)]
    asked = Asked(method, target, headers, b"", connection)
    asked.body = await reader.readexactly(int(asked.header("content-length") or 0))
    return asked


@asynccontextmanager
async def scripted(script: Script, *, context: ssl.SSLContext | None = None) -> AsyncIterator[Scripted]:
    state = Scripted(script)
    server = await asyncio.start_server(state._serve, "127.0.0.1", 0, ssl=context)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()
        async with asyncio.timeout(5):
            await state.wait_until_open(0)
