"""The API server put together: a store behind, a function in front."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hardpoint.apiserver import verbs, version
from hardpoint.apiserver.admission.chain import Chain
from hardpoint.apiserver.allotment import ServiceAllotter
from hardpoint.apiserver.audit.auditor import Auditor
from hardpoint.apiserver.authentication import extension
from hardpoint.apiserver.authentication.assembly import assemble
from hardpoint.apiserver.authentication.issuing import TokenIssuer
from hardpoint.apiserver.authentication.options import AuthenticationOptions
from hardpoint.apiserver.authentication.service_account_keys import ServiceAccountKeys
from hardpoint.apiserver.authorization.configuration import from_options
from hardpoint.apiserver.authorization.modes import Material, authorizers, following
from hardpoint.apiserver.authorization.options import AuthorizationOptions
from hardpoint.apiserver.authorization.rbac.authorizer import GROUP as RBAC
from hardpoint.apiserver.authorization.rbac.authorizer import Rbac
from hardpoint.apiserver.authorization.rbac.escalation import Escalation
from hardpoint.apiserver.bootstrap import bootstrap, put
from hardpoint.apiserver.bootstrap_policy import ensure_policy, has_policy
from hardpoint.apiserver.call import Services
from hardpoint.apiserver.compaction import keep_compacted
from hardpoint.apiserver.custom.lifecycle import CustomResources
from hardpoint.apiserver.deadlines import Deadlines
from hardpoint.apiserver.discovery import Discovery
from hardpoint.apiserver.flow.conditions import keep_conditions
from hardpoint.apiserver.flow.following import FlowObjects
from hardpoint.apiserver.flow.gate import Gate
from hardpoint.apiserver.flow.options import FlowOptions, make_limits
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.index import Index
from hardpoint.apiserver.metrics import Metrics
from hardpoint.apiserver.openid import OpenId
from hardpoint.apiserver.places import place
from hardpoint.apiserver.reader import FollowingReader
from hardpoint.apiserver.registry import Registry
from hardpoint.apiserver.traits import VIRTUAL
from hardpoint.apiserver.walk import Walk
from hardpoint.machinery import errors, kinds
from hardpoint.machinery.messages import Handler, Request, Response
from hardpoint.machinery.timestamps import format_time
from hardpoint.serving import health
from hardpoint.serving.health import Health
from hardpoint.store.contract import Store

if TYPE_CHECKING:
    from hardpoint.apiserver.openapi import OpenApi


_HOOKS = (
    "start-system-namespaces-controller",
    "priority-and-fairness-config-producer",
    "bootstrap-controller",
)
_ROLES = ("roles", "clusterroles", "rolebindings", "clusterrolebindings")


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
        auditor: Auditor | None = None,
        flow: FlowOptions | None = None,
        authentication: AuthenticationOptions | None = None,
        authorization: AuthorizationOptions | None = None,
    ) -> None:
        self._store = store
        authorization = authorization or AuthorizationOptions()
        self._authentication = (authentication or AuthenticationOptions()).under(authorization.modes)
        self._host, self._port = host, port
        self.registry = Registry(kinds.builtin())
        self.hub = Hub(store)
        self.metrics = Metrics(self._count_objects)
        self.health = Health()
        self._discovery = Discovery(self.registry, f"{host}:{port}")
        accounts, reader = self._authentication.service_accounts, FollowingReader(store, self.hub)
        self._account_keys = ServiceAccountKeys(accounts)
        self._openid = OpenId(accounts, self._account_keys, f"{host}:{port}")
        own_paths = (_own_paths, self._openid.paths)
        self._index = Index(self._discovery.paths, self.health.paths, lambda: self._openapi.paths(), *own_paths)
        rbac = Rbac(self.hub, store)
        self._access = Material(authorization, from_options(authorization), self.hub, store, rbac)
        self._authorization = authorizers(self._access)
        self.metrics.add(self._access.metrics.families)
        escalation = Escalation(rbac, self._authorization)
        services = Services(
            store=store,
            hub=self.hub,
            registry=self.registry,
            authentication=assemble(self._authentication, self._account_keys, reader, self.hub, now),
            token_issuer=TokenIssuer(accounts, self._account_keys, self._authentication.audiences, now),
            authorization=self._authorization,
            admission=Chain(reader, self._authorization),
            allotters={"services": ServiceAllotter(store, lambda: format_time(now()))},
            guards={f"{plural}.{RBAC}": escalation for plural in _ROLES},
            now=now,
        )
        self._now = now
        flow = flow or FlowOptions()
        limits = make_limits(flow)
        self._flow_objects = FlowObjects(self.hub, store, limits) if isinstance(limits, Gate) else None
        self._authenticators = services.authentication
        self.metrics.add(self._authenticators.metrics.families)
        self.handle: Handler = Walk(
            services,
            self.metrics,
            self._path,
            auditor=auditor,
            limits=limits,
            deadlines=Deadlines(flow.request_seconds_max),
        ).handle
        self._custom = CustomResources(self.hub, store, self.registry, self.handle, now)
        self.metrics.add(self._custom.families)
        self._is_stopping = False
        self.health.add("etcd", self._store_answers)
        self.health.add("etcd-readiness", self._store_answers, live=False)
        self.health.add("shutdown", self._not_stopping, live=False)
        if auditor is not None:
            self.metrics.add(auditor.families)
            self.health.add("audit-log", auditor.check, live=False)
        if isinstance(limits, Gate):
            self.metrics.add(limits.families)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ApiServer]:
        """Serve until left. The objects every cluster has exist once this is entered.

        A server that has run before mends its policy beside the first requests, and is ready when it has.
        """
        hooks = [self.health.hook(name) for name in _HOOKS]
        mended = self.health.hook("rbac/bootstrap-roles")
        changes = following(self._authorization, self._access)
        async with self.hub.running(), self._authenticators.running(), changes, asyncio.TaskGroup() as tasks:
            compacting = tasks.create_task(keep_compacted(self._store), name="compaction")
            running: list[asyncio.Task[None]] = []
            try:
                policy = tasks.create_task(self._ensure_policy(mended), name="policy")
                running.append(policy)
                if not await has_policy(self._store):
                    await policy
                if self._flow_objects is not None:
                    await self._flow_objects.load()
                await self._custom.load()
                running.append(tasks.create_task(self._custom.run(), name="custom resources"))
                if self._flow_objects is not None:
                    conditions = keep_conditions(self._flow_objects, self.handle, self._now)
                    running.append(tasks.create_task(conditions, name="flow schemas' conditions"))
                await bootstrap(self.handle, self._host, self._port)
                await put(self.handle, extension.COLLECTION, extension.config_map(self._authentication))
                for finish in hooks:
                    finish()
                yield self
            finally:
                self._is_stopping = True
                compacting.cancel()
                for task in running:
                    task.cancel()

    async def _ensure_policy(self, done: Callable[[], None]) -> None:
        await ensure_policy(self._store, self._now)
        done()

    async def sign(self, claims: Mapping[str, Any]) -> str:
        """A token of these claims, signed with the key of service accounts: for the controller that fills Secrets."""
        return await self._account_keys.sign(claims)

    async def warm_up(self) -> None:
        """Import what the first writes need, and read the roles, beside whatever is going on."""
        await asyncio.to_thread(verbs.load)
        await self._access.rbac.load()

    @cached_property
    def _openapi(self) -> OpenApi:
        from hardpoint.apiserver.openapi import OpenApi  # Not before somebody asks: kubectl explain and apply do.

        return OpenApi(self.registry, lambda kind: kind.structure.said if kind.structure is not None else None)

    async def _path(self, request: Request) -> Response:
        """Answer a path of the server's own."""
        response = (
            self._discovery.respond(request)
            or await self.health.respond(request)
            or version.respond(request)
            or await self._openid.respond(request)
            or (await self._openapi.respond(request) if request.path.startswith("/openapi") else None)
            or await self.metrics.respond(request)
            or self._index.respond(request)
        )
        if response is not None:
            return response
        if self._is_below_a_group(request.path):
            raise errors.no_such_path()
        return Response(404, b"404 page not found\n", health.TEXT, (("X-Content-Type-Options", "nosniff"),))

    def _is_below_a_group(self, path: str) -> bool:
        """Whether a group is asked for a version or kind it does not have; its own Status says so."""
        root, _, rest = path.removeprefix("/").partition("/")
        return root == "api" or (root == "apis" and self.registry.has_group(rest.partition("/")[0]))

    async def _count_objects(self) -> Mapping[tuple[str, str], int]:
        stored = [kind for kind in self.registry if kind.known_as not in VIRTUAL]
        return {(kind.group, kind.plural): await self._store.count(place(kind).prefix) for kind in stored}

    async def _store_answers(self) -> None:
        await self._store.revision()

    async def _not_stopping(self) -> None:
        if self._is_stopping:
            raise RuntimeError("process is shutting down")


def _own_paths() -> list[str]:
    return ["/metrics", "/version"]
