"""Guests with a planted defect, served over real TLS, and what a conformance kit finds in them."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson

from hardpoint.client.credentials import ClientCertificate, FixedCredentials, Proof
from hardpoint.client.endpoint import Endpoint
from hardpoint.machinery.messages import Handler, Request, Response
from hardpoint.runtime import webhookpromises
from hardpoint.runtime.promises import Promises
from hardpoint.runtime.webhookpromises import Caller
from hardpoint.sdk.app import App
from hardpoint.serving import Limits, serve
from hardpoint.serving.tls import serving_context
from hardpoint.serving.webhooks import Webhooks
from tests.client.authority import Authority

Json = dict[str, Any]
Mutation = Callable[[Request, Handler], Awaitable[Response]]
"""What a defective guest does with a request, given what it would have done without its defect."""

SERVERS = Authority("servers")
CALLERS = Authority("callers")
CALLER = ClientCertificate(*CALLERS.issue("caller"))


def mutated(app: App, mutation: Mutation | None = None) -> Handler:
    """The webhooks of `app`, with a defect."""
    good = Webhooks(app.webhooks.values()).handle
    if mutation is None:
        return good

    async def handle(request: Request) -> Response:
        return await mutation(request, good)

    return handle


@asynccontextmanager
async def calling(
    handler: Handler, folder: Path, path: str, sample: Json, *, wants_certificate: bool = True, **settings: str
) -> AsyncIterator[Caller]:
    for name, content in zip(("crt", "key"), SERVERS.issue("guest", alternatives=("127.0.0.1",)), strict=True):
        (folder / f"guest.{name}").write_bytes(content)
    (folder / "callers.crt").write_bytes(CALLERS.pem)
    context = serving_context(folder / "guest.crt", folder / "guest.key", folder / "callers.crt")
    context.verify_mode = ssl.CERT_REQUIRED if wants_certificate else ssl.CERT_OPTIONAL
    limits = Limits(body_bytes_max=64 * 1024 * 1024, linger_seconds=0.01)
    async with await serve(handler, port=0, ssl_context=context, limits=limits) as server:
        shown = FixedCredentials(Proof(certificate=CALLER))
        endpoint = Endpoint("https", "127.0.0.1", server.port, path, ca_pem=SERVERS.pem, credentials=shown)
        caller = Caller(endpoint, sample, settings=settings)
        try:
            yield caller
        finally:
            await caller.close()


async def broken(promises: Promises[Caller], caller: Caller) -> dict[str, str]:
    """The promises it breaks, each with what it did instead."""
    found = [finding async for finding in promises.findings(caller, patience_seconds=5)]
    return {finding.promise: finding.detail for finding in found if finding.outcome == "FAIL"}


def changing_status(**fields: Any) -> Mutation:
    """Answers what is right, but for these fields of the status."""

    async def mutation(request: Request, good: Handler) -> Response:
        response = await good(request)
        if response.status == 200 and request.method == "POST":
            answer = orjson.loads(response.body)
            answer["status"] = {**answer.get("status", {}), **fields}
            response.body = orjson.dumps(answer)
        return response

    return mutation


def changing_answer(**fields: Any) -> Mutation:
    """Answers what is right, but for these fields of the whole."""

    async def mutation(request: Request, good: Handler) -> Response:
        response = await good(request)
        if response.status == 200 and request.method == "POST":
            response.body = orjson.dumps({**orjson.loads(response.body), **fields})
        return response

    return mutation


def answering(status: int, body: bytes = b"{}", *, to: Iterable[int] = (200,)) -> Mutation:
    """Answers this wherever the right answer would have had one of the statuses `to`."""

    async def mutation(request: Request, good: Handler) -> Response:
        response = await good(request)
        return Response(status, body) if response.status in to else response

    return mutation


async def saying_yes_to_everything(request: Request, good: Handler) -> Response:
    """Takes what it should refuse for the sample."""
    response = await good(request)
    return Response(200, b"{}") if 400 <= response.status < 500 else response


async def fainting_at_nonsense(request: Request, good: Handler) -> Response:
    """Fails where it should refuse."""
    response = await good(request)
    return Response(500, b"{}") if 400 <= response.status < 500 else response


def small_load(monkeypatch: Any) -> None:
    """What a test needs of the kit's load, so that many guests can be looked at."""
    monkeypatch.setattr(webhookpromises, "AT_ONCE", 8)
    monkeypatch.setattr(webhookpromises, "LOAD", 20)
