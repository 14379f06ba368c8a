"""A request's walk, in one short function: authenticate, authorize, find the kind and the verb, answer.

The verbs do the rest, each in a file of its own. Whatever goes wrong on the way becomes a Status: it never raises.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from random import getrandbits
from time import perf_counter
from typing import Any

from hardpoint.apiserver import answers, impersonation, options, routes, target, verbs
from hardpoint.apiserver.audit.auditor import Auditor, Refusal
from hardpoint.apiserver.audit.events import Record
from hardpoint.apiserver.authorization import contract as access
from hardpoint.apiserver.authorization.asking import question
from hardpoint.apiserver.call import Call, Services
from hardpoint.apiserver.health import TEXT
from hardpoint.apiserver.metrics import Metrics
from hardpoint.apiserver.negotiation import Form, choose
from hardpoint.apiserver.storefailures import store_failure
from hardpoint.apiserver.target import Target
from hardpoint.apiserver.traits import deprecation
from hardpoint.apiserver.warnings import warning_headers
from hardpoint.machinery import durations, errors
from hardpoint.machinery.errors import ApiError, StoreError
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import Request, Response, User
from hardpoint.seams.audit.contract import Stage

Json = dict[str, Any]
Paths = Callable[[Request], Awaitable[Response]]
"""Answers the paths that are not resources. Raises ApiError."""

WRITE_SECONDS_MAX = 34.0
REQUEST_SECONDS_MAX = 60.0
_SHORTEST_SECONDS = 0.001
_READS = frozenset(("get", "list"))
_CACHE_CONTROL = ("Cache-Control", "no-cache, private")
_AUDIT_ID_LENGTH_MAX = 64
_NOT_IN_TIME = "request did not complete within the allotted timeout"

log = logging.getLogger(__name__)


class Unrecorded(Exception):
    """The audit log could not be written, and its owner would rather have no answer than one without a record."""


class _Errand:
    """One request, and what the walk has found out about it so far."""

    __slots__ = ("audit_id", "error", "is_broken", "record", "request", "user", "verb", "warnings", "where")

    def __init__(self, request: Request, where: Target, verb: str) -> None:
        said = request.headers.get("audit-id", "")
        self.audit_id = said if 0 < len(said) <= _AUDIT_ID_LENGTH_MAX else _audit_id()
        self.request = request
        self.where = where
        self.verb = verb
        self.user: User | None = None
        """Who sent it, whomever they act as."""
        self.record: Record | None = None
        self.error: ApiError | None = None
        self.is_broken = False
        """Whether the server failed, rather than refused."""
        self.warnings: list[str] = []


class Walk:
    """The way every request takes, built-in or custom, over a socket or in-process."""

    def __init__(self, services: Services, metrics: Metrics, paths: Paths, auditor: Auditor | None = None) -> None:
        self._services = services
        self._metrics = metrics
        self._paths = paths
        self._auditor = auditor

    async def handle(self, request: Request) -> Response:
        """Answer a request."""
        started = perf_counter()
        where = target.parse(request.path)
        verb = target.verb_of(where, request.method, watch=options.is_watch(request.query))
        errand = _Errand(request, where, verb)
        try:
            response = await self._answer(errand)
        except ApiError as refused:
            response = _refuse(errand, refused)
        except TimeoutError:
            response = _refuse(errand, errors.timeout(_NOT_IN_TIME))
        except StoreError as failed:
            response = _refuse(errand, store_failure(failed))
        except Unrecorded:
            response = Response(500, _unrecorded(request), TEXT, (("X-Content-Type-Options", "nosniff"),))
        except Exception as bug:
            log.exception("request failed", extra={"method": request.method, "path": request.path})
            errand.is_broken = True
            if errand.record is not None:
                errand.record.failed(bug)
            response = _refuse(errand, errors.internal_error("the server has a defect; its log has the details"))
        self._finish(errand, response)
        self._observe(errand, response, perf_counter() - started)
        if self._auditor is not None:
            await self._record_end(self._auditor, errand, response)
        return response

    async def _answer(self, errand: _Errand) -> Response:
        request, where = errand.request, errand.where
        user = errand.user = await self._services.authentication.authenticate(request)
        if self._auditor is not None:
            await self._record_begin(self._auditor, errand)
        acting = impersonation.acting_as(user, request.headers)
        if errand.record is not None and acting is not user:
            errand.record.impersonates(acting)
        await self._authorize(errand, question(acting, errand.verb, where, request.query))
        if where.resource and self._services.registry.has_group(where.group):
            return await self._resource(errand, acting)
        return await self._paths(request)

    async def _authorize(self, errand: _Errand, asked: access.Question) -> None:
        """Return if the user may, else raise 403."""
        decision = await self._services.authorization.authorize(asked)
        if errand.record is not None:
            errand.record.decided(decision.is_allowed, decision.reason)
        if not decision.is_allowed:
            raise access.refusal(asked, decision)

    async def _resource(self, errand: _Errand, user: User) -> Response:
        request, where, verb, warnings = errand.request, errand.where, errand.verb, errand.warnings
        kind, part = routes.find(self._services.registry, where)
        routes.check(request, verb, kind, part, where)
        handler = verbs.find(kind, where.subresource, verb)
        if handler is None:
            raise errors.method_not_allowed()
        call = Call(self._services, request, where, kind, part, verb, user, warnings, record=errand.record)
        if deprecated := deprecation(kind):
            warnings.append(deprecated)
            call.annotate("k8s.io/deprecated", "true")
        if call.record is not None and verb == "patch":
            call.record.sent_patch()
        seconds = _seconds_allowed(request, where, verb)
        if seconds is None:
            return await handler(call)
        async with asyncio.timeout(seconds):
            return await handler(call)

    # What the audit log is told.

    async def _record_begin(self, auditor: Auditor, errand: _Errand) -> None:
        record = errand.record = auditor.begin(
            errand.audit_id, errand.request, errand.where, _told_verb(errand), errand.user
        )
        if record is None:
            return
        told = auditor.tell(record, "RequestReceived")
        if told is not None and not await told:
            auditor.reject()
            raise Unrecorded

    async def _record_end(self, auditor: Auditor, errand: _Errand, response: Response) -> None:
        record = errand.record
        if record is None:
            await self._record_refusal(auditor, errand, response)
            return
        if errand.is_broken:
            stages: tuple[Stage, ...] = ("Panic",)
        else:
            record.answered(response, errand.error)
            stages = ("ResponseStarted",) if target.runs_long(errand.where, errand.verb) else ()
            if response.stream is None:
                stages = (*stages, "ResponseComplete")
            else:
                response.stream = _recorded(response.stream, auditor, record)
        for stage in stages:
            told = auditor.tell(record, stage)
            if told is not None:
                await told

    async def _record_refusal(self, auditor: Auditor, errand: _Errand, response: Response) -> None:
        """Tell of a request nobody was found to have made, and of one that is only told because it was refused."""
        if response.status not in (401, 403):
            return
        verb = _told_verb(errand)
        refused = Refusal(errand.audit_id, errand.request, errand.where, verb, errand.user, response, errand.error)
        told = auditor.refused(refused) if errand.user is not None else auditor.unauthenticated(refused)
        if told is not None:
            await told

    # What is the same for all.

    def _finish(self, errand: _Errand, response: Response) -> None:
        """Add the headers every answer has."""
        headers = [("Audit-Id", errand.audit_id)]
        if not any(name == "Cache-Control" for name, _ in response.headers):
            headers.append(_CACHE_CONTROL)
        headers += response.headers
        if errand.warnings:
            headers += warning_headers(errand.warnings)
        response.headers = headers

    def _observe(self, errand: _Errand, response: Response, seconds: float) -> None:
        where, verb = errand.where, errand.verb
        kind = self._services.registry.find(where.group, where.version, where.resource) if where.resource else None
        if kind is None:
            self._metrics.observe(verb.upper(), "", "", "", "", "", response.status, seconds)
            return
        scope = "resource" if where.name else "namespace" if where.namespace else "cluster"
        part = where.subresource if any(each.name == where.subresource for each in kind.subresources) else ""
        labels = (verb.upper(), kind.group, kind.version, kind.plural, part, scope)
        self._metrics.observe(*labels, response.status, seconds)
        if response.stream is not None:
            response.stream = self._counted(response.stream, labels)

    async def _counted(
        self, stream: AsyncIterator[bytes], labels: tuple[str, str, str, str, str, str]
    ) -> AsyncIterator[bytes]:
        """A stream that is counted as running while it does."""
        with self._metrics.long_running(*labels):
            async with aclosing(stream):  # type: ignore[type-var] # our streams are generators
                async for chunk in stream:
                    yield chunk


async def _recorded(stream: AsyncIterator[bytes], auditor: Auditor, record: Record) -> AsyncIterator[bytes]:
    """A stream whose end is recorded, whichever way it ends."""
    try:
        async with aclosing(stream):  # type: ignore[type-var] # our streams are generators
            async for chunk in stream:
                yield chunk
    finally:
        told = auditor.tell(record, "ResponseComplete")
        if told is not None:
            await told


def _told_verb(errand: _Errand) -> str:
    """The verb as kube-apiserver tells it: none for a method that no resource has."""
    return errand.verb if not errand.where.resource or errand.request.method in target.VERBS else ""


def _refuse(errand: _Errand, refused: ApiError) -> Response:
    errand.error = refused
    return refusal(errand.request, refused)


def _unrecorded(request: Request) -> bytes:
    uri = f"{request.path}?{request.query}" if request.query else request.path
    return f"Internal Server Error: {quote(uri)}: failed to store audit event\n".encode()


def refusal(request: Request, refused: ApiError) -> Response:
    """A Status in the form the client takes; in JSON if it takes none of ours."""
    try:
        form = choose(request.headers.get("accept", ""), transforms=False)
    except ApiError:
        form = Form()
    response = answers.plain(request, form, encode(refused.status()), status=refused.code)
    headers = [("X-Content-Type-Options", "nosniff")] if refused.code == 403 else []
    if refused.retry_after_seconds > 0:
        headers.append(("Retry-After", str(refused.retry_after_seconds)))
    response.headers = headers
    return response


def _seconds_allowed(request: Request, where: Target, verb: str) -> float | None:
    """How long a request may take; None for reads without a wish and for what runs long."""
    if target.runs_long(where, verb):
        return None
    limit = None if verb in _READS else WRITE_SECONDS_MAX
    if "timeout=" not in request.query:
        return limit
    text = options.first(options.parse_query(request.query), "timeout")
    if not text:
        return limit
    try:
        seconds = durations.parse(text) / 1e9
    except durations.BadDuration as wrong:
        raise errors.bad_request(f"invalid timeout specified in the request URL - {wrong}") from wrong
    if seconds <= 0:
        return limit
    if seconds < _SHORTEST_SECONDS:
        raise TimeoutError
    return min(seconds, limit or REQUEST_SECONDS_MAX)


def _audit_id() -> str:
    digits = f"{getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
