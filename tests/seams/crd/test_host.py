"""The cluster's side of a conversion, against webhooks that answer, fail, dawdle and are not there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.client.webhook import Webhook
from hardpoint.machinery.errors import ConfigError
from hardpoint.machinery.structural import ConversionFailed
from hardpoint.seams.crd.contract import answered, request_of
from hardpoint.seams.crd.host import OBJECTS_MAX, WebhookConverter
from tests.client.authority import Authority
from tests.client.scripted import Asked, Reply
from tests.seams.webhooks import AUTHORITY, answering, guest
from tests.store.etcd_process import free_port

Json = dict[str, Any]

WANTED = "g.example.com/v2"
GVK = "g.example.com/v1, Kind=Address"


def objects(count: int, *, version: str = "v1", padding: int = 0) -> list[Json]:
    return [
        {
            "apiVersion": f"g.example.com/{version}",
            "kind": "Address",
            "metadata": {"name": f"a{number}"},
            "spec": {"text": "x" * padding},
        }
        for number in range(count)
    ]


def converter(webhook: Webhook, **options: Any) -> WebhookConverter:
    async def reach() -> Webhook:
        return webhook

    return WebhookConverter("https://converter.example/convert", reach, ["v1"], **options)


async def renaming(asked: Asked, reply: Reply) -> None:
    """A converter that changes the name of the version."""
    version, request = request_of(orjson.loads(asked.body))
    new = [obj | {"apiVersion": request["desiredAPIVersion"]} for obj in request["objects"]]
    await reply.answer(orjson.dumps(answered(version, request["uid"], new)))


@pytest.mark.parametrize(
    ("sent", "sizes"),
    [
        pytest.param(objects(1), [1], id="one"),
        pytest.param(objects(OBJECTS_MAX + 1), [OBJECTS_MAX, 1], id="many"),
        pytest.param(objects(5, padding=400_000), [2, 2, 1], id="large ones"),
        pytest.param(objects(1, padding=2_000_000), [1], id="one that is larger than allowed"),
        pytest.param(objects(2) + objects(1, version="v0"), [2, 1], id="of two versions"),
        pytest.param([], [], id="none"),
    ],
)
async def test_objects_come_back_in_order(tmp_path: Path, sent: list[Json], sizes: list[int]) -> None:
    async with guest(renaming, tmp_path) as (server, webhook):
        found = await converter(webhook).convert(sent, WANTED)
        asked = [request_of(orjson.loads(each.body))[1] for each in server.asked]
    assert found == [obj | {"apiVersion": WANTED} for obj in sent]
    assert [len(each["objects"]) for each in asked] == sizes


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (500, 'an error on the server ("unknown") has prevented the request from succeeding'),
        (404, "the server could not find the requested resource"),
        (302, "the server responded with the status code 302 but did not return more information"),
    ],
)
async def test_a_status_that_is_no_answer(tmp_path: Path, status: int, told: str) -> None:
    async with guest(answering(status), tmp_path) as (_, webhook):
        assert await _failure(converter(webhook)) == f"conversion webhook for {GVK} failed: {told}"


async def test_nobody_there() -> None:
    port = free_port()
    async with Webhook.at("crd", f"https://127.0.0.1:{port}/convert", ca_pem=AUTHORITY.pem) as webhook:
        told = await _failure(converter(webhook))
    assert told == (
        f'conversion webhook for {GVK} failed: Post "https://converter.example/convert?timeout=30s": '
        f"dial tcp 127.0.0.1:{port}: connect: connection refused"
    )


async def test_a_certificate_of_somebody_else(tmp_path: Path) -> None:
    async with guest(renaming, tmp_path) as (server, _):
        stranger = Authority("stranger").pem
        async with Webhook.at("crd", f"https://127.0.0.1:{server.port}", ca_pem=stranger) as webhook:
            told = await _failure(converter(webhook))
    assert told.endswith("tls: failed to verify certificate: x509: certificate signed by unknown authority")


async def test_no_answer_in_time(tmp_path: Path) -> None:
    async def silent(asked: Asked, reply: Reply) -> None:
        await reply.say_nothing_until_the_client_leaves()

    async with guest(silent, tmp_path) as (_, webhook):
        told = await _failure(converter(webhook, patience_seconds=0.05))
    assert "?timeout=0.05s" in told
    assert "context deadline exceeded" in told


async def test_no_service_to_ask() -> None:
    async def reach() -> Webhook:
        raise ConfigError('service "conv" not found')

    told = await _failure(WebhookConverter("https://conv.default.svc:443/", reach, ["v1"]))
    assert told.endswith('failed: Post "https://conv.default.svc:443/?timeout=30s": service "conv" not found')


async def test_what_it_said_is_in_no_error(tmp_path: Path) -> None:
    async def telling(asked: Asked, reply: Reply) -> None:
        await reply.answer(b"a secret of the metadata service")

    async with guest(telling, tmp_path) as (_, webhook):
        told = await _failure(converter(webhook))
    assert told == f"conversion webhook for {GVK} failed: it answered something that is not JSON"


async def test_every_question_is_observed(tmp_path: Path) -> None:
    seen: list[tuple[str, str, str]] = []

    def observe(source: str, target: str, failure: str, seconds: float) -> None:
        assert seconds > 0
        seen.append((source, target, failure))

    async with guest(renaming, tmp_path) as (_, webhook):
        await converter(webhook, observe=observe).convert(objects(1), WANTED)
    async with guest(answering(500), tmp_path) as (_, webhook):
        await _failure(converter(webhook, observe=observe))
    async with guest(answering({}), tmp_path) as (_, webhook):
        await _failure(converter(webhook, observe=observe))
    assert seen == [("v1", "v2", ""), ("v1", "v2", "call"), ("v1", "v2", "malformed_response")]


async def test_calls_overlap(tmp_path: Path) -> None:
    both, waiting = asyncio.Event(), 0

    async def meeting(asked: Asked, reply: Reply) -> None:
        nonlocal waiting
        waiting += 1
        if waiting == 2:
            both.set()
        await both.wait()
        await renaming(asked, reply)

    async with guest(meeting, tmp_path) as (_, webhook), asyncio.timeout(10):
        asking = converter(webhook)
        await asyncio.gather(*(asking.convert(objects(1), WANTED) for _ in range(2)))


async def _failure(asking: WebhookConverter, sent: Sequence[Json] = ()) -> str:
    with pytest.raises(ConversionFailed) as caught:
        await asking.convert(sent or objects(1), WANTED)
    return str(caught.value)
