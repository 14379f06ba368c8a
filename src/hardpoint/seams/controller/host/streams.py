"""What may become of a watch's stream on its way: cut within a line, late, without bookmarks, or over at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

import orjson

from hardpoint.machinery.errors import ApiError

SENT_SECONDS = 0.02
"""How long the beginning of a line gets to reach the other side before the connection ends."""
_BOOKMARK = b'{"type":"BOOKMARK"'
_INITIAL_EVENTS_END = b"k8s.io/initial-events-end"


async def saying(error: ApiError) -> AsyncIterator[bytes]:
    """One ERROR event, and no more."""
    yield orjson.dumps({"type": "ERROR", "object": error.status()}) + b"\n"


async def cut_within_a_line(stream: AsyncIterator[bytes], *, after_events: int) -> AsyncIterator[bytes]:
    """So many events, half of one more, and then nothing: not even an end."""
    async with _lines(stream) as lines:
        told = 0
        async for line in lines:
            if not line:
                yield line
            elif told == after_events:
                yield line[: len(line) // 2]
                await asyncio.sleep(SENT_SECONDS)
                raise asyncio.CancelledError
            else:
                told += 1
                yield line


async def over_at_once(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """A good beginning, and no more."""
    async with _lines(stream):
        yield b""
        await asyncio.sleep(SENT_SECONDS)
        raise asyncio.CancelledError


async def late(stream: AsyncIterator[bytes], seconds: float) -> AsyncIterator[bytes]:
    """Each event a while after it happened, in order, none lost."""
    loop = asyncio.get_running_loop()
    async with _read_ahead(stream) as waiting:
        while (told := await waiting.get()) is not None:
            came, line = told
            if line:
                await asyncio.sleep(max(came + seconds - loop.time(), 0.0))
            yield line


async def without_bookmarks(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """No bookmark but the one that ends the initial events: the others are a courtesy, that one is a promise."""
    async with _lines(stream) as lines:
        async for line in lines:
            if not line.startswith(_BOOKMARK) or _INITIAL_EVENTS_END in line:
                yield line


async def until(stream: AsyncIterator[bytes], is_over: asyncio.Event) -> AsyncIterator[bytes]:
    """The stream, cut off when `is_over` is set."""
    async with _read_ahead(stream, is_over) as waiting:
        while (told := await waiting.get()) is not None:
            yield told[1]
        if is_over.is_set():
            raise asyncio.CancelledError


@asynccontextmanager
async def _lines(stream: AsyncIterator[bytes]) -> AsyncIterator[AsyncIterator[bytes]]:
    """The stream line by line; an empty piece, which sends the headers, stays one."""

    async def split() -> AsyncGenerator[bytes]:
        rest = b""
        async for chunk in stream:
            if not chunk:
                yield chunk
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line + b"\n"

    async with aclosing(split()) as lines:
        try:
            yield lines
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()


@asynccontextmanager
async def _read_ahead(
    stream: AsyncIterator[bytes], is_over: asyncio.Event | None = None
) -> AsyncIterator[asyncio.Queue[tuple[float, bytes] | None]]:
    """The lines of a stream as they come, each with its time, and None at the end: its own, or when `is_over`."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, bytes] | None] = asyncio.Queue()

    async def read() -> None:
        async with _lines(stream) as lines:
            async for line in lines:
                waiting.put_nowait((loop.time(), line))
        waiting.put_nowait(None)

    async def end(event: asyncio.Event) -> None:
        await event.wait()
        waiting.put_nowait(None)

    tasks = [loop.create_task(read(), name="watch")]
    if is_over is not None:
        tasks.append(loop.create_task(end(is_over), name="end of a watch"))
    try:
        yield waiting
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
