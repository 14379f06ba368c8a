"""The HTTP transport against a real server that misbehaves."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.client import connection, http, transport
from hardpoint.client.credentials import FixedCredentials, Proof
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.http import HttpTransport
from hardpoint.client.inflate import PIECE_BYTES, Bomb, Inflater
from hardpoint.client.transport import BadAnswer, Closed, Interrupted, TimedOut, Unreachable

from .scripted import Asked, Reply, scripted


async def echo(asked: Asked, reply: Reply) -> None:
    await reply.answer(f"{asked.method} {asked.target} {asked.connection} ".encode() + asked.body)


async def test_requests_share_a_connection_and_keep_their_content() -> None:
    async with scripted(echo) as server, HttpTransport(server.endpoint) as client:
        first = await client.request("GET", "/a", "b=c")
        second = await client.request("POST", "/d", body=b"body")
    assert (first.status, first.body) == (200, b"GET /a?b=c 1 ")
    assert second.body == b"POST /d 1 body"
    assert first.headers["content-type"] == "application/json"


async def test_requests_at_once_use_connections_of_their_own_within_the_bound() -> None:
    async with scripted(echo) as server, HttpTransport(server.endpoint, requests_max=4) as client:
        answers = await asyncio.gather(*(client.request("GET", f"/{number}") for number in range(50)))
        assert [answer.body.split()[1] for answer in answers] == [b"/%d" % number for number in range(50)]
        assert server.connections <= 4


async def test_what_goes_with_every_request() -> None:
    async with scripted(echo) as server:
        end = server.endpoint
        proof = Proof((("authorization", "Bearer t"), ("impersonate-group", "a"), ("impersonate-group", "b")))
        credentials = FixedCredentials(proof)
        wanted = Endpoint("http", end.host, end.port, prefix="/k8s/c1", credentials=credentials)
        async with HttpTransport(wanted, user_agent="me/1") as client:
            await client.request("POST", "/api", headers={"accept": "application/json"})
    (asked,) = server.asked
    assert asked.target == "/k8s/c1/api"
    assert asked.headers == [
        ("host", f"127.0.0.1:{server.port}"),
        ("user-agent", "me/1"),
        ("accept-encoding", "gzip"),
        ("accept", "application/json"),
        ("authorization", "Bearer t"),
        ("impersonate-group", "a"),
        ("impersonate-group", "b"),
        ("content-length", "0"),
    ]


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        pytest.param("/a b", {}, id="blank"),
        pytest.param("/a\r\nevil: yes", {}, id="line break in the path"),
        pytest.param("/ä", {}, id="not ASCII"),
        pytest.param("/a", {"accept": "x\r\nevil: yes"}, id="line break in a header"),
    ],
)
async def test_nothing_breaks_out_of_its_line(path: str, headers: dict[str, str]) -> None:
    async with scripted(echo) as server, HttpTransport(server.endpoint) as client:
        with pytest.raises(ValueError):
            await client.request("GET", path, headers=headers)
        assert (await client.request("GET", "/fine")).status == 200
    assert len(server.asked) == 1


async def test_interim_answers_are_passed_over() -> None:
    async def hint(asked: Asked, reply: Reply) -> None:
        await reply.send(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
        await reply.answer(b"real")

    async with scripted(hint) as server, HttpTransport(server.endpoint) as client:
        answer = await client.request("GET", "/")
        assert (answer.status, answer.body, "link" in answer.headers) == (200, b"real", False)
        assert (await client.request("GET", "/")).body == b"real"
        assert server.connections == 1


async def test_answers_without_a_body_and_answers_that_end_with_the_connection() -> None:
    async def script(asked: Asked, reply: Reply) -> None:
        if asked.target == "/304":
            await reply.send(b"HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n")
        else:
            await reply.send(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
            reply.close()

    async with scripted(script) as server, HttpTransport(server.endpoint) as client:
        assert (await client.request("GET", "/304")).status == 304
        assert (await client.request("GET", "/")).body == b"until the end"
        assert (await client.request("GET", "/304")).status == 304
        assert server.connections == 2


async def test_an_answer_to_head_has_a_length_and_no_body() -> None:
    async def script(asked: Asked, reply: Reply) -> None:
        if asked.method == "HEAD":
            await reply.send(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")
        else:
            await reply.answer(b"body")

    async with scripted(script) as server, HttpTransport(server.endpoint) as client:
        answer = await client.request("HEAD", "/")
        assert (answer.headers["content-length"], answer.body) == ("10", b"")
        assert (await client.request("GET", "/")).body == b"body"


async def test_refused_credentials_are_told_so() -> None:
    class Renewing:
        tokens = 1

        async def proof(self) -> Proof:
            return Proof((("authorization", f"Bearer {self.tokens}"),))

        def refused(self, proof: Proof) -> None:
            self.tokens += 1

    async def script(asked: Asked, reply: Reply) -> None:
        await reply.answer(status=200 if asked.header("authorization") == "Bearer 3" else 401)

    async with scripted(script) as server:
        end = Endpoint("http", "127.0.0.1", server.port, credentials=Renewing())
        async with HttpTransport(end) as client:
            assert (await client.request("GET", "/")).status == 401
            async with client.stream("GET", "/") as stream:
                assert stream.status == 401
            assert (await client.request("GET", "/")).status == 200


async def test_a_closed_client_opens_nothing_any_more() -> None:
    async with scripted(echo) as server, HttpTransport(server.endpoint) as client:
        await client.request("GET", "/")
        await client.close()
        await server.wait_until_open(0)
        with pytest.raises(Closed, match="the client was closed"):
            await client.request("GET", "/")
        await server.wait_until_open(0)


async def test_a_header_that_comes_twice_is_joined() -> None:
    async def script(asked: Asked, reply: Reply) -> None:
        await reply.answer(headers='Warning: 299 - "a"\r\nWARNING: 299 - "b"\r\n')

    async with scripted(script) as server, HttpTransport(server.endpoint) as client:
        assert (await client.request("GET", "/")).headers["warning"] == '299 - "a", 299 - "b"'


@pytest.mark.parametrize(
    ("said", "error"),
    [
        pytest.param(b"", Interrupted, id="nothing"),
        pytest.param(b"HTTP/1.1 200", Interrupted, id="half a head"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf", Interrupted, id="half a body"),
        pytest.param(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nha", Interrupted, id="half a chunk"),
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n\r\n", BadAnswer, id="another protocol"),
        pytest.param(b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", BadAnswer, id="bad length"),
        pytest.param(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", BadAnswer, id="bad chunk"),
        pytest.param(b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n", BadAnswer, id="upgrade"),
        pytest.param(
            b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * connection.HEADER_BYTES_MAX, BadAnswer, id="endless header"
        ),
        pytest.param(
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n" + b"x: y\r\n" * 100_000,
            BadAnswer,
            id="endless trailers",
        ),
    ],
)
async def test_a_broken_answer_is_named_and_its_connection_thrown_away(said: bytes, error: type[Exception]) -> None:
    async def script(asked: Asked, reply: Reply) -> None:
        if asked.target == "/fine":
            await reply.answer()
            return
        await reply.send(said)
        if error is Interrupted:
            reply.cut()

    async with scripted(script) as server, HttpTransport(server.endpoint) as client:
        with pytest.raises(error, match=rf"http://127\.0\.0\.1:{server.port}"):
            await client.request("GET", "/")
        assert (await client.request("GET", "/fine")).status == 200
        assert server.connections == 2


async def test_what_comes_after_an_answer_is_never_taken_for_the_next_one() -> None:
    async def script(asked: Asked, reply: Reply) -> None:
        await reply.answer(b"right")
        if asked.connection == 1:
            await reply.answer(b"smuggled")

    async with scripted(script) as server, HttpTransport(server.endpoint) as client:
        assert (await client.request("GET", "/")).body == b"right"
        assert (await client.request("GET", "/")).body == b"right"


async def test_a_server_that_dawdles_is_given_up() -> None:
    async def dawdle(asked: Asked, reply: Reply) -> None:
        await reply.send(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf")
        await reply.say_nothing_until_the_client_leaves()

    async with scripted(dawdle) as server, HttpTransport(server.endpoint, patience_seconds=0.1) as client:
        with pytest.raises(TimedOut, match=r"GET /slow: no complete answer within 0\.1 s"):
            await client.request("GET", "/slow")
        await server.wait_until_open(0)


async def test_cancelling_a_request_closes_its_connection() -> None:
    begun = asyncio.Event()

    async def dawdle(asked: Asked, reply: Reply) -> None:
        begun.set()
        await reply.say_nothing_until_the_client_leaves()

    async with scripted(dawdle) as server, HttpTransport(server.endpoint) as client:
        asking = asyncio.create_task(client.request("GET", "/"))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await server.wait_until_open(0)


async def test_nobody_there() -> None:
    async with scripted(echo) as server:
        gone = server.endpoint
    async with HttpTransport(gone) as client:
        with pytest.raises(Unreachable, match="no connection: "):
            await client.request("GET", "/")


async def test_leaving_a_stream_early_closes_its_connection() -> None:
    async def endless(asked: Asked, reply: Reply) -> None:
        await reply.start_chunks()
        await reply.chunk(b"one\n")
        await reply.say_nothing_until_the_client_leaves()

    async with scripted(endless) as server, HttpTransport(server.endpoint) as client:
        async with client.stream("GET", "/") as stream:
            assert await anext(stream.chunks) == b"one\n"
        await server.wait_until_open(0)


async def test_a_stream_read_to_its_end_leaves_its_connection_for_others() -> None:
    async def short(asked: Asked, reply: Reply) -> None:
        await reply.start_chunks()
        await reply.chunk(b"one")
        await reply.chunk(b"two")
        await reply.end_chunks()

    async with scripted(short) as server, HttpTransport(server.endpoint) as client:
        for _ in range(2):
            async with client.stream("GET", "/") as stream:
                assert b"".join([chunk async for chunk in stream.chunks]) == b"onetwo"
        assert server.connections == 1


async def test_a_slow_reader_slows_the_server_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUFFER_BYTES_HIGH", 64 * 1024)
    chunk = b"x" * 64 * 1024
    sent = 0

    async def flood(asked: Asked, reply: Reply) -> None:
        nonlocal sent
        await reply.start_chunks()
        for _ in range(1000):
            await reply.chunk(chunk)
            sent += 1
        await reply.end_chunks()

    async with scripted(flood) as server, HttpTransport(server.endpoint) as client:
        async with client.stream("GET", "/") as stream:
            await anext(stream.chunks)
            before = -1
            while sent != before:
                before = sent
                await asyncio.sleep(0.05)
            assert sent < 500
            total = sum([len(data) async for data in stream.chunks])
        assert total > 900 * len(chunk)


async def test_compressed_answers_are_unpacked_and_bombs_are_not() -> None:
    fine = gzip.compress(b"[" + b"1234567890," * 50_000 + b"1]")
    bomb = gzip.compress(b"\0" * 70 * 1024 * 1024)

    async def script(asked: Asked, reply: Reply) -> None:
        body = {"/fine": fine, "/cut": fine[:-10], "/bomb": bomb, "/plain": b"not gzip"}[asked.target]
        await reply.answer(body, headers="content-encoding: gzip\r\n")

    async with scripted(script) as server, HttpTransport(server.endpoint) as client:
        assert len((await client.request("GET", "/fine")).body) == 550_003
        with pytest.raises(Interrupted, match="ended too early"):
            await client.request("GET", "/cut")
        with pytest.raises(BadAnswer, match="unpacks to more than 100 times its size"):
            await client.request("GET", "/bomb")
        with pytest.raises(BadAnswer, match="the compressed answer is not gzip"):
            await client.request("GET", "/plain")


async def test_an_encoding_nobody_asked_for_is_refused() -> None:
    async def script(asked: Asked, reply: Reply) -> None:
        await reply.answer(b"x", headers="content-encoding: br\r\n")

    async with scripted(script) as server, HttpTransport(server.endpoint) as client:
        with pytest.raises(BadAnswer, match="encoded as 'br'"):
            await client.request("GET", "/")


async def test_an_answer_too_large_to_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "ANSWER_BYTES_MAX", 1000)

    async def script(asked: Asked, reply: Reply) -> None:
        await reply.answer(b"x" * 2000)

    async with scripted(script) as server, HttpTransport(server.endpoint) as client:
        with pytest.raises(BadAnswer, match="more than 1000 bytes; ask for pages"):
            await client.request("GET", "/")


def members(data: bytes, cuts: list[int]) -> bytes:
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return b"".join(gzip.compress(data[start:end]) for start, end in pairwise(bounds))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=2000), st.lists(st.integers(0, 2000), max_size=4), st.integers(1, 64))
def test_any_members_in_any_chunks_unpack_to_the_same(data: bytes, cuts: list[int], step: int) -> None:
    packed = members(data, cuts)
    inflater = Inflater()
    chunks = [packed[start : start + step] for start in range(0, len(packed), step)]
    assert b"".join(piece for chunk in chunks for piece in inflater.feed(chunk)) == data
    assert inflater.is_complete()


def test_an_inflater_never_holds_more_than_a_piece_and_stops_at_its_bounds() -> None:
    packed = gzip.compress(b"\0" * 3 * 1024 * 1024)
    pieces: list[bytes] = []
    with pytest.raises(Bomb, match="100 times"):
        pieces.extend(Inflater().feed(packed))
    assert max(map(len, pieces)) <= PIECE_BYTES
    with pytest.raises(Bomb, match="more than 10 bytes"):
        list(Inflater(bytes_max=10).feed(gzip.compress(b"x" * 11)))
    with pytest.raises(Bomb, match="not gzip"):
        list(Inflater().feed(zlib.compress(b"x")))


async def test_the_whole_of_a_stream_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "ANSWER_BYTES_MAX", 5)

    async def chunks() -> AsyncIterator[bytes]:
        yield b"123"
        yield b"456"

    with pytest.raises(BadAnswer):
        await transport.whole(transport.Stream(200, {}, chunks()), "here")
