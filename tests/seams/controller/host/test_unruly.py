"""The API that misbehaves does so as a correct one may, by plan, and tells what it did."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.client.client import Client
from hardpoint.client.endpoint import find_endpoint
from hardpoint.client.http import HttpTransport
from hardpoint.client.transport import Interrupted
from hardpoint.cluster import fresh_cluster
from hardpoint.machinery.messages import Handler, Peer, Request, Response, User
from hardpoint.seams.controller.host import MARK, Fault, Plan, UnrulyApi, faults, make_pki, reachable, streams

ADMIN = User("somebody", ("system:masters",))
MAPS = "/api/v1/namespaces/default/configmaps"
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": {"k": "1"}}


@pytest.fixture
async def handler() -> AsyncIterator[Handler]:
    async with fresh_cluster() as api:
        yield api


async def ask(api: UnrulyApi, method: str, url: str, body: Any = None) -> Response:
    path, _, query = url.partition("?")
    headers = {"content-type": "application/json"} if body is not None else {}
    content = orjson.dumps(body) if body is not None else b""
    return await api.handle(Request(method, path, query, headers, content, Peer("in-process", ADMIN)))


async def is_cut(asking: Any) -> bool:
    """Whether the answer to this is a cut connection: how a handler asks for it is a cancellation of its own."""
    try:
        await asking
    except asyncio.CancelledError:
        return True
    return False


@pytest.mark.parametrize(
    ("fault", "status", "is_done"),
    [
        pytest.param(faults.TOO_MANY, 429, False, id="429"),
        pytest.param(faults.FAILURES[0], 500, False, id="500 before"),
        pytest.param(faults.FAILURES[1], 503, False, id="503 before"),
        pytest.param(faults.FAILURES_AFTER[0], 500, True, id="500 after"),
        pytest.param(faults.FAILURES_AFTER[1], 504, True, id="504 after"),
        pytest.param(faults.CUTS[0], 0, False, id="cut before"),
        pytest.param(faults.CUTS_AFTER[0], 0, True, id="cut after"),
        pytest.param(faults.SLOW, 201, True, id="slow"),
    ],
)
async def test_a_write_is_done_or_not_as_its_fault_says(
    handler: Handler, fault: Fault, status: int, is_done: bool
) -> None:
    api = UnrulyApi(handler, Plan((fault,)))
    if status:
        assert (await ask(api, "POST", MAPS, MAP)).status == status
    else:
        assert await is_cut(ask(api, "POST", MAPS, MAP))
    client = Client.in_process(handler, ADMIN)
    there = [each["metadata"]["name"] for each in (await client.list("configmaps", namespace="default"))["items"]]
    assert ("a" in there) is is_done
    assert [each.fault for each in api.record.faults()] == [fault.name]


async def test_writes_suffer_for_no_longer_than_anybody_waits(handler: Handler) -> None:
    api = UnrulyApi(handler, Plan(faults.FAILURES))
    failed = 0
    for number in range(faults.WRITES_STRUCK_MAX):
        body = {**MAP, "metadata": {"name": f"child-{number}"}}
        while (await ask(api, "PUT", f"{MAPS}/child-{number}", body)).status in {500, 503}:
            failed += 1
    assert failed == faults.WRITES_STRUCK_MAX


async def test_a_429_says_when_to_come_back(handler: Handler) -> None:
    refused = await ask(UnrulyApi(handler, Plan((faults.TOO_MANY,))), "GET", MAPS)
    assert dict(refused.headers)["Retry-After"] == str(faults.RETRY_AFTER_SECONDS)


async def test_a_conflict_is_somebody_elses_write(handler: Handler) -> None:
    client = Client.in_process(handler, ADMIN)
    made = await client.create(MAP)
    api = UnrulyApi(handler, Plan((faults.CONFLICT,)))
    assert (await ask(api, "PUT", f"{MAPS}/a", {**made, "data": {"k": "2"}})).status == 409
    now = await client.get("configmaps", "a")
    assert (now["metadata"]["annotations"], now["data"]) == ({MARK: "1"}, {"k": "1"})


async def test_a_list_of_any_age_is_an_older_one(handler: Handler) -> None:
    client = Client.in_process(handler, ADMIN)
    api = UnrulyApi(handler, Plan((faults.STALE,), always=True))
    await ask(api, "POST", MAPS, MAP)
    for number in range(8):
        await ask(api, "PUT", f"{MAPS}/a", {**MAP, "data": {"k": f"now {number}"}})
    old = orjson.loads((await ask(api, "GET", f"{MAPS}?resourceVersion=0")).body)
    new = await client.list("configmaps", namespace="default")
    assert int(old["metadata"]["resourceVersion"]) < int(new["metadata"]["resourceVersion"])
    assert {each["data"]["k"] for each in old["items"] if each["metadata"]["name"] == "a"} == {"now 1"}


async def test_a_watch_is_cut_within_a_line(handler: Handler) -> None:
    client = Client.in_process(handler, ADMIN)
    for number in range(4):
        await client.create({**MAP, "metadata": {"name": f"m{number}", "namespace": "default"}})
    stream = (await ask(UnrulyApi(handler, Plan((faults.WATCH_CUT,))), "GET", f"{MAPS}?watch=true")).stream
    assert stream is not None
    heard = b""

    async def listen() -> None:
        nonlocal heard
        async for piece in stream:
            heard += piece

    assert await is_cut(listen())
    *whole, rest = heard.split(b"\n")
    assert rest
    with pytest.raises(orjson.JSONDecodeError):
        orjson.loads(rest)
    assert all(orjson.loads(line)["type"] == "ADDED" for line in whole)


async def test_who_watches_from_before_an_outage_is_told_410(handler: Handler) -> None:
    api = UnrulyApi(handler)
    before = orjson.loads((await ask(api, "GET", MAPS)).body)["metadata"]["resourceVersion"]
    stream = (await ask(api, "GET", f"{MAPS}?watch=true&resourceVersion={before}")).stream
    assert isinstance(stream, AsyncGenerator)
    assert await anext(stream) == b""
    api.be_away()
    assert await is_cut(anext(stream))
    assert await is_cut(ask(api, "GET", MAPS))
    created = await Client.in_process(handler, ADMIN).create(MAP)
    api.return_having_forgotten(int(created["metadata"]["resourceVersion"]))
    assert (await ask(api, "GET", f"{MAPS}?watch=true&resourceVersion={before}")).status == 410
    assert (await ask(api, "GET", MAPS)).status == 200


async def test_every_write_is_crashed_at_from_both_sides(handler: Handler) -> None:
    """A program that makes a then b, killed and started again: each write fails before, then after it was done."""
    api = UnrulyApi(handler)
    lives = 0

    async def kill() -> None:
        nonlocal lives
        lives += 1

    async def live() -> None:
        for name in ("a", "b"):
            if (await ask(api, "GET", f"{MAPS}/{name}")).status == 404:
                await ask(api, "POST", MAPS, {**MAP, "metadata": {"name": name, "namespace": "default"}})

    api.crash_at_writes(kill, times_max=10)
    while await is_cut(live()):
        assert lives < 10
    writes = [each.fault for each in api.record.writes()]
    assert writes == ["killed right before it", "killed right after it"] * 2


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    everything = (*faults.FAILURES, *faults.CUTS, faults.SLOW)

    def struck(seed: int) -> list[str]:
        plan, api = Plan(everything, seed), UnrulyApi(_nobody)
        asked = [api.record.add(0.0, "GET", f"/api/v1/pods/{number % 20}", "") for number in range(60)]
        return [found[0].name if (found := plan.strike(each)) else "" for each in asked]

    assert struck(1) == struck(1) != struck(2)
    assert all(struck(1)[:40])
    assert not any(struck(1)[40:])


async def _nobody(request: Request) -> Response:
    raise AssertionError("nothing is asked")


async def events(*lines: bytes) -> AsyncIterator[bytes]:
    for line in lines:
        yield line


async def test_bookmarks_are_withheld_but_for_the_one_that_is_promised() -> None:
    end = b'{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}\n'
    lines = [b'{"type":"ADDED"}\n', end, b'{"type":"BOOKMARK","object":{}}\n', b'{"type":"DELETED"}\n']
    heard = [line async for line in streams.without_bookmarks(events(b"".join(lines)))]
    assert heard == [lines[0], lines[1], lines[3]]


async def test_late_events_are_all_there_and_in_order() -> None:
    lines = [b'{"n":%d}\n' % number for number in range(5)]
    loop = asyncio.get_running_loop()
    began = loop.time()
    heard = [line async for line in streams.late(events(*lines), 0.05)]
    assert heard == lines
    assert loop.time() - began >= 0.05


async def test_an_expired_watch_is_refused_or_says_so_in_an_event(handler: Handler) -> None:
    told: set[str] = set()
    for seed in range(8):
        api = UnrulyApi(handler, Plan(faults.GONE, seed))
        answer = await ask(api, "GET", f"{MAPS}?watch=true&resourceVersion=5")
        body = answer.body or b"".join([piece async for piece in answer.stream or events()])
        status = orjson.loads(body)
        told.add(status["kind"] if "kind" in status else status["type"])
        assert (status.get("object") or status)["code"] == 410
    assert told == {"Status", "ERROR"}


async def test_clients_see_a_cut_as_a_cut(handler: Handler, tmp_path: Path) -> None:
    """Over a real socket: no answer, half an answer, and none of it taken for an end."""
    api = UnrulyApi(handler, Plan((faults.CUTS[0], faults.WATCH_CUT)))
    async with reachable(api.handle, make_pki(tmp_path), tmp_path / "kubeconfig"):
        transport = HttpTransport(find_endpoint(tmp_path / "kubeconfig"))
        async with Client(transport) as client:
            for _ in range(faults.STRIKES_PER_REQUEST):
                with pytest.raises(Interrupted):
                    await client.raw("GET", MAPS)
            assert (await client.raw("GET", MAPS)).status == 200
            with pytest.raises(Interrupted):
                await client.raw("GET", "/api/v1/namespaces", query={"watch": "true"})
