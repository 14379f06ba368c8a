"""The verbs of a Kubernetes API, for any resource of any server.

Objects are plain dicts, as `kubectl get -o json` shows them. A resource is named as people name it ("pods", "deploy",
"apps/v1 Deployment") and found by discovery, or it is an explicit `Resource`. What the server refuses is an ApiError.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Self, Unpack
from urllib.parse import urlencode

import orjson

from hardpoint.client.answers import Warnings, decoded
from hardpoint.client.collection import PAGE_SIZE, Collection
from hardpoint.client.credentials import CredentialPlugins
from hardpoint.client.discovery import Discovery
from hardpoint.client.dryrun import DryRun
from hardpoint.client.endpoint import find_endpoint
from hardpoint.client.events import Event
from hardpoint.client.http import HttpTransport
from hardpoint.client.inprocess import InProcessTransport
from hardpoint.client.options import (
    PATCH_TYPES,
    PatchStrategy,
    Propagation,
    Selection,
    WriteOptions,
    delete_options,
    selectors,
    write_query,
)
from hardpoint.client.picture import Picture
from hardpoint.client.resources import Resource
from hardpoint.client.retries import Retrying
from hardpoint.client.transport import Answer, Transport
from hardpoint.client.watch import Pace, follow, watch_from
from hardpoint.machinery.errors import bad_request
from hardpoint.machinery.messages import IN_PROCESS, Handler, User

Json = dict[str, Any]
Wrap = Callable[[Transport, str], Transport]
"""Makes a transport of a transport and the name of the server it leads to."""


class Client:
    """Asks one API server, as one user. Calls overlap; an `async with` closes the connections at its end."""

    def __init__(self, transport: Transport, *, namespace: str = "default", pace: Pace | None = None) -> None:
        self.namespace = namespace
        self.discovery = Discovery(transport)
        self._transport = transport
        self.pace = pace or Pace()
        self._warnings = Warnings()

    @classmethod
    def from_kubeconfig(
        cls,
        kubeconfig: Path | None = None,
        *,
        context: str = "",
        namespace: str = "",
        plugins: CredentialPlugins | None = None,
        user_agent: str = "hardpoint",
        wrap: Wrap = lambda transport, _: transport,
    ) -> Self:
        """The server that kubectl would talk to. Raises ConfigError; nothing is asked yet.

        `wrap` may put something around what carries each attempt, to count or to trace it.
        """
        endpoint = find_endpoint(kubeconfig, context, plugins=plugins)
        transport = wrap(HttpTransport(endpoint, user_agent=user_agent), f"{endpoint.host}:{endpoint.port}")
        return cls(Retrying(transport), namespace=namespace or endpoint.namespace)

    @classmethod
    def in_process(
        cls,
        handler: Handler,
        user: User,
        *,
        namespace: str = "default",
        user_agent: str = "hardpoint",
        wrap: Wrap = lambda transport, _: transport,
    ) -> Self:
        """A server in the same process, asked without sockets."""
        transport = wrap(InProcessTransport(handler, user, user_agent=user_agent), IN_PROCESS)
        return cls(Retrying(transport), namespace=namespace)

    def dry_run(self) -> Client:
        """The same server, which checks what it is asked to write, answers as if it were done, and does nothing."""
        return Client(DryRun(self._transport), namespace=self.namespace, pace=self.pace)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections, and with them every watch."""
        await self._transport.close()

    async def resource(self, name: str | Resource) -> Resource:
        """The resource somebody calls `name`. Raises a NotFound if the server has none."""
        if isinstance(name, Resource):
            return name
        return Resource.of(await self.discovery.find(name))

    async def get(
        self,
        resource: str | Resource,
        name: str,
        *,
        namespace: str | None = None,
        subresource: str = "",
        resource_version: str = "",
    ) -> Json:
        """One object. With a `resource_version`, not older than that; "0" is whatever the server has at hand."""
        path = await self._object_path(resource, name, namespace, subresource)
        return await self._ask("GET", path, {"resourceVersion": resource_version})

    async def list(
        self,
        resource: str | Resource,
        *,
        page_size: int = PAGE_SIZE,
        metadata_only: bool = False,
        **selection: Unpack[Selection],
    ) -> Json:
        """All objects of one moment, as one List; each item carries its apiVersion and kind.

        They are fetched in pages, so that a long list is not one long answer; `page_size=0` asks for all at once.
        With `metadata_only` each item is a PartialObjectMetadata.
        """
        return await (await self._collection(resource, selection, page_size, metadata_only=metadata_only)).read_all()

    async def pages(
        self, resource: str | Resource, *, page_size: int = PAGE_SIZE, **selection: Unpack[Selection]
    ) -> AsyncIterator[Json]:
        """The same in pieces, for lists too long to hold. Raises ApiError 410 if reading takes too long."""
        collection = await self._collection(resource, selection, page_size)
        async for page in collection.pages():
            yield page

    async def create(
        self,
        body: Json,
        *,
        resource: str | Resource | None = None,
        name: str = "",
        subresource: str = "",
        namespace: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> Json:
        """Create an object, and return it as the server stored it.

        For a subresource (`eviction`, `token`, `binding` ...) say of which `resource` and `name`.
        """
        meant = await self.resource(resource if resource is not None else _kind_of(body))
        if subresource and not name:
            raise bad_request(f"{subresource} belongs to an object; say which with name=")
        path = meant.path(self._namespace(meant, namespace, body), name, subresource)
        return await self._ask("POST", path, write_query(options), body)

    async def update(
        self,
        body: Json,
        *,
        resource: Resource | None = None,
        subresource: str = "",
        namespace: str | None = None,
        **options: Unpack[WriteOptions],
    ) -> Json:
        """Replace an object. Its resourceVersion, if it has one, must still be the newest: else a Conflict.

        Its resource is found by its kind, or given by whoever knows it.
        """
        path = await self._path_of(body, namespace, subresource, resource)
        return await self._ask("PUT", path, write_query(options), body)

    async def replace_status(
        self, body: Json, *, namespace: str | None = None, **options: Unpack[WriteOptions]
    ) -> Json:
        """Replace an object's status and nothing else."""
        return await self.update(body, subresource="status", namespace=namespace, **options)

    async def patch(
        self,
        resource: str | Resource,
        name: str,
        patch: Json | Iterable[Json],
        *,
        strategy: PatchStrategy = "merge",
        namespace: str | None = None,
        subresource: str = "",
        force: bool = False,
        **options: Unpack[WriteOptions],
    ) -> Json:
        """Change an object. `json` takes a list of operations, the others a part of the object.

        `force` takes fields from their managers and goes with `apply` only.
        """
        path = await self._object_path(resource, name, namespace, subresource)
        query = write_query(options) | ({"force": "true"} if force else {})
        body = patch if isinstance(patch, dict) else list(patch)
        return await self._ask("PATCH", path, query, body, content_type=PATCH_TYPES[strategy])

    async def apply(
        self,
        body: Json,
        *,
        field_manager: str,
        force: bool = False,
        subresource: str = "",
        namespace: str | None = None,
        dry_run: bool = False,
    ) -> Json:
        """Server-side apply: `body` is all that `field_manager` wants, and is created where it is missing."""
        path = await self._path_of(body, namespace, subresource)
        options = WriteOptions(field_manager=field_manager, dry_run=dry_run)
        query = write_query(options) | ({"force": "true"} if force else {})
        return await self._ask("PATCH", path, query, body, content_type=PATCH_TYPES["apply"])

    async def delete(
        self,
        resource: str | Resource,
        name: str,
        *,
        namespace: str | None = None,
        propagation: Propagation | None = None,
        grace_seconds: int | None = None,
        uid: str = "",
        resource_version: str = "",
        dry_run: bool = False,
    ) -> Json:
        """Delete an object, if `uid` and `resource_version` are (still) its own. Returns it, or a Status.

        It may live on for a while: until its grace period is over and its finalizers are gone.
        """
        path = await self._object_path(resource, name, namespace, "")
        options = delete_options(
            propagation, grace_seconds, dry_run=dry_run, uid=uid, resource_version=resource_version
        )
        return await self._ask("DELETE", path, {}, options)

    async def delete_collection(
        self,
        resource: str | Resource,
        *,
        propagation: Propagation | None = None,
        grace_seconds: int | None = None,
        dry_run: bool = False,
        **selection: Unpack[Selection],
    ) -> Json:
        """Delete what the selection matches, one after the other. Returns what the server says it deleted."""
        meant = await self.resource(resource)
        path = meant.path(self._namespace(meant, selection.get("namespace")))
        options = delete_options(propagation, grace_seconds, dry_run=dry_run)
        return await self._ask("DELETE", path, selectors(selection), options)

    def watch(
        self, resource: str | Resource, *, resource_version: str = "", **selection: Unpack[Selection]
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Every change after `resource_version`, by default from now on, until the context is left.

        Cuts are bridged without loss. Raises ApiError 410 once the server no longer knows all the changes: then list
        again and watch from there, or leave that to `list_then_watch`.
        """
        return self._watch(resource, resource_version, selection)

    @asynccontextmanager
    async def _watch(
        self, resource: str | Resource, resource_version: str, selection: Selection
    ) -> AsyncIterator[AsyncIterator[Event]]:
        collection = await self._collection(resource, selection, page_size=1)
        if not resource_version:
            newest = await anext(collection.pages())
            resource_version = newest["metadata"]["resourceVersion"]
        async with aclosing(watch_from(collection, resource_version, self.pace)) as events:
            yield events

    def list_then_watch(
        self,
        resource: str | Resource,
        *,
        metadata_only: bool = False,
        picture: Picture | None = None,
        **selection: Unpack[Selection],
    ) -> AbstractAsyncContextManager[AsyncIterator[Event]]:
        """Everything there is as ADDED, then SYNCED, then every change, until the context is left.

        Each event comes once and in order, whatever happens to connections and servers: what was missed is found out
        by comparing, told as ADDED, MODIFIED and DELETED, and followed by another SYNCED; of what went unnoticed only
        the identity is told. Raises ApiError only for refusals that will not change by asking again, before the first
        SYNCED. With `metadata_only` each object is a PartialObjectMetadata. Who keeps a `picture` can go on from there
        the next time.
        """
        return self._list_then_watch(resource, selection, picture, metadata_only=metadata_only)

    @asynccontextmanager
    async def _list_then_watch(
        self, resource: str | Resource, selection: Selection, picture: Picture | None, *, metadata_only: bool
    ) -> AsyncIterator[AsyncIterator[Event]]:
        collection = await self._collection(resource, selection, PAGE_SIZE, metadata_only=metadata_only)
        async with aclosing(follow(collection, self.pace, picture)) as events:
            yield events

    async def raw(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
    ) -> Answer:
        """Any request; the answer as it came, refusals too."""
        return await self._transport.request(method, path, urlencode(query or {}), headers, body)

    async def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Json | Iterable[Json] | None = None,
        *,
        content_type: str = "application/json",
    ) -> Json:
        headers = {"accept": "application/json"}
        content = b""
        if body is not None:
            headers["content-type"] = content_type
            content = orjson.dumps(body)
        asked = urlencode({key: value for key, value in query.items() if value})
        answer = await self._transport.request(method, path, asked, headers, content)
        self._warnings.hear(answer.headers)
        return decoded(answer, path)

    async def _object_path(self, resource: str | Resource, name: str, namespace: str | None, subresource: str) -> str:
        meant = await self.resource(resource)
        if not name:
            raise bad_request(f"{meant.plural}: a name is required")
        return meant.path(self._namespace(meant, namespace), name, subresource)

    async def _path_of(
        self, body: Json, namespace: str | None, subresource: str, resource: Resource | None = None
    ) -> str:
        """The path of the object that `body` is."""
        meant = resource or await self.resource(_kind_of(body))
        name = (body.get("metadata") or {}).get("name", "")
        if not name:
            raise bad_request(f"{meant.kind}: metadata.name is required")
        return meant.path(self._namespace(meant, namespace, body), name, subresource)

    async def _collection(
        self, resource: str | Resource, selection: Selection, page_size: int, *, metadata_only: bool = False
    ) -> Collection:
        meant = await self.resource(resource)
        return Collection(
            self._transport,
            meant,
            namespace=self._namespace(meant, selection.get("namespace")),
            query=selectors(selection),
            page_size=page_size,
            metadata_only=metadata_only,
            warnings=self._warnings,
        )

    def _namespace(self, resource: Resource, given: str | None, body: Json | None = None) -> str:
        """The namespace that is meant: the one given, else the object's own, else the client's."""
        if not resource.namespaced:
            return ""
        if given is not None:
            return given
        own = ((body or {}).get("metadata") or {}).get("namespace")
        return own or self.namespace


def _kind_of(body: Json) -> str:
    api_version, kind = body.get("apiVersion"), body.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        raise bad_request("an object needs apiVersion and kind")
    return f"{api_version} {kind}"
