"""Real sockets, real TLS: what a client gets to hear."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import AsyncIterator

import orjson
import pytest

from hardpoint.machinery.messages import Request, Response
from hardpoint.serving import Limits
from hardpoint.serving.certificates import Pki
from tests.serving.talking import Talk, echo, get, post, serving, talking

SHORT = Limits(
    head_seconds=0.2,
    idle_seconds=0.2,
    body_grace_seconds=0.2,
    stall_seconds=0.2,
    linger_seconds=0.1,
    body_bytes_max=100_000,
)

PATIENT = SHORT._replace(stall_seconds=1.0)
"""For clients that take 20 MiB in a little longer than this, and never rest for so long on a busy machine."""


async def test_one_connection_many_requests(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        for number in range(3):
            talk.say(post(f"/{number}", b"body", "Connection: keep-alive"))
            answer = await talk.hear()
            assert (answer.status, answer.body) == (200, f"POST /{number}? body".encode())


async def test_pipelined_requests_are_answered_in_order(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    gate = asyncio.Event()

    async def handler(request: Request) -> Response:
        if request.path == "/0":
            await gate.wait()
        return await echo(request)

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(b"".join(get(f"/{number}") for number in range(100)))
        gate.set()
        for number in range(100):
            assert (await talk.hear()).body == f"GET /{number}? ".encode()
        talk.say(get("/after"))
        assert (await talk.hear()).body == b"GET /after? "


async def test_a_large_body_goes_both_ways(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    body = bytes(range(256)) * (3 * 4096)
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(post("/", body))
        assert (await talk.hear()).body == b"POST /? " + body


async def test_head_has_no_body(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(b"HEAD /a HTTP/1.1\r\nHost: h\r\n\r\n" + get("/b"))
        assert (await talk.hear(to="HEAD")).headers["content-length"] == "9"
        assert (await talk.hear()).body == b"GET /b? "


async def test_continue_is_said_before_the_body(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        talk.say(get("/first") + head)
        assert (await talk.hear()).body == b"GET /first? "
        assert (await talk.hear()).status == 100
        talk.say(b"ok")
        assert (await talk.hear()).body == b"POST /? ok"


async def test_continue_is_not_said_to_a_body_too_large(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3145729\r\nExpect: 100-continue\r\n\r\n")
        assert (await talk.hear()).status == 413


@pytest.mark.parametrize(
    ("request_head", "kept"),
    [
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", False),
    ],
)
async def test_the_connection_after_the_answer(
    request_head: bytes, kept: bool, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(request_head)
        answer = await talk.hear()
        assert answer.status == 200
        if kept:
            talk.say(request_head)
            assert (await talk.hear()).status == 200
        else:
            assert answer.headers["connection"] == "close"
            assert await talk.hear_end() == b""


async def test_an_unknown_method_reaches_the_handler(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(b"BREW /pot HTTP/1.1\r\nHost: h\r\n\r\n")
        assert (await talk.hear()).body == b"BREW /pot? "


async def test_a_body_too_large(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(post("/", b"x" * (3 * 1024 * 1024 + 1)))
        answer = await talk.hear()
        status = orjson.loads(answer.body)
        assert (answer.status, status["code"], status["reason"]) == (413, 413, "RequestEntityTooLarge")
        assert status["message"] == "Request entity too large: limit is 3145728"
        assert answer.headers["connection"] == "close"
        assert await talk.hear_end() == b""


async def test_a_body_too_large_behind_a_request_that_takes_a_while(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    """The refusal waits for its turn, and is not lost to a reset although the client goes on sending."""
    began, proceed = asyncio.Event(), asyncio.Event()

    async def handler(request: Request) -> Response:
        began.set()
        await proceed.wait()
        return await echo(request)

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/slow") + post("/", b"x" * 8_000_000))
        await began.wait()
        proceed.set()
        assert (await talk.hear()).body == b"GET /slow? "
        assert (await talk.hear()).status == 413


async def test_headers_too_large(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/", "X: " + "x" * 1_200_000))
        answer = await talk.hear()
        assert (answer.status, answer.body) == (431, b"431 Request Header Fields Too Large")


async def test_a_bad_request_is_answered_after_the_good_ones(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/good") + b"GET /bad HTTP/1.1\nHost: h\n\n" + get("/never"))
        assert (await talk.hear()).body == b"GET /good? "
        bad = await talk.hear()
        assert (bad.status, bad.body, bad.headers["connection"]) == (400, b"400 Bad Request", "close")
        assert await talk.hear_end() == b""


async def test_a_handler_that_raises_costs_one_answer(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext, caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(request: Request) -> Response:
        if request.path == "/bug":
            raise RuntimeError("secret detail")
        return await echo(request)

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/bug"))
        answer = await talk.hear()
        assert orjson.loads(answer.body)["reason"] == "InternalError"
        assert answer.status == 500
        assert b"secret" not in answer.body
        talk.say(get("/fine"))
        assert (await talk.hear()).status == 200
    assert [record.message for record in caplog.records] == ["request failed"]
    assert caplog.records[0].exc_info is not None


async def test_a_client_is_who_its_certificate_says(
    pki: Pki, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext, admin_tls: ssl.SSLContext
) -> None:
    seen: list[Request] = []

    async def handler(request: Request) -> Response:
        seen.append(request)
        return Response(200)

    async with serving(handler, server_tls) as server:
        for tls in (admin_tls, client_tls):
            async with talking(server.port, tls) as talk:
                talk.say(get("/") + get("/"))
                await talk.hear()
                await talk.hear()
    admin, nobody = seen[0].peer.certificate, seen[2].peer.certificate
    assert admin is not None
    assert (admin.name, admin.groups) == ("hardpoint-admin", ("system:masters",))
    encoded = ssl.PEM_cert_to_DER_cert(pki.certificate("admin").read_text())
    identity = f"X509SHA256={hashlib.sha256(encoded).hexdigest()}"
    assert admin.extra == {"authentication.kubernetes.io/credential-id": (identity,)}
    assert nobody is None
    assert seen[0].peer is seen[1].peer
    assert seen[0].peer.address.startswith("127.0.0.1:")


# Streams.


async def test_a_stream_arrives_as_it_is_made(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    pieces: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def stream() -> AsyncIterator[bytes]:
        while (piece := await pieces.get()) is not None:
            yield piece

    async def handler(request: Request) -> Response:
        if request.path == "/watch":
            return Response(200, stream=stream(), headers=[("X", "y")])
        return await echo(request)

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/watch"))
        head = await talk.hear_head()
        assert (head.headers["transfer-encoding"], head.headers["x"]) == ("chunked", "y")
        pieces.put_nowait(b"one\n")
        assert await talk.hear_chunk() == b"one\n"
        for piece in (b"two\n", b"", b"three\n"):
            pieces.put_nowait(piece)
        assert await talk.hear_chunk() == b"two\nthree\n", "what is ready together leaves together"
        large = b"x" * 100_000
        pieces.put_nowait(large)
        assert await talk.hear_chunk() == large
        pieces.put_nowait(None)
        assert await talk.hear_chunk() == b""
        talk.say(get("/next"))
        assert (await talk.hear()).body == b"GET /next? "


async def test_a_stream_for_http_1_0_ends_with_the_connection(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b"one\n"
        yield b"two\n"

    async def handler(request: Request) -> Response:
        return Response(200, stream=stream())

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        answer = await talk.hear()
        assert "transfer-encoding" not in answer.headers
        assert answer.body == b"one\ntwo\n"


class Watched:
    """A stream that tells what became of it."""

    def __init__(self, piece: bytes = b"") -> None:
        self.piece = piece
        self.sent = 0
        self.started = asyncio.Event()
        self.closed = asyncio.Event()

    async def stream(self) -> AsyncIterator[bytes]:
        self.started.set()
        try:
            while self.piece:
                self.sent += 1
                yield self.piece
            await asyncio.Event().wait()
        finally:
            self.closed.set()

    async def handler(self, request: Request) -> Response:
        return Response(200, stream=self.stream())


async def test_a_stream_ends_when_its_client_goes(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    watched = Watched()
    async with serving(watched.handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        await talk.hear_head()
        await watched.started.wait()
        await talk.hang_up()
        async with asyncio.timeout(5):
            await watched.closed.wait()


async def test_a_client_that_takes_nothing_is_dropped(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    watched = Watched(b"x" * 65536)
    async with serving(watched.handler, server_tls, SHORT) as server, talking(server.port, client_tls) as talk:
        talk.writer.transport.pause_reading()  # type: ignore[attr-defined]
        talk.say(get("/"))
        async with asyncio.timeout(5):
            await watched.closed.wait()
        assert watched.sent < 500, "only what the kernel's buffers hold was produced"


async def take_slowly(talk: Talk) -> int:
    """Read an answer's body, in 1.2 seconds for 20 MiB."""
    head = await talk.hear_head()
    received = 0
    while received < int(head.headers["content-length"]):
        received += len(await talk.reader.readexactly(1 << 20))
        await asyncio.sleep(0.06)
    return received


