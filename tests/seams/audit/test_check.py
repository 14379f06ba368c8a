"""The conformance kit of the audit seam finds what is wrong with a guest, and nothing in a good one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from hardpoint import App
from hardpoint.audit import AuditEvent
from hardpoint.machinery.messages import Handler, Request, Response
from hardpoint.seams.audit import check
from hardpoint.seams.audit.check import SAMPLE, promises
from tests.seams.mutants import Mutation, answering, broken, calling, fainting_at_nonsense, mutated


def app() -> App:
    app = App("sink")

    @app.audit_sink
    async def remember(events: list[AuditEvent]) -> None:
        for event in events:
            _ = (event.user.username, event.responseStatus and event.responseStatus.code)

    return app


@pytest.mark.parametrize("body", [b"{}", b"", b"thanks"])
async def test_a_good_guest_breaks_nothing_whatever_it_says(tmp_path: Path, body: bytes) -> None:
    async with calling(mutated(app(), answering(200, body)), tmp_path, "/audit", SAMPLE) as caller:
        assert await broken(promises, caller) == {}


def refusing(when: Callable[[list[dict[str, object]]], bool], status: int = 500) -> Mutation:
    """Does not take the batches it does not like."""

    async def mutation(request: Request, good: Handler) -> Response:
        response = await good(request)
        if response.status == 200 and when(orjson.loads(request.body)["items"]):
            return Response(status, b"{}")
        return response

    return mutation


def once() -> Mutation:
    """Refuses what it has seen before."""
    seen: set[object] = set()

    def is_old(items: list[dict[str, object]]) -> bool:
        ids = {item["auditID"] for item in items}
        is_old = bool(ids & seen)
        seen.update(ids)
        return is_old

    return refusing(is_old, 409)


async def dawdling(request: Request, good: Handler) -> Response:
    if len(request.body) > 100_000:
        await asyncio.sleep(0.2)
    return await good(request)


@pytest.mark.parametrize(
    ("mutation", "promise"),
    [
        pytest.param(refusing(lambda items: True), "a batch is taken, with any 2xx", id="takes nothing"),
        pytest.param(refusing(lambda items: not items), "an empty batch is taken", id="no empty batches"),
        pytest.param(once(), "a batch that comes again is taken again", id="takes each event once"),
        pytest.param(
            refusing(lambda items: any(item["stage"] == "Panic" for item in items)),
            "events of every level and stage are taken",
            id="knows no Panic",
        ),
        pytest.param(
            refusing(lambda items: len(items) > 100, 413),
            "a full batch of 400 events is taken in time",
            id="small batches only",
        ),
        pytest.param(dawdling, "a full batch of 400 events is taken in time", id="dawdles"),
        pytest.param(
            refusing(lambda items: len(orjson.dumps(items)) > 3_000_000, 413),
            "a batch with large objects is taken",
            id="small bodies only",
        ),
        pytest.param(
            refusing(lambda items: any("\x00" in str(item.get("verb")) for item in items)),
            "hostile texts in an event are no reason to fail",
            id="fails at NUL",
        ),
        pytest.param(
            fainting_at_nonsense,
            "what is no batch is refused, so that it does not come again as taken",
            id="answers 500 to nonsense",
        ),
    ],
)
async def test_a_defect_is_found_and_named(
    tmp_path: Path, mutation: Mutation, promise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "PROMPT_SECONDS", 0.15)
    async with calling(mutated(app(), mutation), tmp_path, "/audit", SAMPLE) as caller:
        found = await promises.finding(promise, caller)
    assert found.outcome == "FAIL"
