"""A request's walk: who asks, is it written down, is there room, may they, what do they want, answer.

The verbs do the rest, each in a file of its own. Whatever goes wrong on the way becomes an answer: it never raises.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from time import perf_counter

from hardpoint.apiserver import impersonation, options, routes, target, validating, verbs
from hardpoint.apiserver.audit import recording
from hardpoint.apiserver.audit.auditor import Auditor
from hardpoint.apiserver.authorization import contract as access
from hardpoint.apiserver.authorization.asking import question
from hardpoint.apiserver.call import Call, Services
from hardpoint.apiserver.deadlines import Deadlines
from hardpoint.apiserver.errand import Errand
from hardpoint.apiserver.flow.contract import Limits, Overloaded, Seat
from hardpoint.apiserver.metrics import Metrics
from hardpoint.apiserver.refusing import refusal, too_many, unrecorded
from hardpoint.apiserver.storefailures import store_failure
from hardpoint.apiserver.threads import LARGE_BYTES
from hardpoint.apiserver.traits import deprecation
from hardpoint.apiserver.warnings import warning_headers
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError, StoreError
from hardpoint.machinery.messages import IN_PROCESS, Request, Response, User

Paths = Callable[[Request], Awaitable[Response]]
"""Answers the paths that are not resources. Raises ApiError."""

WATCH_OPENING_SECONDS_MAX = 5.0
"""A watch whose beginning takes longer gives its seat back all the same: its client may be slow."""
KEPT_BYTES = 256 * 1024
"""A larger answer keeps its seat until the client has taken it: so many are in memory at once."""
_CACHE_CONTROL = ("Cache-Control", "no-cache, private")
_NOT_IN_TIME = "request did not complete within the allotted timeout"

log = logging.getLogger(__name__)


class Walk:
    """The way every request takes, built-in or custom, over a socket or in-process."""

    def __init__(
        self,
        services: Services,
        metrics: Metrics,
        paths: Paths,
        *,
        auditor: Auditor | None = None,
        limits: Limits | None = None,
        deadlines: Deadlines | None = None,
    ) -> None:
        self._services = services
        self._impersonation = impersonation.Impersonation(services.authorization)
        self._metrics = metrics
        self._paths = paths
        self._auditor = auditor
        self._limits = limits
        self._deadlines = deadlines or Deadlines()

    async def handle(self, request: Request) -> Response:
        """Answer a request."""
        started = perf_counter()
        where = target.parse(request.path)
        verb = target.verb_of(where, request.method, watch=options.is_watch(request.query))
        errand = Errand(request, where, verb)
        try:
            response = await self._answer_or_refuse(errand)
            self._finish(errand, response)
            self._observe(errand, response, perf_counter() - started)
            if self._auditor is not None:
                told = recording.end(self._auditor, errand, response)
                if told is not None:
                    await told
            if response.status == 401 and self._limits is not None:
                await asyncio.sleep(self._limits.refuse())
        except BaseException:
            # Nobody waits for the answer any more.
            if errand.seat is not None:
                errand.seat.leave()
            raise
        if errand.seat is not None and not errand.keeps_seat:
            _leave(errand.seat, request, response)
        return response

    async def _answer_or_refuse(self, errand: Errand) -> Response:
        """Whatever goes wrong becomes an answer."""
        request = errand.request
        try:
            return await self._answer(errand)
        except ApiError as refused:
            return _refuse(errand, refused)
        except Overloaded as full:
            return too_many(full)
        except TimeoutError:
            return _refuse(errand, errors.timeout(_NOT_IN_TIME))
        except StoreError as failed:
            return _refuse(errand, store_failure(failed))
        except recording.Unrecorded:
            return unrecorded(request)
        except Exception as bug:
            log.exception("request failed", extra={"method": request.method, "path": request.path})
            if errand.record is not None:
                errand.record.breaks(bug)
            return _refuse(errand, errors.internal_error("the server has a defect; its log has the details"))

    async def _answer(self, errand: Errand) -> Response:
        request, where, verb = errand.request, errand.where, errand.verb
        user = errand.user = await self._services.authentication.authenticate(request)
        asked = question(user, verb, where, request.query)
        if self._auditor is not None:
            told = recording.begin(self._auditor, errand, asked)
            if told is not None:
                await told
        acting = user
        if impersonation.is_asked(request.headers):
            acting, constraint = await self._impersonation.acting_as(request.headers, asked)
            asked = asked._replace(user=acting)
            if errand.record is not None:
                errand.record.impersonates(acting, constraint)
        if self._limits is not None and (verb == "watch" or not target.runs_long(where, verb)):
            errand.seat = self._limits.enter(acting, verb, where) or await self._limits.wait(acting, verb, where)
        await self._authorize(errand, asked)
        if where.resource and self._services.registry.has_group(where.group):
            return await self._resource(errand, acting)
        return await self._paths(request)

    async def _authorize(self, errand: Errand, asked: access.Question) -> None:
        """Return if the user may, else raise 403."""
        decision = await self._services.authorization.authorize(asked)
        if errand.record is not None:
            errand.record.decided(decision.is_allowed, decision.reason)
        if not decision.is_allowed:
            raise access.refusal(asked, decision)

    async def _resource(self, errand: Errand, user: User) -> Response:
        request, where, verb, warnings = errand.request, errand.where, errand.verb, errand.warnings
        kind, part = routes.find(self._services.registry, where)
        routes.check(request, verb, kind, part, where)
        if kind.structure is not None and not kind.structure.is_prepared:
            await validating.prepare(kind.structure)
        handler = verbs.find(kind, where.subresource, verb)
        if handler is None:
            raise errors.method_not_allowed()
        call = Call(self._services, request, where, kind, part, verb, user, warnings, record=errand.record)
        call.is_large = len(request.body) > LARGE_BYTES
        if deprecated := deprecation(kind):
            warnings.append(deprecated)
            call.annotate("k8s.io/deprecated", "true")
        if call.record is not None and verb == "patch":
            call.record.sent_patch()
        if errand.seat is not None and verb == "watch":
            return await self._watch(errand, call, handler)
        seconds = self._deadlines.seconds(request, where, verb)
        if seconds is None:
            return await handler(call)
        async with asyncio.timeout(seconds):
            return await handler(call)

    async def _watch(self, errand: Errand, call: Call, handler: verbs.Verb) -> Response:
        """A watch counts as a request only while it tells what there is already."""
        assert errand.seat is not None, "who calls this looked"
        call.opened = errand.seat.leave
        response = await handler(call)
        errand.keeps_seat = True
        asyncio.get_running_loop().call_later(WATCH_OPENING_SECONDS_MAX, errand.seat.leave)
        return response

    def _finish(self, errand: Errand, response: Response) -> None:
        """Add the headers every answer has."""
        headers = [("Audit-Id", errand.audit_id)]
        if not any(name == "Cache-Control" for name, _ in response.headers):
            headers.append(_CACHE_CONTROL)
        headers += response.headers
        if errand.seat is not None:
            headers += errand.seat.headers
        if errand.warnings:
            headers += warning_headers(errand.warnings)
        response.headers = headers

    def _observe(self, errand: Errand, response: Response, seconds: float) -> None:
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


def _leave(seat: Seat, request: Request, response: Response) -> None:
    """Give a seat back: now, or for a large answer when it was taken. What was refused tells nothing about sizes."""
    size = len(response.body)
    if size > KEPT_BYTES and request.peer.address != IN_PROCESS:
        response.taken = seat.leave_when_taken(size)
    else:
        seat.leave(size if response.status < 400 else None)


def _refuse(errand: Errand, refused: ApiError) -> Response:
    errand.error = refused
    return refusal(errand.request, refused)
