"""Does a guest keep the promises of the audit seam? Asked over HTTPS, so of a guest in any language.

A sink answers with any 2xx and need not say anything, so it promises less than a webhook that answers reviews.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import Any

import orjson

from hardpoint.runtime.promises import Promises, expect
from hardpoint.runtime.webhookpromises import HOSTILE_TEXTS, Caller, Json, every_webhook
from hardpoint.seams.audit.contract import API_VERSION, BATCH_EVENTS_MAX, EVENT_LIST

PROMPT_SECONDS = 5.0

promises: Promises[Caller] = Promises()


def event(**more: Any) -> Json:
    """One event as an API server writes it, with an id of its own."""
    return {
        "level": "Metadata",
        "auditID": str(uuid.uuid4()),
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/default/pods",
        "verb": "list",
        "user": {"username": "hardpoint-check", "groups": ["system:authenticated"]},
        "sourceIPs": ["127.0.0.1"],
        "userAgent": "hardpoint",
        "objectRef": {"resource": "pods", "namespace": "default", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": "2026-01-02T03:04:05.000006Z",
        "stageTimestamp": "2026-01-02T03:04:05.000007Z",
        "annotations": {"authorization.k8s.io/decision": "allow"},
        **more,
    }


def batch(*events: Json) -> Json:
    return {"kind": EVENT_LIST, "apiVersion": API_VERSION, "metadata": {}, "items": list(events)}


SAMPLE = batch(event())


async def _take(guest: Caller, events: Json) -> None:
    answer = await guest.send(orjson.dumps(events))
    expect(200 <= answer.status < 300, f"answered {answer.status}")


@promises("a batch is taken, with any 2xx")
async def _taken(guest: Caller) -> None:
    await _take(guest, batch(event(), event(stage="RequestReceived", responseStatus=None)))


@promises("an empty batch is taken")
async def _empty(guest: Caller) -> None:
    await _take(guest, batch())


@promises("a batch that comes again is taken again")
async def _again(guest: Caller) -> None:
    repeated = batch(event())
    await _take(guest, repeated)
    await _take(guest, repeated)


@promises("events of every level and stage are taken")
async def _all_sorts(guest: Caller) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}}
    await _take(
        guest,
        batch(
            *(event(stage=stage) for stage in ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")),
            event(level="Request", verb="create", requestObject=pod),
            event(level="RequestResponse", verb="create", requestObject=pod, responseObject=pod),
            event(user={}, responseStatus={"metadata": {}, "status": "Failure", "reason": "Unauthorized", "code": 401}),
            event(requestURI="/healthz", objectRef=None),
            event(impersonatedUser={"username": "jane"}, fieldFromTheFuture={"a": [1]}),
        ),
    )


@promises(f"a full batch of {BATCH_EVENTS_MAX} events is taken in time")
async def _full(guest: Caller) -> None:
    started = time.monotonic()
    await _take(guest, batch(*(event() for _ in range(BATCH_EVENTS_MAX))))
    took = time.monotonic() - started
    expect(took <= PROMPT_SECONDS, f"took {took:.1f} s; the cluster drops what is not taken")


@promises("a batch with large objects is taken")
async def _large(guest: Caller) -> None:
    large = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "big"}, "data": {"a": "x" * 500_000}}
    await _take(guest, batch(*(event(level="Request", verb="create", requestObject=large) for _ in range(10))))


@promises("batches that come at once are all taken")
async def _concurrent(guest: Caller) -> None:
    answers = await asyncio.gather(*(guest.send(orjson.dumps(batch(event()))) for _ in range(50)))
    wrong = sorted({answer.status for answer in answers if not (200 <= answer.status < 300 or answer.status == 429)})
    expect(not wrong, f"answered {wrong} to some of 50 at once")


@promises("hostile texts in an event are no reason to fail")
async def _hostile(guest: Caller) -> None:
    for text in HOSTILE_TEXTS:
        user = {"username": text, "groups": [text], "extra": {text: [text]}}
        hostile = event(user=user, requestURI=text, userAgent=text, verb=text, annotations={text: text})
        answer = await guest.send(orjson.dumps(batch(hostile)))
        expect(answer.status < 500, f"answered {answer.status} to {text[:16]!r} in its fields")


@promises("what is no batch is refused, so that it does not come again as taken")
async def _no_batch(guest: Caller) -> None:
    for body in (b"", b"null", b"[]", b"{", b"\xff\xfe"):
        await guest.expect_refusal(body, what=f"a body of {body[:8]!r}")
    for wrong in ({"kind": "Event"}, {"kind": None}, {"apiVersion": "audit.k8s.io/v99"}, {"items": "none"}):
        await guest.expect_refusal(orjson.dumps({**SAMPLE, **wrong}), what=str(wrong))


promises.include(every_webhook)
