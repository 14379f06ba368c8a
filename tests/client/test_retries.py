"""Which requests are asked again: client-go's rules."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import pytest

from hardpoint.client.http import HttpTransport
from hardpoint.client.retries import RETRIES_MAX, Retrying
from hardpoint.client.transport import Answer, Interrupted, Stream, TimedOut, TransportError, Unreachable

from .scripted import Asked, Reply, scripted

Outcome = Answer | TransportError


def answer(status: int, retry_after: str | None = None) -> Answer:
    return Answer(status, {} if retry_after is None else {"retry-after": retry_after}, b"")


class Playing:
    """A transport that plays what a test wrote down, the last line for ever."""

    def __init__(self, *outcomes: Outcome) -> None:
        self._outcomes = list(outcomes)
        self.tries = 0
        self.streams_open = 0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        outcome = self._outcomes[min(self.tries, len(self._outcomes) - 1)]
        self.tries += 1
        if isinstance(outcome, TransportError):
            raise outcome
        return outcome

    @asynccontextmanager
    async def stream(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> AsyncIterator[Stream]:
        found = await self.request(method, path)
        assert self.streams_open == 0, "a refused stream is closed before the next one is opened"
        self.streams_open += 1
        try:
            yield Stream(found.status, found.headers, _nothing())
        finally:
            self.streams_open -= 1

    async def close(self) -> None:
        pass


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""


CUT = Interrupted("server", "cut")


@pytest.mark.parametrize(
    ("method", "first", "slept"),
    [
        pytest.param("GET", answer(429, "3"), [3.0], id="too many requests"),
        pytest.param("POST", answer(429, "1"), [1.0], id="any method, for the server did nothing"),
        pytest.param("POST", answer(503, "0"), [0.0], id="away, back at once"),
        pytest.param("GET", CUT, [0.05], id="a GET that was cut"),
        pytest.param("GET", answer(429), None, id="no Retry-After"),
        pytest.param("GET", answer(404, "1"), None, id="not a passing trouble"),
        pytest.param("GET", answer(503, "Fri, 31 Dec 1999 23:59:59 GMT"), None, id="a date"),
        pytest.param("GET", answer(503, "-1"), None, id="a negative number"),
        pytest.param("GET", answer(503, "86400"), None, id="tomorrow"),
        pytest.param("POST", CUT, None, id="a POST that was cut may have happened"),
        pytest.param("GET", Unreachable("server", "refused"), None, id="nobody there"),
        pytest.param("GET", TimedOut("server", "slow"), None, id="out of time"),
    ],
)
async def test_what_is_asked_again(method: str, first: Outcome, slept: list[float] | None) -> None:
    playing = Playing(first, answer(200))
    client = Retrying(playing, sleep=playing.sleep)
    if slept is None and isinstance(first, TransportError):
        with pytest.raises(type(first)):
            await client.request(method, "/")
    else:
        assert (await client.request(method, "/")).status == (first.status if slept is None else 200)
    assert playing.slept == (slept or [])


async def test_ten_retries_then_the_last_word_counts() -> None:
    playing = Playing(answer(429, "1"))
    assert (await Retrying(playing, sleep=playing.sleep).request("GET", "/")).status == 429
    assert (playing.tries, len(playing.slept)) == (1 + RETRIES_MAX, RETRIES_MAX)
    playing = Playing(CUT)
    with pytest.raises(Interrupted):
        await Retrying(playing, sleep=playing.sleep).request("GET", "/")
    assert playing.tries == 1 + RETRIES_MAX
    assert max(playing.slept) <= 1.0


async def test_a_stream_is_asked_for_again_until_it_begins() -> None:
    playing = Playing(answer(429, "2"), CUT, answer(200))
    async with Retrying(playing, sleep=playing.sleep).stream("GET", "/") as stream:
        assert stream.status == 200
    assert playing.slept == [2.0, 0.1]
    playing = Playing(answer(200))
    with pytest.raises(Interrupted):
        async with Retrying(playing, sleep=playing.sleep).stream("GET", "/"):
            raise CUT
    assert (playing.tries, playing.streams_open) == (1, 0)


async def test_a_restarting_server_is_not_noticed_by_readers() -> None:
    async def script(asked: Asked, reply: Reply) -> None:
        if asked.connection <= 3:
            reply.cut()
        else:
            await reply.answer(b"back")

    async with scripted(script) as server, HttpTransport(server.endpoint) as plain:
        assert (await Retrying(plain).request("GET", "/")).body == b"back"
