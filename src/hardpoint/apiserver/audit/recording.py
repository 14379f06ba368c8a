"""The walk's side of auditing: when which stage of a request is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import aclosing

from hardpoint.apiserver import target
from hardpoint.apiserver.audit.auditor import Auditor, Refusal
from hardpoint.apiserver.audit.events import Record
from hardpoint.apiserver.authorization.contract import Question
from hardpoint.apiserver.errand import Errand
from hardpoint.machinery.messages import Response

_REFUSALS = frozenset((401, 403))


class Unrecorded(Exception):
    """The audit log could not be written, and its owner would rather have no answer than one without a record."""


def begin(auditor: Auditor, errand: Errand, asked: Question) -> Awaitable[None] | None:
    """Tell that a request came, which amounts to this question. What comes back is to be awaited, before it goes on."""
    record = auditor.begin(errand.audit_id, errand.request, asked.target, _told_verb(errand), asked.user)
    if record is None:
        return None
    errand.record = record
    told = auditor.tell(record, "RequestReceived")
    return None if told is None else _recorded(auditor, told)


def end(auditor: Auditor, errand: Errand, response: Response) -> Awaitable[object] | None:
    """Tell how a request was answered; if that goes on for long, its end will be told as well."""
    record = errand.record
    if record is None:
        return _refused(auditor, errand, response) if response.status in _REFUSALS else None
    record.answered(response, errand.error)
    if record.is_broken:
        return auditor.tell(record, "Panic")
    told = auditor.tell(record, "ResponseStarted") if target.runs_long(errand.where, errand.verb) else None
    if response.stream is not None:
        response.stream = _to_its_end(response.stream, auditor, record)
        return told
    record.took(auditor.now())
    return _both(told, auditor.tell(record, "ResponseComplete"))


def _refused(auditor: Auditor, errand: Errand, response: Response) -> Awaitable[bool] | None:
    """Tell of a request nobody was found to have made, and of one that is only told because it was refused."""
    verb = _told_verb(errand)
    refusal = Refusal(errand.audit_id, errand.request, errand.where, verb, errand.user, response, errand.error)
    return auditor.refused(refusal) if errand.user is not None else auditor.unauthenticated(refusal)


async def _recorded(auditor: Auditor, told: Awaitable[bool]) -> None:
    """Return when a request is recorded. Raises Unrecorded."""
    if not await told:
        auditor.reject()
        raise Unrecorded


def _both(first: Awaitable[bool] | None, second: Awaitable[bool] | None) -> Awaitable[object] | None:
    return asyncio.gather(first, second) if first is not None and second is not None else first or second


async def _to_its_end(stream: AsyncIterator[bytes], auditor: Auditor, record: Record) -> AsyncIterator[bytes]:
    """A stream whose end is told, whichever way it ends."""
    try:
        async with aclosing(stream):  # type: ignore[type-var] # our streams are generators
            async for chunk in stream:
                yield chunk
    finally:
        told = auditor.tell(record, "ResponseComplete")
        if told is not None:
            await told


def _told_verb(errand: Errand) -> str:
    """The verb as kube-apiserver tells it: none for a method that no resource has."""
    return errand.verb if not errand.where.resource or errand.request.method in target.VERBS else ""
