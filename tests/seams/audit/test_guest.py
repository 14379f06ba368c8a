"""The author's side of the audit seam: what a function is told, and when a batch is taken."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint import App
from hardpoint.audit import AuditEvent
from hardpoint.machinery.errors import ApiError, ConfigError
from hardpoint.runtime.authored import AuthorFailed
from hardpoint.seams.audit.check import batch, event
from hardpoint.seams.audit.guest import AuditSinkGuest


async def test_a_function_sees_who_did_what() -> None:
    told: list[AuditEvent] = []

    def remember(events: list[AuditEvent]) -> None:
        told.extend(events)

    guest = AuditSinkGuest(remember, path="/a")
    anonymous = event(user={}, objectRef=None, responseStatus=None, fromTheFuture=1)
    assert await guest.answer(batch(event(), anonymous)) == {}
    first, second = told
    assert (first.user.username, first.verb, first.level, first.sourceIPs) == (
        "hardpoint-check",
        "list",
        "Metadata",
        ["127.0.0.1"],
    )
    assert first.objectRef is not None
    assert (first.objectRef.resource, first.objectRef.name) == ("pods", "")
    assert first.responseStatus is not None
    assert first.responseStatus.code == 200
    assert first.annotations["authorization.k8s.io/decision"] == "allow"
    assert (second.user.username, second.objectRef, second.responseStatus) == ("", None, None)
    assert second.json["fromTheFuture"] == 1


async def test_a_batch_is_not_taken_when_the_function_fails() -> None:
    async def full(events: list[AuditEvent]) -> None:
        raise OSError("no space left on device")

    guest = AuditSinkGuest(full, path="/a")
    with pytest.raises(AuthorFailed):
        await guest.answer(batch(event()))
    assert await guest.answer(batch()) == {}


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {**batch(), "kind": "List"},
        {**batch(), "apiVersion": "audit.k8s.io/v1beta1"},
        {**batch(), "items": {}},
        {**batch(), "items": [7]},
        batch({}),
        batch(event(user="jane")),
        batch(event(objectRef=["pods"])),
    ],
    ids=range(8),
)
async def test_what_is_no_batch_is_refused_and_no_function_is_told(wrong: dict[str, Any]) -> None:
    async def unreached(events: list[AuditEvent]) -> None:
        raise AssertionError

    with pytest.raises(ApiError) as refused:
        await AuditSinkGuest(unreached, path="/a").answer(wrong)
    assert refused.value.code == 400


def test_a_function_that_cannot_be_told_is_refused_when_it_is_registered() -> None:
    with pytest.raises(ConfigError, match=r"test_guest.py:\d+: @app.audit_sink: .* must take one argument"):
        App("test").audit_sink(lambda: None)  # type: ignore[arg-type,misc]  # that is the point
