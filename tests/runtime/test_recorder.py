"""Events written beside the work, to the real API server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from hardpoint.client.client import Client
from hardpoint.client.inprocess import InProcessTransport
from hardpoint.client.transport import Answer, Interrupted
from hardpoint.runtime.recorder import EVENTS, QUEUED_MAX, EventRecorder
from tests.apiserver.asking import ADMIN, Api
from tests.runtime.simulation import EPOCH, simulate

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "default", "uid": "1"}}


class Unsteady(InProcessTransport):
    """A way to the server that loses answers: after the request was carried out, or before."""

    lost: list[str]

    async def request(
        self, method: str, path: str, query: str = "", headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> Answer:
        how = self.lost.pop(0) if self.lost else ""
        if how == "request":
            raise Interrupted("server", "lost")
        answer = await super().request(method, path, query, headers, body)
        if how == "answer":
            raise Interrupted("server", "lost")
        return answer


def unsteady(api: Api, *lost: str) -> Client:
    transport = Unsteady(api.server.handle, ADMIN)
    transport.lost = list(lost)
    return Client(transport)


async def events(api: Api) -> list[dict[str, Any]]:
    return (await Client.in_process(api.server.handle, ADMIN).list(EVENTS, namespace="default"))["items"]


async def test_leaving_writes_all_that_was_told(api: Api) -> None:
    recorder = EventRecorder(Client.in_process(api.server.handle, ADMIN), "crontabs", "crontabs-0")
    async with recorder.running():
        for _ in range(5):
            recorder.event(POD, "Normal", "Started", "it started")
        recorder.event(POD, "Warning", "Failed", "x" * 5000, action="Restart")
    failed, started = sorted(await events(api), key=lambda event: event["reason"])
    assert started["series"]["count"] == 5
    assert (started["reportingController"], started["reportingInstance"]) == ("crontabs", "crontabs-0")
    assert (failed["action"], len(failed["note"])) == ("Restart", 1024)
    assert "series" not in failed


async def test_a_series_is_one_event_that_is_patched(api: Api) -> None:
    recorder = EventRecorder(Client.in_process(api.server.handle, ADMIN), "crontabs")
    async with recorder.running():
        recorder.event(POD, "Normal", "Started", "it started")
        await recorder._queue.join()
        (first,) = await events(api)
        assert "series" not in first
        recorder.event(POD, "Normal", "Started", "it started")
        await recorder._queue.join()
        (second,) = await events(api)
        assert (second["metadata"]["name"], second["series"]["count"]) == (first["metadata"]["name"], 2)


async def test_an_event_that_expired_is_made_again_with_its_count(api: Api) -> None:
    client = Client.in_process(api.server.handle, ADMIN)
    recorder = EventRecorder(client, "crontabs")
    async with recorder.running():
        recorder.event(POD, "Normal", "Started", "it started")
        await recorder._queue.join()
        await client.delete_collection(EVENTS, namespace="default")
        recorder.event(POD, "Normal", "Started", "it started")
    (event,) = await events(api)
    assert event["series"]["count"] == 2


@pytest.mark.parametrize("lost", [("request", "request"), ("answer",), ("answer", "request", "answer")], ids=str)
async def test_what_gets_lost_is_told_again_and_once(api: Api, lost: tuple[str, ...]) -> None:
    recorder = EventRecorder(unsteady(api, *lost), "crontabs", retry_seconds=0.001)
    async with recorder.running():
        recorder.event(POD, "Normal", "Started", "it started")
        await recorder._queue.join()
        recorder.event(POD, "Normal", "Started", "it started")
    (event,) = await events(api)
    assert event["series"]["count"] == 2


async def test_a_server_that_stays_away_holds_nobody_up(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    recorder = EventRecorder(unsteady(api, *["request"] * 1000), "crontabs", flush_seconds=0.05)
    async with asyncio.timeout(2), recorder.running():
        for number in range(QUEUED_MAX + 100):
            pod = {**POD, "metadata": {"name": f"web-{number}"}}
            recorder.event(pod, "Normal", "Started", "it started")
    assert "events dropped at the end" in caplog.text


@pytest.mark.parametrize(
    ("about", "type", "reason"),
    [({}, "Normal", "Started"), (POD, "Bad", "Started"), (POD, "Normal", ""), ({"metadata": None}, "Normal", "R")],
)
async def test_nonsense_is_dropped_and_not_raised(
    api: Api, about: dict[str, Any], type: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = EventRecorder(Client.in_process(api.server.handle, ADMIN), "crontabs")
    async with recorder.running():
        recorder.event(about, type, reason, "words")
    assert await events(api) == []
    assert "event dropped" in caplog.text


async def test_an_event_the_server_refuses_is_dropped(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    recorder = EventRecorder(Client.in_process(api.server.handle, ADMIN), "not a qualified name")
    async with asyncio.timeout(2), recorder.running():
        recorder.event(POD, "Normal", "Started", "it started")
    assert "event not written" in caplog.text


async def test_threads_may_tell_too(api: Api) -> None:
    recorder = EventRecorder(Client.in_process(api.server.handle, ADMIN), "crontabs")
    async with recorder.running():
        await asyncio.to_thread(recorder.event, POD, "Normal", "Started", "from a thread")
    (event,) = await events(api)
    assert event["note"] == "from a thread"


class Written:
    """A server of two verbs that notes when it is asked what."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, str, int]] = []

    async def create(self, body: dict[str, Any], **_: Any) -> None:
        self._note("create", body)

    async def patch(self, _: Any, __: str, patch: dict[str, Any], **___: Any) -> None:
        self._note("patch", patch)

    def _note(self, verb: str, body: dict[str, Any]) -> None:
        minute = round(asyncio.get_running_loop().time() / 60)
        self.asked.append((minute, verb, body.get("series", {}).get("count", 1)))


def test_a_series_is_told_every_half_hour_and_when_it_is_over() -> None:
    async def world() -> list[tuple[int, str, int]]:
        server, loop = Written(), asyncio.get_running_loop()

        def now() -> datetime:
            return EPOCH + timedelta(seconds=loop.time())

        recorder = EventRecorder(server, "crontabs", now=now)  # type: ignore[arg-type] # it has what is asked of it
        async with recorder.running():
            for _ in range(40):
                recorder.event(POD, "Normal", "Started", "it started")
                await asyncio.sleep(60)
            await asyncio.sleep(3600)
            recorder.event(POD, "Normal", "Started", "it started")
        return server.asked

    assert simulate(world()) == [
        (0, "create", 1),
        (1, "patch", 2),
        (30, "patch", 31),
        (48, "patch", 40),
        (100, "create", 1),
    ]