async def test_a_client_that_takes_its_time_is_not_dropped(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    """Slower than the limit in all, but never idle for so long."""
    body = b"x" * (20 << 20)

    async def handler(request: Request) -> Response:
        return Response(200, body)

    async with serving(handler, server_tls, PATIENT) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        assert await take_slowly(talk) == len(body)


async def test_a_broken_stream_does_not_look_ended(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext, caplog: pytest.LogCaptureFixture
) -> None:
    async def stream() -> AsyncIterator[bytes]:
        yield b"one\n"
        raise RuntimeError("bug")

    async def handler(request: Request) -> Response:
        return Response(200, stream=stream())

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        rest = await talk.hear_end()
        assert not rest.endswith(b"0\r\n\r\n")
    assert [record.message for record in caplog.records] == ["stream failed"]


# Losing the client in the middle of a request.


@pytest.mark.parametrize(("method", "finishes"), [("GET", False), ("POST", True), ("DELETE", True)])
async def test_only_writes_outlive_their_client(
    method: str, finishes: bool, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    began, proceed, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
    finished = []

    async def handler(request: Request) -> Response:
        began.set()
        try:
            await proceed.wait()
            finished.append(request.method)
        finally:
            ended.set()
        return Response(200)

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(f"{method} / HTTP/1.1\r\nHost: h\r\n\r\n".encode())
        await began.wait()
        await talk.hang_up()
        async with asyncio.timeout(5):
            if finishes:
                async with talking(server.port, client_tls):
                    proceed.set()
            await ended.wait()
    assert finished == ([method] if finishes else [])


# Peers that take too long.


async def test_a_quiet_connection_is_closed(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls, SHORT) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        await talk.hear()
        async with asyncio.timeout(5):
            assert await talk.hear_end() == b""


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(b"GET / HT", id="head"),
        pytest.param(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 90000\r\n\r\nx", id="body"),
    ],
)
async def test_a_slow_request_is_refused(start: bytes, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls, SHORT) as server, talking(server.port, client_tls) as talk:
        talk.say(start)
        async with asyncio.timeout(5):
            assert (await talk.hear()).status == 408
            assert await talk.hear_end() == b""


async def test_a_slow_handler_is_nobodys_fault(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async def handler(request: Request) -> Response:
        await asyncio.sleep(4 * SHORT.idle_seconds)
        return await echo(request)

    async with serving(handler, server_tls, SHORT) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        assert (await talk.hear()).status == 200


# Too many.


async def test_one_connection_too_many(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    async with serving(echo, server_tls, Limits(connections_max=1)) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        await talk.hear()
        async with talking(server.port, client_tls) as refused:
            answer = await refused.hear()
            assert (answer.status, answer.headers["connection"]) == (503, "close")
        talk.say(get("/"))
        assert (await talk.hear()).status == 200


# Stopping.


async def test_stopping_answers_what_has_begun(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    began, proceed = asyncio.Event(), asyncio.Event()

    async def handler(request: Request) -> Response:
        began.set()
        await proceed.wait()
        return await echo(request)

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        await began.wait()
        stopping = asyncio.create_task(server.stop())
        await asyncio.sleep(0)
        proceed.set()
        answer = await talk.hear()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        await stopping
        with pytest.raises(OSError, match=r"."):
            await asyncio.open_connection("127.0.0.1", server.port, ssl=client_tls)


async def test_stopping_ends_streams_properly(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    watched = Watched()
    async with serving(watched.handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        await talk.hear_head()
        await watched.started.wait()
        await server.stop()
        assert await talk.hear_chunk() == b"", "the stream has an end, it is not cut"
        assert watched.closed.is_set()


async def test_stopping_does_not_wait_for_idle_connections(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        await talk.hear()
        async with asyncio.timeout(0.4):
            await server.stop()


async def test_stopping_does_not_wait_for_clients_that_do_not_listen(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with serving(echo, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/"))
        await talk.hear()
        talk.writer.transport.pause_reading()  # type: ignore[attr-defined]
        async with asyncio.timeout(2):
            await server.stop()


@pytest.mark.parametrize("asked_to_close", [True, False])
async def test_a_large_answer_is_taken_to_its_end_before_the_connection_closes(
    asked_to_close: bool, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    body = b"x" * (20 << 20)
    answered = asyncio.Event()

    async def handler(request: Request) -> Response:
        answered.set()
        return Response(200, body)

    async with serving(handler, server_tls, PATIENT) as server, talking(server.port, client_tls) as talk:
        talk.say(get("/", "Connection: close" if asked_to_close else "Connection: keep-alive"))
        await answered.wait()
        stopping = None if asked_to_close else asyncio.create_task(server.stop())
        assert await take_slowly(talk) == len(body)
        assert await talk.hear_end() == b""
        if stopping is not None:
            await stopping


async def test_stopping_has_an_end(server_tls: ssl.SSLContext, client_tls: ssl.SSLContext) -> None:
    began = asyncio.Event()

    async def handler(request: Request) -> Response:
        began.set()
        await asyncio.Event().wait()
        return Response(200)

    async with serving(handler, server_tls) as server, talking(server.port, client_tls) as talk:
        talk.say(post("/", b""))
        await began.wait()
        async with asyncio.timeout(5):
            await server.stop(grace_seconds=0.05)
        assert await talk.hear_end() == b""
