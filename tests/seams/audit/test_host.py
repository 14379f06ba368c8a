"""The cluster's side of the audit seam: batches that arrive, and what happens to those that do not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.audit.auditor import Auditor
from hardpoint.apiserver.audit.webhook import WebhookBackend
from hardpoint.apiserver.server import ApiServer
from hardpoint.machinery.errors import Unavailable
from hardpoint.seams.audit.contract import EVENT_HEAD
from hardpoint.seams.audit.host import Sending, WebhookSink, event_list
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api
from tests.apiserver.audit.auditing import policy
from tests.seams.webhooks import answering, guest

Json = dict[str, Any]
AT_ONCE = Sending(batch_max=1, wait_seconds=0.0, first_backoff_seconds=0.0, per_second=1e6, burst=1000)


def line(number: int, size: int = 0) -> bytes:
    return EVENT_HEAD + orjson.dumps({"auditID": f"id-{number}", "userAgent": "x" * size})[1:]


class Guest:
    """Takes batches, or does as `manner` says."""

    def __init__(self, manner: Callable[[int], None] = lambda _: None) -> None:
        self.batches: list[list[str]] = []
        self.attempts = 0
        self.came = asyncio.Event()
        self.is_open = asyncio.Event()
        self.is_open.set()
        self._manner = manner

    async def tell(self, obj: bytes, *, patience_seconds: float) -> None:
        self.attempts += 1
        self.came.set()
        await self.is_open.wait()
        self._manner(self.attempts)
        self.batches.append([event["auditID"] for event in orjson.loads(obj)["items"]])

    async def close(self) -> None:
        """There is nothing to close."""


def refusing(times: int) -> Callable[[int], None]:
    def refuse(attempt: int) -> None:
        if attempt <= times:
            raise Unavailable("audit", "guest", "answered 503")

    return refuse


def test_in_a_list_events_do_not_say_what_they_are() -> None:
    assert orjson.loads(event_list([line(1), line(2)])) == {
        "kind": "EventList",
        "apiVersion": "audit.k8s.io/v1",
        "metadata": {},
        "items": [{"auditID": "id-1", "userAgent": ""}, {"auditID": "id-2", "userAgent": ""}],
    }


async def test_a_batch_that_is_not_taken_comes_again() -> None:
    told = Guest(refusing(2))
    sink = WebhookSink(told, AT_ONCE)
    async with sink.running():
        sink.put(line(1))
        while not told.batches:
            told.came.clear()
            await told.came.wait()
            await asyncio.sleep(0)
    assert (told.batches, told.attempts, sink.lost()) == ([["id-1"]], 3, 0)


async def test_after_a_few_attempts_it_is_given_up_and_counted() -> None:
    told = Guest(refusing(100))
    sink = WebhookSink(told, Sending(batch_max=2, first_backoff_seconds=0.0))
    async with sink.running():
        sink.put(line(1))
        sink.put(line(2))
        while told.attempts < 5:
            told.came.clear()
            await told.came.wait()
    assert (told.batches, told.attempts, sink.lost()) == ([], 5, 2)


async def test_at_the_end_there_is_one_attempt() -> None:
    told = Guest(refusing(100))
    sink = WebhookSink(told, Sending())
    async with sink.running():
        sink.put(line(1))
    assert (told.attempts, sink.lost()) == (1, 1)


async def test_what_does_not_fit_is_lost_and_nobody_waits() -> None:
    told = Guest()
    told.is_open.clear()
    sink = WebhookSink(told, Sending(buffer_max=3, batch_max=100))
    async with sink.running():
        for number in range(10):
            sink.put(line(number))
        assert sink.lost() == 7
        told.is_open.set()
    assert told.batches == [["id-0", "id-1", "id-2"]]


async def test_a_batch_too_large_is_split() -> None:
    told = Guest()
    sink = WebhookSink(told, Sending(batch_bytes_max=1000))
    async with sink.running():
        for number, size in enumerate([400, 400, 400, 5000, 10]):
            sink.put(line(number, size))
    assert told.batches == [["id-0", "id-1"], ["id-2"], ["id-3"], ["id-4"]]


@pytest.mark.parametrize(
    ("status", "is_taken"), [(200, True), (204, True), (307, False), (400, False), (429, False), (503, False)]
)
async def test_over_a_real_connection_only_a_yes_is_a_yes(tmp_path: Path, status: int, is_taken: bool) -> None:
    async with guest(answering(status), tmp_path, seam="audit") as (server, webhook):
        sink = WebhookSink(webhook)
        assert await sink.send_now(line(1)) is is_taken
    assert orjson.loads(server.asked[0].body)["items"] == [{"auditID": "id-1", "userAgent": ""}]
    assert sink.lost() == (not is_taken)


@pytest.mark.parametrize(("mode", "status"), [("batch", 200), ("blocking", 200), ("blocking-strict", 500)])
async def test_a_guest_that_is_away_costs_no_request_unless_that_is_wanted(mode: Any, status: int) -> None:
    told = Guest(refusing(10_000))
    backend = WebhookBackend(WebhookSink(told, Sending(first_backoff_seconds=0.0)), mode=mode)
    auditor = Auditor(policy("level: Metadata, verbs: [list]"), [backend])
    async with auditor.running(), ApiServer(MemoryStore(), auditor=auditor).running() as server:
        api = Api(server)
        assert (await api.send("GET", "/api/v1/namespaces")).status == status
        assert (await api.send("GET", "/readyz")).status == 200
    assert backend.lost() >= 1


async def test_a_guest_that_hangs_holds_up_nobody() -> None:
    told = Guest()
    told.is_open.clear()
    backend = WebhookBackend(WebhookSink(told, AT_ONCE), mode="batch")
    auditor = Auditor(policy("level: Metadata"), [backend])
    async with auditor.running(), ApiServer(MemoryStore(), auditor=auditor).running() as server:
        async with asyncio.timeout(5):
            for _ in range(50):
                await Api(server).ok("GET", "/api/v1/namespaces")
        told.is_open.set()
    assert backend.lost() == 0
