"""What every webhook promises, and what every webhook that answers reviews promises, and the caller that finds out.

A caller knows one good body, its `sample`, and how to reach the guest; it sends what no decent cluster would.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from hardpoint.client.credentials import ANONYMOUS
from hardpoint.client.endpoint import Endpoint
from hardpoint.client.http import HttpTransport
from hardpoint.client.transport import Answer, Interrupted, TransportError
from hardpoint.runtime.promises import Broken, NotAsked, Promises, expect

Json = dict[str, Any]

PATIENCE_SECONDS = 10.0
AT_ONCE = 100
LOAD = 400
SLOWEST_SECONDS = 1.0
HOSTILE_TEXTS = (
    "\x00",
    "\x1b[31mred",
    "a\r\nb: c",
    "\u202egnp",
    "'; DROP TABLE users; --",
    "../../etc/passwd",
    "x" * 65536,
)


@dataclass(slots=True)
class Caller:
    """Asks one webhook. `sample` is a review that it must answer."""

    endpoint: Endpoint
    sample: Json
    body_bytes_max: int = 3 * 1024 * 1024
    """More than this it must refuse."""
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the user of the kit gave it to work with, such as a good token. Never shown."""
    _transport: HttpTransport = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._transport = HttpTransport(self.endpoint, patience_seconds=PATIENCE_SECONDS, requests_max=AT_ONCE)

    async def close(self) -> None:
        await self._transport.close()

    async def send(self, body: bytes, *, method: str = "POST", encoding: str = "identity") -> Answer:
        """Whatever it answers to these bytes. Raises TransportError."""
        path = "" if self.endpoint.prefix else "/"
        headers = {"content-type": "application/json"}
        if encoding != "identity":
            headers["content-encoding"] = encoding
        return await self._transport.request(method, path, "timeout=10s", headers, body)

    async def ask(self, review: Mapping[str, Any]) -> Json:
        """The object it answers a review with. Raises Broken if it does not."""
        answer = await self.send(orjson.dumps(review))
        expect(200 <= answer.status < 300, f"answered {answer.status}")
        try:
            found = orjson.loads(answer.body)
        except orjson.JSONDecodeError:
            raise Broken("answered something that is not JSON") from None
        expect(isinstance(found, dict), "answered JSON that is not an object")
        return found  # type: ignore[no-any-return]  # a dict, as was just seen

    async def expect_refusal(self, body: bytes, *, what: str, **options: Any) -> None:
        """It must say no to these bytes, with a status of 4xx: neither yes nor a failure of its own."""
        try:
            answer = await self.send(body, **options)
        except Interrupted:
            # To close the connection is rude, but a refusal; unless it is gone altogether.
            answer = await self.send(orjson.dumps(self.sample))
            expect(200 <= answer.status < 300, f"answered {answer.status} after it had closed on {what}")
            return
        expect(400 <= answer.status < 500, f"answered {answer.status} to {what}")


every_webhook: Promises[Caller] = Promises()
"""What every webhook promises."""
every_review: Promises[Caller] = Promises()
"""What every webhook promises that answers an object with one of the same kind."""


@every_review("a good review is answered with a JSON object")
async def _answers(guest: Caller) -> None:
    await guest.ask(guest.sample)


@every_review("the same review gets the same answer")
async def _repeats(guest: Caller) -> None:
    first, second = await guest.ask(guest.sample), await guest.ask(guest.sample)
    expect(first == second, "answered one review in two ways")


@every_review("fields it does not know are passed over")
async def _unknown_fields(guest: Caller) -> None:
    expected = await guest.ask(guest.sample)
    answer = await guest.ask({**guest.sample, "metadata": {"name": "x", "new": [1]}, "fieldFromTheFuture": {"a": None}})
    expect(answer.get("status") == expected.get("status"), "answered otherwise because of a field it does not know")


@every_review("a body that is no JSON object is refused")
async def _not_json(guest: Caller) -> None:
    for body in (b"", b"null", b"[]", b'"text"', b"{", b"\xff\xfe", b"[" * 10_000, b"a: yaml\n"):
        await guest.expect_refusal(body, what=f"a body of {body[:8]!r}")


