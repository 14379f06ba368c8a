"""Conversion webhooks that misbehave: whoever needs them is refused in words, everybody else is served meanwhile."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.custom import reaching
from hardpoint.apiserver.server import ApiServer
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.custom.converting import Converting, Twist, address, addresses, converting, definition
from tests.apiserver.custom.samples import define
from tests.hostile.liveliness import staying_lively

Json = dict[str, Any]

PATIENCE_SECONDS = 20.0
AT_ONCE = 20


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with ApiServer(MemoryStore()).running() as server:
        yield Api(server)


@pytest.fixture
async def converter(api: Api, tmp_path: Path) -> AsyncIterator[Converting]:
    async with converting(tmp_path) as found:
        await define(api, definition(found.url))
        yield found


def changed(**response: Any) -> Twist:
    return lambda review: {**review, "response": {**review["response"], **response}}


def with_object(**parts: Any) -> Twist:
    def twist(review: Json) -> Json:
        review["response"]["convertedObjects"] = [each | parts for each in review["response"]["convertedObjects"]]
        return review

    return twist


def deeper(review: Json) -> bytes:
    return orjson.dumps(review).replace(b'"host":"h"', b'"host":' + b"[" * 100_000 + b"]" * 100_000)


ANSWERS: dict[str, tuple[Twist, str]] = {
    # Everybody waited while sixteen megabytes of nothing were read, once for each who asked.
    "sixteen megabytes of empty lists": (lambda _: b"[" + b"[]," * 5_000_000 + b"[]]", "answered more than"),
    "thirty megabytes": (lambda _: b" " * 30_000_000, "answered more than"),
    "another question's answer": (changed(uid="other"), "expected response.uid="),
    "no objects": (changed(convertedObjects=[]), "returned 0 objects, expected 1"),
    "another kind": (with_object(kind="Secret"), "invalid"),
    "another name": (with_object(metadata={"name": "b", "namespace": "default"}), "must have the same"),
    "no object at all": (changed(convertedObjects=["x"]), "invalid"),
    "depth": (deeper, "is not JSON"),
    "something compressed": (lambda review: gzip.compress(orjson.dumps(review)), "is not JSON"),
    "a redirect": (lambda _: 307, "status code 307"),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_converter_that_answers_with(api: Api, converter: Converting, name: str) -> None:
    twist, words = ANSWERS[name]
    await api.ok("POST", addresses("v1"), address())
    converter.twist = twist
    async with asyncio.timeout(PATIENCE_SECONDS), staying_lively():
        status, refused = await api.ask("GET", addresses("v2", "a"))
        assert (await api.ok("GET", addresses("v1", "a")))["spec"] == {"hostPort": "h:1"}
    assert status == 500
    assert words in refused["message"]


async def test_hosts_that_nobody_finds_take_no_threads_of_others(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever names a host whose name server never answers took all threads, also those that write the audit log."""
    ended, asked = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def dawdle(host: str, port: int, *, type: int, flags: int = 0) -> Any:
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "a name")
        loop.call_soon_threadsafe(asked.set)
        asyncio.run_coroutine_threadsafe(ended.wait(), loop).result()
        raise socket.gaierror(socket.EAI_NONAME, "nobody")

    monkeypatch.setattr(reaching.socket, "getaddrinfo", dawdle)
    await define(api, definition("https://slow.example/convert"))
    await api.ok("POST", addresses("v1"), address())
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as tasks:
        asking = [tasks.create_task(api.ask("GET", addresses("v2", "a"))) for _ in range(AT_ONCE)]
        await asked.wait()
        assert await asyncio.to_thread(lambda: "here") == "here"
        ended.set()
    for each in asking:
        status, refused = each.result()
        assert status == 500
        assert "lookup slow.example" in refused["message"]
