"""Connections that nobody should make: too many, too slow, half closed, never read. Others must not notice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.chaos.process import Server, running
from tests.chaos.wire import LOST, Json, Wire

MAPS = "/api/v1/namespaces/default/configmaps"
OPEN_FILES_MAX = 256
FLOOD = 400
ABUSERS = 30
PATIENCE_SECONDS = 5.0
"""Far more than an answer takes, even on a busy machine; far less than any of our limits."""
HEAD = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" % MAPS.encode()


@asynccontextmanager
async def good_client(server: Server) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """A client that was there first: calling it writes, and sees what it wrote on a watch it has had all along."""
    wire, watching = await Wire.open(server), await Wire.open(server)
    events = watching.watch(f"{MAPS}?watch=1&fieldSelector=metadata.name%3Dgood")
    body: Json = {"metadata": {"name": "good"}, "data": {"turn": "0"}}
    assert (await wire.ask("POST", MAPS, body)).status == 201
    assert (await anext(events))["type"] == "ADDED"

    async def turn() -> None:
        body["data"]["turn"] = str(int(body["data"]["turn"]) + 1)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await wire.ask("PUT", f"{MAPS}/good", body)).status == 200
            assert (await anext(events))["object"]["data"] == body["data"]

    try:
        yield turn
    finally:
        wire.cut()
        watching.cut()


async def wait_until_answered(server: Server) -> None:
    """A new client gets through, at the latest after a while."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                wire = await Wire.open(server)
            except LOST:
                await asyncio.sleep(0.05)
                continue
            assert (await wire.ask("GET", "/readyz")).status == 200
            wire.cut()
            return


async def test_more_connections_than_files(tmp_path: Path) -> None:
    async with running(Server(tmp_path, open_files_max=OPEN_FILES_MAX)) as server, good_client(server) as turn:
        flood = [await asyncio.open_connection(server.host, server.port) for _ in range(FLOOD)]
        for _ in range(20):
            await turn()
        before, started = server.cpu_seconds(), time.monotonic()
        await asyncio.sleep(1)  # What it does while nothing happens is what is measured.
        busy = (server.cpu_seconds() - before) / (time.monotonic() - started)
        assert busy < 0.5, f"it spends {busy:.0%} of a core on connections it cannot accept"
        for _, writer in flood:
            _abort(writer)
        await wait_until_answered(server)
        await turn()


async def silent(_: asyncio.StreamWriter) -> None:
    """Finish the handshake, say nothing."""


async def slow_head(writer: asyncio.StreamWriter) -> None:
    for byte in HEAD * 100:
        writer.write(bytes([byte]))
        await asyncio.sleep(0.01)


async def slow_body(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"Content-Length: 1000000\r\n\r\n{")
    while True:
        writer.write(b" ")
        await asyncio.sleep(0.01)