@every_review("a review of another kind is refused")
async def _other_kind(guest: Caller) -> None:
    for kind in ("Pod", "", None, ["TokenReview"]):
        await guest.expect_refusal(orjson.dumps({**guest.sample, "kind": kind}), what=f"kind {kind!r}")


@every_review("a version nobody knows is refused")
async def _other_version(guest: Caller) -> None:
    group = guest.sample["apiVersion"].partition("/")[0]
    for version in (f"{group}/v99", "v1", "example.com/v1", "", None):
        await guest.expect_refusal(orjson.dumps({**guest.sample, "apiVersion": version}), what=f"version {version!r}")


@every_webhook("only a POST is answered")
async def _other_methods(guest: Caller) -> None:
    body = orjson.dumps(guest.sample)
    for method in ("GET", "PUT", "DELETE"):
        await guest.expect_refusal(b"" if method == "GET" else body, what=method, method=method)


@every_webhook("a compressed body is refused")
async def _compressed(guest: Caller) -> None:
    import gzip

    await guest.expect_refusal(gzip.compress(orjson.dumps(guest.sample)), what="gzip", encoding="gzip")


@every_review("a body that is too large is refused")
async def _too_large(guest: Caller) -> None:
    padded = {**guest.sample, "padding": "x" * guest.body_bytes_max}
    await guest.expect_refusal(orjson.dumps(padded), what=f"more than {guest.body_bytes_max} bytes")
    await guest.ask(guest.sample)


@every_review("hostile texts in a review are no reason to fail")
async def _hostile(guest: Caller) -> None:
    for text in HOSTILE_TEXTS:
        answer = await guest.send(orjson.dumps(_with_texts(guest.sample, text)))
        expect(answer.status < 500, f"answered {answer.status} to {text[:16]!r} in its fields")
    await guest.ask(guest.sample)


@every_review("many reviews at once are all answered")
async def _concurrent(guest: Caller) -> None:
    answers = await asyncio.gather(*(guest.send(orjson.dumps(guest.sample)) for _ in range(AT_ONCE)))
    wrong = sorted({answer.status for answer in answers if answer.status not in (200, 201, 429)})
    expect(not wrong, f"answered {wrong} to some of {AT_ONCE} at once")


@every_review("99 of 100 reviews are answered within a second under load")
async def _latency(guest: Caller) -> None:
    body = orjson.dumps(guest.sample)
    turns = asyncio.Semaphore(20)

    async def seconds() -> float:
        async with turns:
            started = time.monotonic()
            await guest.send(body)
            return time.monotonic() - started

    took = sorted(await asyncio.gather(*(seconds() for _ in range(LOAD))))
    slowest = took[int(len(took) * 0.99)]
    expect(slowest <= SLOWEST_SECONDS, f"took {slowest:.2f} s for the slowest of a hundred")


@every_webhook("a caller that leaves before the answer harms nobody")
async def _early_leaver(guest: Caller) -> None:
    body = orjson.dumps(guest.sample)
    leaving = [asyncio.create_task(guest.send(body)) for _ in range(20)]
    await asyncio.sleep(0.001)
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    answer = await guest.send(body)
    expect(200 <= answer.status < 300, f"answered {answer.status} after others had left")


@every_webhook("a caller without a certificate is not answered")
async def _mutual_tls(guest: Caller) -> None:
    proof = await guest.endpoint.credentials.proof()
    if proof.certificate is None:
        raise NotAsked("give the certificate that callers show, to see that it is needed")
    async with _asking(replace(guest.endpoint, credentials=ANONYMOUS), guest) as stranger:
        try:
            answer = await stranger.send(orjson.dumps(guest.sample))
        except TransportError:
            return
        raise Broken(f"answered {answer.status} to a caller that showed no certificate")


@asynccontextmanager
async def _asking(endpoint: Endpoint, guest: Caller) -> AsyncIterator[Caller]:
    caller = Caller(endpoint, guest.sample)
    try:
        yield caller
    finally:
        await caller.close()


def _with_texts(value: Any, text: str) -> Any:
    """The same review with `text` in every field but those that say what it is."""
    if isinstance(value, dict):
        kept = ("apiVersion", "kind")
        return {key: each if key in kept else _with_texts(each, text) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_texts(each, text) for each in value]
    return text if isinstance(value, str) else value
