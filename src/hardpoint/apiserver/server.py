"""The API server: from a request to its answer, in one short walk.

`handle` is the whole server as a function. It authenticates, authorizes, finds the kind and the verb, and turns every
failure into a Status. The verbs do the rest, each in a file of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from random import getrandbits
from time import perf_counter
from typing import Any

from hardpoint.apiserver import admission, answers, connect, identity, options, target, verbs, version
from hardpoint.apiserver.allotment import ServiceAllotter
from hardpoint.apiserver.bootstrap import bootstrap
from hardpoint.apiserver.call import Call, Services
from hardpoint.apiserver.compaction import keep_compacted
from hardpoint.apiserver.discovery import Discovery
from hardpoint.apiserver.health import Health
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.index import Index
from hardpoint.apiserver.metrics import Metrics
from hardpoint.apiserver.negotiation import Form, choose
from hardpoint.apiserver.openapi import OpenApi
from hardpoint.apiserver.reader import StoreReader
from hardpoint.apiserver.registry import Registry
from hardpoint.apiserver.target import Target
from hardpoint.apiserver.traits import DEPRECATED
from hardpoint.apiserver.warnings import warning_headers
from hardpoint.machinery import durations, errors, kinds
from hardpoint.machinery.errors import ApiError, StoreError
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind, Subresource
from hardpoint.machinery.messages import Request, Response, User
from hardpoint.machinery.timestamps import format_time
from hardpoint.store.contract import Broken, Corrupt, Full, Store

Json = dict[str, Any]

WRITE_SECONDS_MAX = 34.0
REQUEST_SECONDS_MAX = 60.0
_SHORTEST_SECONDS = 0.001
_ON_OBJECTS = frozenset(("delete", "get", "patch", "update"))
_LONG_RUNNING = frozenset(("watch", "proxy"))
_CACHE_CONTROL = ("Cache-Control", "no-cache, private")
_NOT_IN_TIME = "request did not complete within the allotted timeout"

log = logging.getLogger(__name__)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class ApiServer:
    """A Kubernetes API over a store. `handle` answers requests while `running` is entered."""

    def __init__(
        self,
        store: Store,
        *,
        host: str = "127.0.0.1",
        port: int = 6443,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._store = store
        self._host, self._port = host, port
        self._now = now
        self.registry = Registry(kinds.builtin())
        self.hub = Hub(store)
        self.metrics = Metrics()
        self.health = Health()
        self._discovery = Discovery(self.registry, f"{host}:{port}")
        self._openapi = OpenApi(self.registry)
        self._index = Index(self._discovery.paths, self.health.paths, self._openapi.paths, _own_paths)
        self._services = Services(
            store=store,
            hub=self.hub,
            registry=self.registry,
            admission=admission.chain(StoreReader(store)),
            allotters={"services": ServiceAllotter(store, lambda: format_time(now()))},
            now=now,
        )
        self.health.add("etcd", self._store_answers)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ApiServer]:
        """Serve until left. The objects every cluster has exist once this is entered."""
        ready = self.health.hook("bootstrap-controller")
        async with self.hub.running(), asyncio.TaskGroup() as tasks:
            compacting = tasks.create_task(keep_compacted(self._store), name="compaction")
            try:
                await bootstrap(self.handle, self._host, self._port)
                ready()
                yield self
            finally:
                compacting.cancel()

    async def handle(self, request: Request) -> Response:
        """Answer a request. Never raises."""
        started = perf_counter()
        where = target.parse(request.path)
        verb = target.verb_of(where, request.method, watch=options.is_watch(request.query))
        warnings: list[str] = []
        try:
            user = identity.authenticate(request)
            identity.authorize(user, verb, where)
            if where.resource:
                response = await self._resource(request, where, verb, user, warnings)
            else:
                response = await self._path(request)
        except ApiError as refused:
            response = refusal(request, refused)
        except TimeoutError:
            response = refusal(request, errors.timeout(_NOT_IN_TIME))
        except StoreError as failed:
            response = refusal(request, _store_failure(failed))
        except Exception:
            log.exception("request failed", extra={"method": request.method, "path": request.path})
            response = refusal(request, errors.internal_error("the server has a defect; its log has the details"))
        self._finish(request, response, warnings)
        self._observe(where, verb, response.status, perf_counter() - started)
        return response

    async def _resource(self, request: Request, where: Target, verb: str, user: User, warnings: list[str]) -> Response:
        kind, part = self._find(where)
        allowed = part.verbs if part else kind.verbs
        handler = verbs.find(kind, where.subresource, verb)
        if where.subresource in connect.SUBRESOURCES:
            handler = connect.connect
        elif verb not in allowed or handler is None:
            raise errors.method_not_allowed()
        if not _fits(verb, kind, where):
            raise errors.method_not_allowed()
        if deprecated := DEPRECATED.get((kind.group, kind.version, kind.kind)):
            warnings.append(deprecated)
        call = Call(self._services, request, where, kind, part, verb, user, warnings)
        seconds = _seconds_allowed(request, verb)
        if seconds is None:
            return await handler(call)
        async with asyncio.timeout(seconds):
            return await handler(call)

    def _find(self, where: Target) -> tuple[Kind, Subresource | None]:
        kind = self.registry.find(where.group, where.version, where.resource)
        if kind is None or (where.namespace and not kind.namespaced and kind.kind != "Namespace"):
            raise errors.no_such_path()
        if not where.subresource:
            return kind, None
        for part in kind.subresources:
            if part.name == where.subresource:
                return kind, part
        raise errors.no_such_path()

    async def _path(self, request: Request) -> Response:
        """An endpoint of the server's own."""
        response = (
            self._discovery.respond(request)
            or await self.health.respond(request)
            or version.respond(request)
            or await self._openapi.respond(request)
            or await self.metrics.respond(request)
            or self._index.respond(request)
        )
        if response is not None:
            return response
        if request.path.startswith(("/api/", "/apis/")):
            raise errors.no_such_path()
        return self._index.page(404)

    def _finish(self, request: Request, response: Response, warnings: list[str]) -> None:
        """Add the headers every answer has."""
        headers = [("Audit-Id", request.headers.get("audit-id") or _audit_id())]
        if not any(name == "Cache-Control" for name, _ in response.headers):
            headers.append(_CACHE_CONTROL)
        headers += response.headers
        if warnings:
            headers += warning_headers(warnings)
        response.headers = headers

    def _observe(self, where: Target, verb: str, status: int, seconds: float) -> None:
        kind = self.registry.find(where.group, where.version, where.resource) if where.resource else None
        if kind is None:
            self.metrics.observe(verb.upper(), "", "", "", "", "", status, seconds)
            return
        scope = "resource" if where.name else "namespace" if where.namespace else "cluster"
        subresource = where.subresource if any(part.name == where.subresource for part in kind.subresources) else ""
        self.metrics.observe(verb.upper(), kind.group, kind.version, kind.plural, subresource, scope, status, seconds)

    async def _store_answers(self) -> None:
        await self._store.revision()


