"""The paths of a webhook server: what is refused before a guest is asked, and what a failing guest looks like."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from prometheus_client.parser import text_string_to_metric_families

from hardpoint.machinery import errors
from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.messages import Peer, Request, Response
from hardpoint.serving.webhooks import Webhooks

Json = dict[str, Any]


class Echo:
    path = "/echo"
    body_bytes_max = 100

    async def answer(self, review: Json) -> Json:
        if review.get("raise") == "refusal":
            raise errors.bad_request("spec is wrong")
        if review.get("raise") == "failure":
            raise HardpointError("s3cr3t")
        if review.get("raise") == "bug":
            raise RuntimeError("s3cr3t")
        if review.get("hang"):
            await asyncio.Event().wait()
        return review


async def ask(webhooks: Webhooks, body: bytes, **options: Any) -> Response:
    headers = {"content-type": "application/json", **options.pop("headers", {})}
    asked = {"method": "POST", "path": "/echo", "query": "", **options}
    return await webhooks.handle(Request(headers=headers, body=body, peer=Peer("test"), **asked))


@pytest.mark.parametrize(
    ("body", "options", "status"),
    [
        pytest.param(b'{"a":1}', {}, 200, id="an object"),
        pytest.param(b'{"a":1}', {"headers": {"content-type": "application/json; charset=utf-8"}}, 200, id="charset"),
        pytest.param(b"", {}, 400, id="nothing"),
        pytest.param(b"[]", {}, 400, id="a list"),
        pytest.param(b"{", {}, 400, id="not JSON"),
        pytest.param(b"{}", {"method": "GET"}, 405, id="GET"),
        pytest.param(b"{}", {"method": "PUT"}, 405, id="PUT"),
        pytest.param(b"{}", {"headers": {"content-type": "text/plain"}}, 415, id="another type"),
        pytest.param(b"{}", {"headers": {"content-type": ""}}, 415, id="no type"),
        pytest.param(b"{}", {"headers": {"content-encoding": "gzip"}}, 415, id="compressed"),
        pytest.param(b'{"a":"' + b"x" * 100 + b'"}', {}, 413, id="too large for this path"),
        pytest.param(b"{}", {"path": "/elsewhere"}, 404, id="nobody there"),
        pytest.param(b"{}", {"path": "/echo/"}, 404, id="a path that only begins so"),
        pytest.param(b'{"raise":"refusal"}', {}, 400, id="the guest refuses"),
        pytest.param(b'{"raise":"failure"}', {}, 500, id="the guest fails"),
        pytest.param(b'{"raise":"bug"}', {}, 500, id="the guest has a bug"),
        pytest.param(b'{"hang":true}', {"query": "timeout=10ms"}, 504, id="the guest hangs"),
    ],
)
async def test_what_is_answered(body: bytes, options: Json, status: int) -> None:
    response = await ask(Webhooks([Echo()]), body, **options)
    assert response.status == status
    assert b"s3cr3t" not in response.body
    if status == 200:
        assert response.body == body
    else:
        assert orjson.loads(response.body)["kind"] == "Status"


@pytest.mark.parametrize("query", ["", "timeout=", "timeout=1", "timeout=-1s", "timeout=0s", "timeout=1h", "a=b"])
async def test_nobody_gets_more_time_than_there_is(query: str) -> None:
    webhooks = Webhooks([Echo()], patience_seconds_max=0.01)
    assert (await ask(webhooks, b'{"hang":true}', query=query)).status == 504


async def test_so_many_at_once_and_no_more() -> None:
    webhooks = Webhooks([Echo()], calls_max=2)
    hanging = [asyncio.create_task(ask(webhooks, b'{"hang":true}')) for _ in range(2)]
    await asyncio.sleep(0)
    refused = await ask(webhooks, b"{}")
    assert refused.status == 429
    assert ("Retry-After", "1") in refused.headers
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)
    assert (await ask(webhooks, b"{}")).status == 200


async def test_guests_can_be_replaced_under_way() -> None:
    webhooks = Webhooks([Echo()])
    webhooks.replace([])
    assert (await ask(webhooks, b"{}")).status == 404


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz"])
async def test_health(path: str) -> None:
    response = await ask(Webhooks([]), b"", method="GET", path=path)
    assert (response.status, response.body) == (200, b"ok")
    assert (await ask(Webhooks([]), b"{}", path=path)).status == 404


async def test_metrics_count_answers_and_no_strangers_paths() -> None:
    webhooks = Webhooks([Echo()])
    for path in ("/echo", "/echo", '/x"} 1\n# evil'):
        await ask(webhooks, b"{}", path=path)
    text = (await ask(webhooks, b"", method="GET", path="/metrics")).body.decode()
    found = {family.name: family for family in text_string_to_metric_families(text)}
    totals = {
        (sample.labels["path"], sample.labels["code"]): sample.value
        for sample in found["hardpoint_webhook_requests"].samples
        if sample.name.endswith("_total")
    }
    assert totals == {("/echo", "200"): 2.0, ("", "404"): 1.0}
    durations = found["hardpoint_webhook_request_duration_seconds"].samples
    assert {sample.value for sample in durations if sample.labels == {"path": "/echo", "le": "+Inf"}} == {2.0}
    assert "evil" not in text
