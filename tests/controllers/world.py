"""A real API server in memory with controllers over it, and words to build chains of owners and wait for their end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from hardpoint.apiserver.server import ApiServer
from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.options import Propagation
from hardpoint.client.resources import Resource
from hardpoint.controllers.manager import ControllerManager
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Handler, User
from hardpoint.store.memory import MemoryStore

Json = dict[str, Any]

ADMIN = User("admin", ("system:masters",))
PATIENCE_SECONDS = 20


class World:
    """What a test sees: a client of its own, and whether the controllers are done."""

    manager: ControllerManager

    def __init__(self, handle: Handler) -> None:
        self.client = Client.in_process(handle, ADMIN)
        self._handle = handle
        self._something_happened = asyncio.Event()

    @asynccontextmanager
    async def controlled(self, **options: Any) -> AsyncIterator[ControllerManager]:
        """With controllers, which begin from nothing each time."""
        self.manager = ControllerManager(Client.in_process(self._handle, ADMIN), root_ca="A CERTIFICATE", **options)
        self.manager.follower.subscribe(self)
        async with self.manager.running():
            await self.manager.follower.wait_until_synced()
            yield self.manager

    def as_user(self, user: User) -> Client:
        """The same server, seen by somebody else."""
        return Client.in_process(self._handle, user)

    def saw(self, _resource: Resource, _event: Event) -> None:
        self._something_happened.set()

    def lost(self, _resource: Resource) -> None:
        self._something_happened.set()

    async def make(
        self,
        name: str,
        *,
        kind: str = "v1 ConfigMap",
        owners: Iterable[Json] = (),
        namespace: str = "default",
        **more: Any,
    ) -> Json:
        """Create an object of a kind that needs no more than a name, or of any with `more` of its fields."""
        api_version, _, kind = kind.partition(" ")
        metadata: Json = {"name": name, "ownerReferences": list(owners), **more.pop("metadata", {})}
        body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}
        return await self.client.create(body, namespace=namespace)

    async def delete(self, obj: Json, propagation: Propagation | None = None) -> Json:
        metadata = obj["metadata"]
        return await self.client.delete(
            kind_of(obj), metadata["name"], namespace=metadata.get("namespace", ""), propagation=propagation
        )

    async def find(self, obj: Json) -> Json | None:
        """The object as it is now; None if it is gone."""
        metadata = obj["metadata"]
        try:
            found = await self.client.get(kind_of(obj), metadata["name"], namespace=metadata.get("namespace", ""))
        except ApiError as refused:
            if refused.code != 404:
                raise
            return None
        return found if found["metadata"]["uid"] == metadata["uid"] else None

    async def until(self, is_so: Callable[[], Awaitable[bool]]) -> None:
        """Wait for the world to become like that; it is looked at whenever something happens."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                self._something_happened.clear()
                if await is_so():
                    return
                await self._something_happened.wait()

    async def until_gone(self, *objects: Json) -> None:
        async def all_are_gone() -> bool:
            return not any([await self.find(obj) for obj in objects])

        await self.until(all_are_gone)

    async def settle(self) -> None:
        """Wait until the collector has seen what happened before, and has nothing left to do about it."""
        ghost = reference({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ghost", "uid": str(uuid4())}})
        canaries = [
            await self.make(f"canary-{uuid4()}", owners=[ghost]),
            await self.make(
                f"canary-{uuid4()}", kind="rbac.authorization.k8s.io/v1 ClusterRole", owners=[cluster(ghost)]
            ),
        ]
        await self.until_gone(*canaries)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.manager.garbage_collector.queue.wait_until_idle()


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    """A server without controllers."""
    store = MemoryStore()
    async with ApiServer(store).running() as server:
        yield World(server.handle)
    await store.close()


def reference(owner: Json, *, blocks: bool = False, **changed: str) -> Json:
    """A reference to an owner."""
    metadata = owner["metadata"]
    found = {"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": metadata["name"], "uid": metadata["uid"]}
    return {**found, **({"blockOwnerDeletion": True} if blocks else {}), **changed}


def cluster(owner: Json) -> Json:
    """The same reference, to a kind without namespaces."""
    return {**owner, "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}


def kind_of(obj: Json) -> str:
    return f"{obj['apiVersion']} {obj['kind']}"


def owners_of(obj: Json) -> list[str]:
    return [owner["uid"] for owner in obj["metadata"].get("ownerReferences", ())]


def pod(**spec: Any) -> Json:
    return {"containers": [{"name": "main", "image": "registry.example/pause"}], **spec}


def template() -> Json:
    return {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod()},
    }
