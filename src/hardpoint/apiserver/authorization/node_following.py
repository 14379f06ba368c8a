"""Keeps a node graph as the store is, beginning when a node first asks.

Most servers never see a node, and those are to pay nothing. Afterwards a write costs an entry in a dictionary: what
changed is looked at when the next question comes, once for however many writes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import orjson

from hardpoint.apiserver.authorization.node_graph import NodeGraph
from hardpoint.apiserver.hub import Change, Hub
from hardpoint.apiserver.places import ROOT
from hardpoint.store.contract import Store

Json = Mapping[str, Any]

PAGE_SIZE = 500
PENDING_MAX = 64
"""How many objects may wait to be looked at, for they stay in memory as long."""
NEWEST_SECONDS = 1.0
"""How long a question may wait for writes that the store has and the graph has not."""

# What of a bound pod may still come to name other objects: `resourceClaimStatuses`, `extendedResourceClaimStatus`.
_MAY_CHANGE = (b'"ephemeralContainers":', b"esourceClaimStatus")


class _Source(NamedTuple):
    """A kind that says something about nodes, and how the graph is told."""

    prefix: str
    mark: bytes
    """What every stored object of this kind holds that has to do with a node."""
    put: Callable[[Json], None]
    remove: Callable[[str, str], None]
    """Called with namespace and name."""


class FollowedGraph:
    """A graph that knows every write the hub has told of."""

    def __init__(self, hub: Hub, store: Store) -> None:
        self._hub, self._store = hub, store
        self._graph = NodeGraph()
        self._sources = _sources(self._graph)
        self._pods = self._sources[0]
        self._filling = asyncio.Lock()
        self._filled_at: dict[str, int] = {}
        self._is_filled = self._is_listening = False
        self._pending: dict[str, tuple[_Source, Change]] = {}

    async def relates(self, resource: str, namespace: str, name: str, *, to: str) -> bool:
        """Whether a node has to do with an object; a no takes every write into account that has happened by now."""
        if not self._is_filled:
            await self._load()
        self._catch_up()
        if self._graph.relates(resource, namespace, name, to=to):
            return True
        newest = await self._store.revision()
        if self._hub.revision >= newest:
            return False
        await self._hub.wait_until_reached(newest, seconds=NEWEST_SECONDS)
        self._catch_up()
        return self._graph.relates(resource, namespace, name, to=to)

    async def _load(self) -> None:
        """Fill the graph, for the first who asks and everybody who asks meanwhile. Raises StoreError."""
        async with self._filling:
            if self._is_filled:
                return
            if not self._is_listening:
                self._is_listening = True
                for source in self._sources:
                    self._hub.listen(source.prefix, partial(self._changed, source))
            # An earlier attempt may have been given up half-way, and what it saw may be gone.
            self._graph.clear()
            for source in self._sources:
                self._filled_at[source.prefix] = await self._load_one(source)
            self._is_filled = True

    async def _load_one(self, source: _Source) -> int:
        """Tell the graph of everything there is, and return as of which revision."""
        start, revision = "", 0
        while True:
            page = await self._store.range(source.prefix, start=start, limit=PAGE_SIZE, revision=revision)
            revision = page.revision
            for found in page.items:
                if source.mark in found.value:
                    source.put(orjson.loads(found.value))
            if not page.more:
                return revision
            start = page.items[-1].key + "\0"

    def _changed(self, source: _Source, change: Change) -> None:
        if source.mark not in (change.value or b"") and source.mark not in (change.previous or b""):
            return
        if source.prefix == self._pods.prefix and self._is_known(change):
            return
        self._pending[change.key] = (source, change)
        if len(self._pending) >= PENDING_MAX and self._is_filled:
            self._catch_up()

    def _is_known(self, change: Change) -> bool:
        """Whether a pod is on its node already and names what it named: once it is bound, little of that can change."""
        if change.value is None or change.previous is None:
            return False
        if any(mark in change.value or mark in change.previous for mark in _MAY_CHANGE):
            return False
        namespace, _, name = change.key.removeprefix(self._pods.prefix).rpartition("/")
        return self._graph.has_pod(namespace, name)

    def _catch_up(self) -> None:
        if not self._pending:
            return
        pending, self._pending = self._pending, {}
        for key, (source, change) in pending.items():
            if change.revision <= self._filled_at[source.prefix]:
                continue
            if change.value is None:
                namespace, _, name = key.removeprefix(source.prefix).rpartition("/")
                source.remove(namespace, name)
            else:
                # Decoded for ourselves: what a change is asked for it keeps, and nobody else may want this.
                source.put(orjson.loads(change.value))


def _sources(graph: NodeGraph) -> list[_Source]:
    def owned(resource: str, obj: Json) -> None:
        metadata = obj["metadata"]
        graph.set_owner(resource, metadata.get("namespace", ""), metadata["name"], obj["spec"].get("nodeName") or "")

    def disowned(resource: str, namespace: str, name: str) -> None:
        graph.set_owner(resource, namespace, name, "")

    def named_by_itself(group: str, plural: str) -> _Source:
        return _source(group, plural, partial(owned, plural), partial(disowned, plural))

    return [
        _source("", "pods", graph.set_pod, graph.remove_pod),
        _source("", "persistentvolumes", graph.set_volume, lambda _, name: graph.remove_volume(name)),
        named_by_itself("storage.k8s.io", "volumeattachments"),
        named_by_itself("resource.k8s.io", "resourceslices"),
        named_by_itself("certificates.k8s.io", "podcertificaterequests"),
    ]


def _source(group: str, plural: str, put: Callable[[Json], None], remove: Callable[[str, str], None]) -> _Source:
    mark = b'"claimRef":' if plural == "persistentvolumes" else b'"nodeName":'
    return _Source(f"{ROOT}{group or 'core'}/{plural}/", mark, put, remove)
