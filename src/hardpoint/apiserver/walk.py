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
from hardpoint.apiserver.authorization import contract as access
from hardpoint.apiserver.call import Call, Services
from hardpoint.apiserver.metrics import Metrics
from hardpoint.apiserver.negotiation import Form, choose
from hardpoint.apiserver.storefailures import store_failure
from hardpoint.apiserver.target import Target
from hardpoint.apiserver.traits import deprecation
from hardpoint.apiserver.warnings import warning_headers
from hardpoint.machinery import durations, errors
from hardpoint.machinery.errors import ApiError, StoreError
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.messages import Request, Response, User

Json = dict[str, Any]
Paths = Callable[[Request], Awaitable[Response]]
"""Answers the paths that are not resources. Raises ApiError."""

WRITE_SECONDS_MAX = 34.0
REQUEST_SECONDS_MAX = 60.0
_SHORTEST_SECONDS = 0.001
_READS = frozenset(("get", "list"))
_LONG_RUNNING = frozenset(("watch", "proxy"))
_CACHE_CONTROL = ("Cache-Control", "no-cache, private")
_AUDIT_ID_LENGTH_MAX = 64
_NOT_IN_TIME = "request did not complete within the allotted timeout"

log = logging.getLogger(__name__)


class Walk:
    """The way every request takes, built-in or custom, over a socket or in-process."""

    def __init__(self, services: Services, metrics: Metrics, paths: Paths) -> None:
        self._services = services
        self._metrics = metrics
        self._paths = paths

    async def handle(self, request: Request) -> Response:
        """Answer a request."""
        started = perf_counter()
        where = target.parse(request.path)
        verb = target.verb_of(where, request.method, watch=options.is_watch(request.query))
        warnings: list[str] = []
        try:
            user = impersonation.acting_as(await self._services.authentication.authenticate(request), request.headers)
            await self._authorize(access.Question(user, verb, where))
            if where.resource and self._services.registry.has_group(where.group):
                response = await self._resource(request, where, verb, user, warnings)
            else:
                response = await self._paths(request)
        except ApiError as refused:
            response = refusal(request, refused)
        except TimeoutError:
            response = refusal(request, errors.timeout(_NOT_IN_TIME))
        except StoreError as failed:
            response = refusal(request, store_failure(failed))
        except Exception:
            log.exception("request failed", extra={"method": request.method, "path": request.path})
            response = refusal(request, errors.internal_error("the server has a defect; its log has the details"))
        self._finish(request, response, warnings)
        self._observe(where, verb, response, perf_counter() - started)
        return response

    async def _authorize(self, question: access.Question) -> None:
        """Return if the user may, else raise 403."""
        decision = await self._services.authorization.authorize(question)
        if not decision.is_allowed:
            raise access.refusal(question, decision)

    async def _resource(self, request: Request, where: Target, verb: str, user: User, warnings: list[str]) -> Response:
        kind, part = routes.find(self._services.registry, where)
        routes.check(request, verb, kind, part, where)
        handler = verbs.find(kind, where.subresource, verb)
        if handler is None:
            raise errors.method_not_allowed()
        if deprecated := deprecation(kind):
            warnings.append(deprecated)
        call = Call(self._services, request, where, kind, part, verb, user, warnings)
        seconds = _seconds_allowed(request, verb)
        if seconds is None:
            return await handler(call)
        async with asyncio.timeout(seconds):
            return await handler(call)

    def _finish(self, request: Request, response: Response, warnings: list[str]) -> None:
        """Add the headers every answer has."""
        said = request.headers.get("audit-id", "")
        headers = [("Audit-Id", said if 0 < len(said) <= _AUDIT_ID_LENGTH_MAX else _audit_id())]
        if not any(name == "Cache-Control" for name, _ in response.headers):
            headers.append(_CACHE_CONTROL)
        headers += response.headers
        if warnings:
            headers += warning_headers(warnings)
        response.headers = headers

    def _observe(self, where: Target, verb: str, response: Response, seconds: float) -> None:
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


def _seconds_allowed(request: Request, verb: str) -> float | None:
    """How long a request may take; None for reads without a wish and for what runs long."""
    if verb in _LONG_RUNNING:
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
