"""The metadata of every object of a cluster, followed for all who want to know: one watch a resource, shared.

Which resources there are is asked again when a definition or an APIService changes, and every half minute. Only
metadata is asked for, and nothing of it is kept here beyond what a watch has to remember.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Iterable
from typing import Protocol

from hardpoint.client.backoff import Backoff
from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.client.resources import Resource
from hardpoint.client.transport import TransportError
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.kinds import Kind

log = logging.getLogger(__name__)

REDISCOVER_SECONDS = 30.0
FOLLOWABLE = frozenset(("list", "watch", "delete"))
# Events come in numbers, own nothing, and end by themselves.
IGNORED = frozenset(("events", "events.events.k8s.io"))
_CHANGE_DISCOVERY = frozenset(("CustomResourceDefinition", "APIService"))


class Sink(Protocol):
    """Somebody who wants to know. Called on the event loop, in the order of each resource's events; must not wait."""

    def saw(self, resource: Resource, event: Event) -> None:
        """An object was ADDED, MODIFIED or DELETED; the event holds its PartialObjectMetadata."""
        ...

    def lost(self, resource: Resource) -> None:
        """The server no longer has this resource; what was seen of it is no longer followed."""
        ...


class MetadataFollower:
    """Follows every resource that can be listed, watched and deleted, in the server's preferred version."""

    def __init__(self, client: Client, *, rediscover_seconds: float = REDISCOVER_SECONDS) -> None:
        self._client = client
        self._rediscover_seconds = rediscover_seconds
        self._sinks: list[Sink] = []
        self._tasks: dict[Resource, asyncio.Task[None]] = {}
        self._unsynced: set[Resource] = set()
        self._synced = asyncio.Event()
        self._discovery_changed = asyncio.Event()

    def subscribe(self, sink: Sink) -> None:
        """Tell `sink` everything from now on; before `run` that is everything."""
        self._sinks.append(sink)

    async def wait_until_synced(self) -> None:
        """Return once everything that was there at the start has been seen."""
        await self._synced.wait()

    async def run(self) -> None:
        """Follow until cancelled."""
        backoff = Backoff(random.random)
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._discovery_changed.clear()
                await self._rediscover(tasks)
                # A server that is still starting is not kept waiting for half a minute.
                patience = self._rediscover_seconds if self._tasks else backoff.next_seconds()
                try:
                    async with asyncio.timeout(patience):
                        await self._discovery_changed.wait()
                except TimeoutError:
                    continue

    async def _rediscover(self, tasks: asyncio.TaskGroup) -> None:
        discovery = self._client.discovery
        try:
            wanted = {Resource.of(kind) for kind in followable(await discovery.refresh())}
        except (ApiError, TransportError) as failure:
            log.warning("resources are not discoverable", extra={"why": str(failure)})
            return
        for resource in self._tasks.keys() - wanted:
            if resource.api_version not in discovery.failed:
                self._stop(resource)
        for resource in wanted - self._tasks.keys():
            self._unsynced.add(resource)
            self._tasks[resource] = tasks.create_task(self._follow(resource), name=f"metadata of {resource.plural}")

    def _stop(self, resource: Resource) -> None:
        self._tasks.pop(resource).cancel()
        self._mark_synced(resource)
        for sink in self._sinks:
            sink.lost(resource)

    async def _follow(self, resource: Resource) -> None:
        while True:
            try:
                await self._follow_while_allowed(resource)
            except ApiError as refused:
                # Nobody is kept waiting for what this server lists in discovery and does not serve.
                log.warning("metadata is not readable", extra={"resource": resource.plural, "why": refused.message})
                self._mark_synced(resource)
                await asyncio.sleep(self._rediscover_seconds)

    async def _follow_while_allowed(self, resource: Resource) -> None:
        watch = self._client.list_then_watch(resource, namespace=ALL_NAMESPACES, metadata_only=True)
        async with watch as events:
            async for event in events:
                if event.type == "SYNCED":
                    self._mark_synced(resource)
                    continue
                for sink in self._sinks:
                    sink.saw(resource, event)
                if resource.kind in _CHANGE_DISCOVERY and resource not in self._unsynced:
                    self._discovery_changed.set()

    def _mark_synced(self, resource: Resource) -> None:
        self._unsynced.discard(resource)
        if not self._unsynced:
            self._synced.set()


def followable(kinds: Iterable[Kind]) -> list[Kind]:
    """What can be followed and deleted: of each resource the version that comes first."""
    found: dict[str, Kind] = {}
    for kind in kinds:
        if FOLLOWABLE.issubset(kind.verbs) and kind.resource not in IGNORED:
            found.setdefault(kind.resource, kind)
    return list(found.values())
