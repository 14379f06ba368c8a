"""Anything may be sent: every answer is an answer, and the server has nothing to be ashamed of in its log."""

from __future__ import annotations

import asyncio
import gzip
import logging
import random
import re
import time
from contextlib import suppress
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.kinds import builtin, by_kind
from hardpoint.machinery.messages import Peer, Request, Response, User
from hardpoint.store.memory import MemoryStore
from tests.chaos.requests import TABLE, Author, Sent
from tests.chaos.seed_objects import SEEDS

PARTS = 4
REQUESTS, REQUESTS_LONG = 20_000, 240_000
SECONDS_MAX = 2.0
STREAM_SECONDS = 0.005
EXCUSES = {
    500: "resourceVersion should not be set on objects to be created",
    503: "no endpoints available for service|no node agent is attached",
    504: "request did not complete within the allotted timeout",
}
"""What kube-apiserver answers too: the first is how it says no, the others are true."""
PEER = Peer("127.0.0.1:1", User("admin", ("system:masters",)))


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(PARTS))
async def test_no_request_is_a_defect(
    part: int, chance: random.Random, is_long: bool, caplog: pytest.LogCaptureFixture
) -> None:
    author = Author(chance)
    accepted = 0
    async with ApiServer(MemoryStore()).running() as server:
        for _ in range((REQUESTS_LONG if is_long else REQUESTS) // PARTS):
            kind, sent = author.write()
            response = await judged(server, sent)
            assert not shameful(caplog), f"{sent} left this in the log:\n{caplog.text}"
            if response.status < 300 and kind is not None and sent.method in ("POST", "PUT", "PATCH"):
                accepted += 1
                if response.content_type == "application/json" and "/" not in sent.path.partition(kind.plural + "/")[2]:
                    author.learn(kind, response.body)
        print(f"{accepted} writes accepted")
        await everything_can_still_be_read(server)


@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed["kind"])
async def test_the_seeds_are_good(seed: dict[str, Any]) -> None:
    """Damage to objects that are refused anyway would get nowhere."""
    kind = by_kind(seed["apiVersion"], seed["kind"])
    assert kind is not None
    async with ApiServer(MemoryStore()).running() as server:
        root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
        path = f"{root}/namespaces/default/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
        named = {**seed, "metadata": {"name": "a", **seed.get("metadata", {})}}
        sent = Sent("POST", path, "", {"content-type": "application/json"}, orjson.dumps(named))
        response = await judged(server, sent)
    assert response.status == 201, response.body.decode()


async def judged(server: ApiServer, sent: Sent) -> Response:
    """The answer, which must come soon and must not be the server's fault."""
    started = time.perf_counter()
    response = await server.handle(Request(sent.method, sent.path, sent.query, dict(sent.headers), sent.body, PEER))
    seconds = time.perf_counter() - started
    assert is_excused(response), f"{sent}\nwas answered {response.status} {response.body!r}"
    assert seconds < SECONDS_MAX, f"{sent}\ntook {seconds:.1f} s"
    if response.stream is not None:
        await _taste(response)
    elif response.content_type == "application/json" and response.body and not _is_zipped(response):
        orjson.loads(response.body)
    return response


async def everything_can_still_be_read(server: ApiServer) -> None:
    """Nothing that was stored is poison for whoever lists it, in any form."""
    forms = ("application/json", TABLE, "application/yaml", "application/vnd.kubernetes.protobuf")
    for kind in builtin():
        if "list" in kind.verbs:
            root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
            for accept in forms:
                listed = await judged(server, Sent("GET", f"{root}/{kind.plural}", "", {"accept": accept}, b""))
                assert listed.status in (200, 406), f"{kind.plural} as {accept}: {listed.status} {listed.body.decode()}"


def is_excused(response: Response) -> bool:
    if response.status < 500:
        return True
    words = gzip.decompress(response.body) if _is_zipped(response) else response.body
    return re.search(EXCUSES.get(response.status, "$^"), words.decode(errors="replace")) is not None


def shameful(caplog: pytest.LogCaptureFixture) -> bool:
    return any(record.levelno >= logging.ERROR or record.exc_info for record in caplog.records)


async def _taste(response: Response) -> None:
    """Begin to take a stream, and go."""
    assert response.stream is not None
    with suppress(TimeoutError, StopAsyncIteration):
        async with asyncio.timeout(STREAM_SECONDS):
            for _ in range(3):
                await anext(response.stream)
    await response.stream.aclose()  # type: ignore[attr-defined]  # our streams are generators


def _is_zipped(response: Response) -> bool:
    return any(name == "Content-Encoding" for name, _ in response.headers)
