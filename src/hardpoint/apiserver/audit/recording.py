"""The walk's side of auditing: when which stage of a request is told."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from hardpoint.apiserver import target
from hardpoint.apiserver.audit.auditor import Auditor, Refusal
from hardpoint.apiserver.audit.events import Record
from hardpoint.apiserver.authorization.contract import Question
from hardpoint.apiserver.errand import Errand
from hardpoint.machinery.messages import Response
from hardpoint.seams.audit.contract import Stage

_REFUSALS = frozenset((401, 403))


class Unrecorded(Exception):
    """The audit log could not be written, and its owner would rather have no answer than one without a record."""


async def begin(auditor: Auditor, errand: Errand, asked: Question) -> None:
    """Tell that a request came, which amounts to this question. Raises Unrecorded."""
    record = auditor.begin(errand.audit_id, errand.request, asked.target, _told_verb(errand), asked.user)
    if record is None:
        return
    errand.record = record
    told = auditor.tell(record, "RequestReceived")
    if told is not None and not await told:
        auditor.reject()
        raise Unrecorded


async def end(auditor: Auditor, errand: Errand, response: Response) -> None:
    """Tell how a request was answered; if that goes on for long, its end will be told as well."""
    record = errand.record
    if record is None:
        if response.status in _REFUSALS:
            await _refused(auditor, errand, response)
        return
    record.answered(response, errand.error)
    stages: tuple[Stage, ...] = ()
    if target.runs_long(errand.where, errand.verb):
        stages = ("ResponseStarted",)
    if record.is_broken:
        stages = ("Panic",)
    elif response.stream is None:
        stages = (*stages, "ResponseComplete")
    else:
        response.stream = _to_its_end(response.stream, auditor, record)
    for stage in stages:
        told = auditor.tell(record, stage)
        if told is not None:
            await told


async def _refused(auditor: Auditor, errand: Errand, response: Response) -> None:
    """Tell of a request nobody was found to have made, and of one that is only told because it was refused."""
    verb = _told_verb(errand)
    refusal = Refusal(errand.audit_id, errand.request, errand.where, verb, errand.user, response, errand.error)
    told = auditor.refused(refusal) if errand.user is not None else auditor.unauthenticated(refusal)
    if told is not None:
        await told


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
