"""A client that is nothing but a TLS socket and HTTP/1.1 by hand: it retries nothing and hides nothing."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import orjson

from tests.chaos.process import Server

Json = dict[str, Any]

LOST = (OSError, asyncio.IncompleteReadError, ssl.SSLError)
"""What is raised when a connection ends early: whatever was asked may or may not have happened."""

_LINE_BYTES_MAX = 16 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Json:
        found: Json = orjson.loads(self.body)
        return found


class Wire:
    """One connection, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, server: Server, tls: ssl.SSLContext | None = None) -> Wire:
        return cls(
            *await asyncio.open_connection(server.host, server.port, ssl=tls or server.tls, limit=_LINE_BYTES_MAX)
        )

    async def ask(
        self, method: str, path: str, body: bytes | Json = b"", *, content_type: str = "application/json", **more: str
    ) -> Answer:
        """Ask and wait for the whole answer. Keyword `accept_encoding` is the header accept-encoding."""
        self.send(method, path, body, content_type=content_type, **more)
        return await self.answer(has_body=method != "HEAD")

    def send(
        self, method: str, path: str, body: bytes | Json = b"", *, content_type: str = "application/json", **more: str
    ) -> None:
        content = body if isinstance(body, bytes) else orjson.dumps(body)
        headers = {
            "Host": "test",
            "Content-Length": str(len(content)),
            **({"Content-Type": content_type} if body else {}),
        }
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        self.writer.write("\r\n".join(lines).encode() + content)

    async def answer(self, *, has_body: bool = True) -> Answer:
        """The next answer on this connection. Raises one of LOST if there is none."""
        status, headers = await self._head()
        if not has_body:
            return Answer(status, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            return Answer(status, headers, b"".join([chunk async for chunk in self._chunks()]))
        return Answer(status, headers, await self.reader.readexactly(int(headers["content-length"])))

    async def watch(self, path: str) -> AsyncIterator[Json]:
        """The events of a watch until it ends properly. Raises one of LOST if it ends otherwise."""
        self.send("GET", path)
        status, headers = await self._head()
        if status != 200:
            refused = await self.reader.readexactly(int(headers["content-length"]))
            raise AssertionError(f"the watch was refused: {status} {refused.decode()}")
        rest = b""
        async for chunk in self._chunks():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield orjson.loads(line)

    def cut(self) -> None:
        """Drop the connection without a word."""
        self.writer.transport.abort()

    async def _head(self) -> tuple[int, dict[str, str]]:
        head = await self.reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").rstrip().split("\r\n")
        pairs = (line.partition(":") for line in lines)
        return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)
