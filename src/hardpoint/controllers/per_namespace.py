"""An object that every active namespace has: made when a namespace appears, and made again when it is lost."""

from __future__ import annotations

from abc import ABC, abstractmethod

from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.resources import Resource
from hardpoint.controllers.namespaces import NAMESPACES
from hardpoint.machinery.errors import ApiError
from hardpoint.runtime.metadata import MetadataFollower
from hardpoint.runtime.workqueue import WorkQueue


class PerNamespace(ABC):
    """Calls `ensure` for each active namespace whose object may not be as it should. Hears of it from `follower`."""

    resource: Resource
    name: str
    """What the object is, and its name in every namespace."""

    def __init__(self, client: Client, follower: MetadataFollower) -> None:
        self.queue: WorkQueue[str] = WorkQueue(f"{self.resource.plural} {self.name}")
        self._client = client
        self._active: set[str] = set()
        follower.subscribe(self)

    @abstractmethod
    async def ensure(self, namespace: str) -> None:
        """Make the object as it should be. May be called again at any time."""

    def saw(self, resource: Resource, event: Event) -> None:
        metadata = event.object["metadata"]
        if resource == NAMESPACES:
            self._saw_namespace(metadata["name"], event, is_going="deletionTimestamp" in metadata)
        elif resource == self.resource and metadata["name"] == self.name and metadata["namespace"] in self._active:
            self.queue.add(metadata["namespace"])

    def lost(self, resource: Resource) -> None:
        if resource == NAMESPACES:
            self._active.clear()

    async def run(self) -> None:
        """Keep the objects there until cancelled."""
        await self.queue.work(self._look)

    def _saw_namespace(self, name: str, event: Event, *, is_going: bool) -> None:
        if event.type == "DELETED" or is_going:
            self._active.discard(name)
        elif name not in self._active:
            self._active.add(name)
            self.queue.add(name)

    async def _look(self, namespace: str) -> None:
        if namespace not in self._active:
            return
        try:
            await self.ensure(namespace)
        except ApiError as refused:
            if not _is_namespace_going(refused, namespace):
                raise


def _is_namespace_going(refused: ApiError, namespace: str) -> bool:
    """Whether an object could not be made because its namespace is gone or going."""
    details = refused.details or {}
    if refused.code == 404:
        return details.get("kind") == NAMESPACES.plural and details.get("name") == namespace
    return any(cause.get("reason") == "NamespaceTerminating" for cause in details.get("causes") or ())