async def tiny_chunks(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\n \r\n" * 200)
        await asyncio.sleep(0.01)


async def half_closed(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"Content-Length: 1000000\r\n\r\n{")
    # TLS has no half-closed connections; below it there are.
    writer.get_extra_info("socket").shutdown(1)


async def endless_pipeline(writer: asyncio.StreamWriter) -> None:
    """Ask and ask, and never read an answer."""
    writer.transport.pause_reading()  # type: ignore[attr-defined]  # a read transport as well
    while True:
        writer.write(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
        # The client must not be the one that is too busy.
        await asyncio.sleep(0.02)
        await writer.drain()


async def nonsense(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(bytes(range(256)) * 64)
        await writer.drain()


Abuse = Callable[[asyncio.StreamWriter], Awaitable[None]]


@pytest.mark.parametrize(
    "abuse",
    [silent, slow_head, slow_body, tiny_chunks, half_closed, endless_pipeline, nonsense],
    ids=lambda abuse: abuse.__name__,
)
async def test_others_do_not_notice(server: Server, abuse: Abuse) -> None:
    async with good_client(server) as turn:
        try:
            async with asyncio.TaskGroup() as tasks:
                abusers = [tasks.create_task(_abuse(server, abuse)) for _ in range(ABUSERS)]
                for _ in range(10):
                    await turn()
                await wait_until_answered(server)
                for abuser in abusers:
                    abuser.cancel()
        finally:
            wire = await Wire.open(server)
            await wire.ask("DELETE", f"{MAPS}/good")
            wire.cut()


async def _abuse(server: Server, abuse: Abuse) -> None:
    try:
        reader, writer = await asyncio.open_connection(server.host, server.port, ssl=server.tls)
    except LOST:
        return
    try:
        await abuse(writer)
        await reader.read()
    except (*LOST, TimeoutError):
        return  # The server put an end to it.
    finally:
        _abort(writer)


async def test_connections_that_never_speak_tls(server: Server) -> None:
    async with AsyncExitStack() as stack, good_client(server) as turn:
        for opening in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01", b"\0" * 600):
            for _ in range(ABUSERS):
                _, writer = await asyncio.open_connection(server.host, server.port)
                stack.callback(_abort, writer)
                writer.write(opening)
        for _ in range(10):
            await turn()
        await wait_until_answered(server)
    wire = await Wire.open(server)
    await wire.ask("DELETE", f"{MAPS}/good")
    wire.cut()


def _abort(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


STALLED = 30
WRITES, WRITE_BYTES = 300, 200_000
GROWTH_BYTES_MAX = 128 << 20


async def test_watchers_that_never_read_cost_little(tmp_path: Path) -> None:
    """60 MB happen in front of 30 watchers that take nothing: memory is bounded, and the others see everything."""
    async with running(Server(tmp_path)) as server, good_client(server) as turn:
        stalled = [await _stalled_watch(server) for _ in range(STALLED)]
        wire = await Wire.open(server)
        body: Json = {"metadata": {"name": "large"}, "data": {"value": ""}}
        assert (await wire.ask("POST", MAPS, body)).status == 201
        before = server.resident_bytes()
        for number in range(WRITES):
            body["data"]["value"] = f"{number}".ljust(WRITE_BYTES, "x")
            assert (await wire.ask("PUT", f"{MAPS}/large", body)).status == 200
            if number % 30 == 0:
                await turn()
        growth = server.resident_bytes() - before
        print(
            f"{STALLED} watchers that take nothing of {WRITES * WRITE_BYTES >> 20} MiB: {growth >> 20} MiB more memory"
        )
        assert growth < GROWTH_BYTES_MAX
        wire.cut()
        for writer in stalled:
            _abort(writer)


@pytest.mark.chaos
async def test_watchers_that_never_read_are_dropped(tmp_path: Path) -> None:
    async with running(Server(tmp_path)) as server, good_client(server) as turn:
        stalled = [await _stalled_watch(server) for _ in range(STALLED)]
        wire = await Wire.open(server)
        body: Json = {"metadata": {"name": "large"}, "data": {"value": "x" * 900_000}}
        for number in range(20):
            body["metadata"]["name"] = f"large-{number}"
            assert (await wire.ask("POST", MAPS, body)).status == 201
        async with asyncio.timeout(60):
            while _connections(server) > 10:
                await turn()
                await asyncio.sleep(1)
        wire.cut()
        for writer in stalled:
            _abort(writer)


async def _stalled_watch(server: Server) -> asyncio.StreamWriter:
    reader, writer = await asyncio.open_connection(server.host, server.port, ssl=server.tls, limit=1024)
    writer.write(f"GET {MAPS}?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    writer.transport.pause_reading()  # type: ignore[attr-defined]  # a read transport as well
    return writer


def _connections(server: Server) -> int:
    """How many sockets the server has open, besides the one it listens on."""
    return sum(_is_socket(link) for link in Path(f"/proc/{server.pid}/fd").iterdir()) - 1


def _is_socket(link: Path) -> bool:
    try:
        return str(link.readlink()).startswith("socket:")
    except OSError:
        return False
