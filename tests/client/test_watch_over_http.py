"""Watches over real sockets: cut anywhere, refused, forgotten, silent, compressed."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.client.client import Client
from hardpoint.client.events import INITIAL_EVENTS_END, Event
from hardpoint.client.http import HttpTransport
from hardpoint.client.resources import Resource
from hardpoint.client.retries import Retrying
from hardpoint.client.transport import Closed
from hardpoint.client.watch import Pace
from hardpoint.machinery import errors

from .scripted import Asked, Reply, Scripted, scripted

PODS = Resource("v1", "pods", "Pod")
LAST = 40


def pod(revision: int) -> dict[str, Any]:
    metadata = {"name": f"pod-{revision}", "uid": str(revision), "resourceVersion": str(revision)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}


def line(kind: str, content: dict[str, Any]) -> bytes:
    return orjson.dumps({"type": kind, "object": content}) + b"\n"


@dataclass
class Pods:
    """One pod was created at each revision up to LAST; a watch delivers so many bytes and is cut."""

    cuts: list[int] = field(default_factory=list)
    refusals: list[bytes] = field(default_factory=list)
    errors: list[bytes] = field(default_factory=list)

    async def answer(self, asked: Asked, reply: Reply) -> None:
        query = dict(parse_qsl(urlsplit(asked.target).query))
        if self.refusals:
            await reply.send(self.refusals.pop(0))
            return
        body = self._body(query)
        await reply.start_chunks()
        if self.cuts:
            await reply.chunk(body[: self.cuts.pop(0)])
            reply.cut()
            return
        await reply.chunk(body)
        await reply.say_nothing_until_the_client_leaves()

    def _body(self, query: dict[str, str]) -> bytes:
        if "resourceVersion" in query and self.errors:
            return self.errors.pop(0)
        after = int(query.get("resourceVersion", 0))
        lines = [line("ADDED", pod(revision)) for revision in range(after + 1, LAST + 1)]
        if "sendInitialEvents" in query:
            end = {"resourceVersion": str(LAST), "annotations": {INITIAL_EVENTS_END: "true"}}
            lines.append(line("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": end}))
        return b"".join(lines)


async def no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def watching(pods: Pods, **pace: Any) -> AsyncIterator[tuple[Client, Scripted]]:
    async with scripted(pods.answer) as server:
        transport = Retrying(HttpTransport(server.endpoint), sleep=no_wait)
        async with Client(transport, pace=Pace(sleep=no_wait, **pace)) as client:
            yield client, server


async def read(events: AsyncIterator[Event], count: int) -> list[str]:
    async with asyncio.timeout(5):
        return [f"{event.type} {event.resource_version}" for event in [await anext(events) for _ in range(count)]]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 6000), max_size=6))
async def test_every_event_comes_once_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    async with watching(Pods(list(cuts))) as (client, _), client.watch(PODS, resource_version="0") as events:
        assert await read(events, LAST) == [f"ADDED {revision}" for revision in range(1, LAST + 1)]
    wanted = [*(f"ADDED {revision}" for revision in range(1, LAST + 1)), f"SYNCED {LAST}"]
    async with watching(Pods(list(cuts))) as (client, _), client.list_then_watch(PODS) as events:
        assert await read(events, LAST + 1) == wanted


async def test_a_busy_server_is_asked_again_when_it_said() -> None:
    busy = b"HTTP/1.1 429 Busy\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
    async with watching(Pods(refusals=[busy, busy])) as (client, server), client.list_then_watch(PODS) as events:
        await read(events, LAST + 1)
    assert len(server.asked) == 3


async def test_a_forgotten_version_is_bridged() -> None:
    gone = line("ERROR", errors.expired("too old resource version: 40 (50)").status())
    pods = Pods(cuts=[100_000], errors=[gone])
    async with watching(pods) as (client, server), client.list_then_watch(PODS) as events:
        assert (await read(events, LAST + 1))[-1] == f"SYNCED {LAST}"
        assert await read(events, 1) == [f"SYNCED {LAST}"], "nothing had changed, so nothing else is told"
    asked = [dict(parse_qsl(urlsplit(request.target).query)) for request in server.asked]
    assert ["sendInitialEvents" in query for query in asked] == [True, False, True]


async def test_a_watch_from_a_forgotten_version_says_so() -> None:
    gone = line("ERROR", errors.expired("too old resource version: 1 (50)").status())
    async with watching(Pods(errors=[gone])) as (client, _), client.watch(PODS, resource_version="1") as events:
        with pytest.raises(errors.ApiError, match="too old resource version") as raised:
            await anext(events)
    assert raised.value.reason == "Expired"


async def test_a_silent_connection_is_given_up_and_replaced() -> None:
    async with watching(Pods(), idle_seconds_max=0.05) as (client, server):
        async with client.watch(PODS, resource_version=str(LAST)) as events:
            reading = asyncio.ensure_future(anext(events))
            async with asyncio.timeout(5), server.changed:
                await server.changed.wait_for(lambda: server.connections >= 3)
            reading.cancel()
            await asyncio.wait((reading,))
        await server.wait_until_open(0)


async def test_leaving_a_watch_closes_its_connection_and_no_other() -> None:
    async with watching(Pods()) as (client, server):
        async with client.list_then_watch(PODS) as stays:
            await read(stays, 1)
            async with client.list_then_watch(PODS) as leaves:
                await read(leaves, 1)
                await server.wait_until_open(2)
            await server.wait_until_open(1)
            assert await read(stays, 1) == ["ADDED 2"]
        await server.wait_until_open(0)


@pytest.mark.parametrize("follows", [True, False])
async def test_closing_the_client_ends_its_watches(follows: bool) -> None:
    async with watching(Pods()) as (client, server):
        opened = client.list_then_watch(PODS) if follows else client.watch(PODS, resource_version="0")
        async with opened as events:
            await read(events, LAST)
            await client.close()
            with pytest.raises(Closed, match="the client was closed"):
                await read(events, 2)
        await server.wait_until_open(0)


async def test_a_compressed_watch_comes_event_by_event() -> None:
    async def flush_by_flush(asked: Asked, reply: Reply) -> None:
        await reply.start_chunks(headers="content-encoding: gzip\r\n")
        for revision in (1, 2, 3):
            member = zlib.compressobj(wbits=31)
            await reply.chunk(member.compress(line("ADDED", pod(revision))) + member.flush())
        await reply.say_nothing_until_the_client_leaves()

    async with (
        scripted(flush_by_flush) as server,
        Client(HttpTransport(server.endpoint)) as client,
        client.watch(PODS, resource_version="0") as events,
    ):
        assert await read(events, 3) == ["ADDED 1", "ADDED 2", "ADDED 3"]
