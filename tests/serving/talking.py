"""A client that says exactly what it is told to, and a server to say it to."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from hardpoint.machinery.messages import Handler, Request, Response
from hardpoint.serving import HttpServer, Limits, serve


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes
    chunks: list[bytes] = field(default_factory=list)


@dataclass
class Talk:
    """One connection, byte by byte."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def say(self, text: bytes) -> None:
        self.writer.write(text)

    async def hear(self, *, to: str = "GET") -> Answer:
        """The next answer, whole. Fails if the connection ends before it does."""
        answer = await self.hear_head()
        if answer.status == 100 or to == "HEAD" or answer.status in (204, 304):
            return answer
        if answer.headers.get("transfer-encoding") == "chunked":
            while chunk := await self.hear_chunk():
                answer.chunks.append(chunk)
            answer.body = b"".join(answer.chunks)
        elif "content-length" in answer.headers:
            answer.body = await self.reader.readexactly(int(answer.headers["content-length"]))
        else:
            answer.body = await self.reader.read()
        return answer

    async def hear_head(self) -> Answer:
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.split(": ", 1) for line in lines[1:] if line)
        return Answer(int(lines[0].split()[1]), {name.lower(): value for name, value in pairs}, b"")

    async def hear_chunk(self) -> bytes:
        size = int(await self.reader.readline(), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def hear_end(self) -> bytes:
        """Whatever still comes until the server closes."""
        try:
            return await self.reader.read()
        except ConnectionError:
            return b""

    async def hang_up(self) -> None:
        self.writer.transport.abort()


@asynccontextmanager
async def talking(port: int, tls: ssl.SSLContext) -> AsyncIterator[Talk]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, limit=1 << 26)
    try:
        yield Talk(reader, writer)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def serving(
    handler: Handler, server_tls: ssl.SSLContext, limits: Limits | None = None
) -> AsyncIterator[HttpServer]:
    async with await serve(handler, port=0, ssl_context=server_tls, limits=limits) as server:
        yield server


async def echo(request: Request) -> Response:
    """Tells what it was asked."""
    told = f"{request.method} {request.path}?{request.query} ".encode() + request.body
    return Response(200, told, "text/plain")


def get(path: str, *more: str) -> bytes:
    return "\r\n".join((f"GET {path} HTTP/1.1", "Host: h", *more, "", "")).encode()


def post(path: str, body: bytes, *more: str) -> bytes:
    head = "\r\n".join((f"POST {path} HTTP/1.1", "Host: h", f"Content-Length: {len(body)}", *more, "", ""))
    return head.encode() + body
