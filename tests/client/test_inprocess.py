"""The in-process transport: the handler sees what a socket would show it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hardpoint.client.inprocess import InProcessTransport
from hardpoint.client.transport import TimedOut
from hardpoint.machinery.messages import Request, Response, User

ADA = User("ada", ("admins",))


async def test_a_handler_sees_the_whole_request_and_who_asks() -> None:
    seen: list[Request] = []

    async def handle(request: Request) -> Response:
        seen.append(request)
        return Response(201, b"done", "text/plain", [("X-A", "1"), ("x-a", "2")])

    answer = await InProcessTransport(handle, ADA, user_agent="me").request(
        "POST", "/a%20b", "c=d", {"Accept": "x"}, b"body"
    )
    (request,) = seen
    assert (request.method, request.path, request.query, request.body) == ("POST", "/a%20b", "c=d", b"body")
    assert request.headers == {"accept": "x", "user-agent": "me"}
    assert (request.peer.address, request.peer.certificate) == ("in-process", ADA)
    assert (answer.status, answer.body) == (201, b"done")
    assert answer.headers == {"content-type": "text/plain", "x-a": "1, 2"}


async def test_streams_and_bodies_can_be_read_either_way() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"one"
        yield b"two"

    async def handle(request: Request) -> Response:
        return Response(200, stream=chunks()) if request.path == "/stream" else Response(200, b"body")

    client = InProcessTransport(handle, ADA)
    assert (await client.request("GET", "/stream")).body == b"onetwo"
    async with client.stream("GET", "/stream") as stream:
        assert [chunk async for chunk in stream.chunks] == [b"one", b"two"]
    async with client.stream("GET", "/body") as stream:
        assert [chunk async for chunk in stream.chunks] == [b"body"]


@pytest.mark.parametrize("reading", [True, False])
async def test_leaving_or_cancelling_ends_the_handlers_stream(reading: bool) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def chunks() -> AsyncIterator[bytes]:
        try:
            yield b"one"
            began.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def handle(request: Request) -> Response:
        return Response(200, stream=chunks())

    async def read() -> None:
        async with InProcessTransport(handle, ADA).stream("GET", "/") as stream:
            await anext(stream.chunks)
            if reading:
                await anext(stream.chunks)

    task = asyncio.create_task(read())
    if reading:
        await began.wait()
        task.cancel()
    await asyncio.wait((task,))
    assert ended.is_set()


async def test_a_handler_that_dawdles_is_given_up() -> None:
    cancelled = asyncio.Event()

    async def handle(request: Request) -> Response:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return Response(200)

    client = InProcessTransport(handle, ADA, patience_seconds=0.01)
    with pytest.raises(TimedOut, match=r"in-process: GET /a: no complete answer within 0\.01 s"):
        await client.request("GET", "/a")
    assert cancelled.is_set()
    with pytest.raises(TimedOut):
        async with client.stream("GET", "/a"):
            pass
