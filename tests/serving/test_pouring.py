"""Large answers: slice by slice, no faster than they are taken, and everybody hears when they are."""

from __future__ import annotations

import asyncio
import ssl

import pytest

from hardpoint.machinery.messages import Request, Response
from hardpoint.serving import connection
from tests.serving.talking import get, serving, talking

LARGE = bytes(range(256)) * 4_000
HUGE = LARGE * 20
"""More than the buffers of a socket hold."""


class Told:
    """A handler whose answers say when they were taken."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.taken = 0
        self.was_taken = asyncio.Event()

    async def handle(self, request: Request) -> Response:
        return Response(200, b"small" if request.path == "/small" else self._body, taken=self._take)

    def _take(self) -> None:
        self.taken += 1
        self.was_taken.set()


@pytest.mark.parametrize("body", [b"", b"x", LARGE], ids=["empty", "small", "large"])
async def test_an_answer_that_was_taken_is_told_once(
    body: bytes, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    told = Told(body)
    async with serving(told.handle, server_tls) as server, talking(server.port, client_tls) as talk:
        for number in range(3):
            talk.say(get("/"))
            assert (await talk.hear()).body == body
            await told.was_taken.wait()
            assert told.taken == number + 1
            told.was_taken.clear()


async def test_an_answer_that_is_not_taken_is_not_told(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    told = Told(HUGE)
    async with serving(told.handle, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.writer.transport.pause_reading()  # type: ignore[attr-defined]  # Every transport of a socket has it.
        talk.say(get("/"))
        async with talking(server.port, client_tls) as other:
            for _ in range(20):
                other.say(get("/small"))
                assert (await other.hear()).body == b"small"
        assert told.taken == 20
        await talk.hang_up()
        while told.taken < 21:
            told.was_taken.clear()
            await told.was_taken.wait()


async def test_others_get_their_turns_in_between(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SLICE_BYTES", 1024)
    told = Told(LARGE)
    async with (
        serving(told.handle, server_tls) as server,
        talking(server.port, client_tls) as talk,
        talking(server.port, client_tls) as other,
    ):
        talk.say(get("/"))
        await talk.hear_head()
        other.say(get("/small"))
        assert (await other.hear()).body == b"small"
        assert told.taken == 1, "the large answer was still on its way"
        assert await talk.reader.readexactly(len(LARGE)) == LARGE


async def test_head_of_a_large_answer(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    told = Told(LARGE)
    async with serving(told.handle, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/").replace(b"GET", b"HEAD", 1) + get("/small"))
        assert (await talk.hear(to="HEAD")).headers["content-length"] == str(len(LARGE))
        assert (await talk.hear()).body == b"small"