def _fits(verb: str, kind: Kind, where: Target) -> bool:
    """Whether a verb may be used on what the URL names: a collection of one namespace, of all, or an object."""
    if kind.namespaced and not where.namespace:
        return verb in ("list", "watch")
    if where.subresource:
        return True
    return bool(where.name) == (verb in _ON_OBJECTS) or verb == "watch"


def refusal(request: Request, refused: ApiError) -> Response:
    """A Status in the form the client takes; in JSON if it takes none of ours."""
    try:
        form = choose(request.headers.get("accept", ""))
    except ApiError:
        form = Form()
    response = answers.plain(request, form, encode(refused.status()), status=refused.code)
    headers = [("X-Content-Type-Options", "nosniff")] if refused.code == 403 else []
    if refused.retry_after_seconds > 0:
        headers.append(("Retry-After", str(refused.retry_after_seconds)))
    response.headers = headers
    return response


def _store_failure(failed: StoreError) -> ApiError:
    """What a client is told when the store cannot; never a stack trace, and never that something was not stored."""
    if isinstance(failed, Full):
        return ApiError(507, "InsufficientStorage", f"the store has no space left: {failed}")
    if isinstance(failed, Corrupt):
        return ApiError(500, "StoreReadError", str(failed))
    if isinstance(failed, Broken):
        return errors.service_unavailable(f"the store must be reopened: {failed}")
    return errors.service_unavailable(f"the store did not answer: {failed}")


def _seconds_allowed(request: Request, verb: str) -> float | None:
    """How long a request may take; None for reads without a wish and for what runs long."""
    if verb in _LONG_RUNNING:
        return None
    limit = None if verb in ("get", "list") else WRITE_SECONDS_MAX
    if "timeout=" not in request.query:
        return limit
    text = options.first(options.parse_query(request.query), "timeout")
    if not text:
        return limit
    try:
        seconds = durations.parse(text) / 1e9
    except durations.BadDuration as wrong:
        raise errors.bad_request("invalid timeout specified in the request URL") from wrong
    if seconds < _SHORTEST_SECONDS:
        raise TimeoutError
    return min(seconds, limit or REQUEST_SECONDS_MAX)


def _audit_id() -> str:
    digits = f"{getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


def _own_paths() -> list[str]:
    return ["/metrics", "/version"]
