"""Kubernetes' garbage collector: what has lost all its owners goes, and owners go as their deletion asked for.

- Background: an object whose owners are all absent is deleted. That an owner is absent is asked of the server; what a
  watch has not shown yet proves nothing.
- Foreground: an owner with the finalizer `foregroundDeletion` loses it once no dependent is left that blocks it.
- Orphan: an owner with the finalizer `orphan` loses it once no dependent refers to it.

An owner in another namespace cannot own; it counts as absent. Every step can be repeated and is conditional on uid and
resourceVersion, so a crash, a second collector or a hurried user costs a retry and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.options import Propagation
from hardpoint.client.resources import Resource
from hardpoint.controllers.absence import Absent, object_is_absent
from hardpoint.controllers.ownership import FOREGROUND, ORPHAN, Graph, Node, Reference, node_of, references
from hardpoint.machinery.errors import ApiError, HardpointError
from hardpoint.runtime.metadata import MetadataFollower, Sink
from hardpoint.runtime.workqueue import LookAgain, WorkQueue

Json = dict[str, Any]

log = logging.getLogger(__name__)

WORKERS = 8
ORPHANED_AT_ONCE = 16


class GarbageCollector:
    """Collects what it sees through `follower`, as long as `run` runs."""

    def __init__(self, client: Client, follower: MetadataFollower) -> None:
        self.graph = Graph()
        self.queue: WorkQueue[str] = WorkQueue("garbage collector")
        self._client = client
        self._follower = follower
        self._absent = Absent()
        follower.subscribe(self)

    def saw(self, resource: Resource, event: Event) -> None:
        metadata = event.object["metadata"]
        if not metadata.get("uid"):
            # Some API servers make their objects up as they are asked for them. Such an object owns nothing.
            return
        node = node_of(resource, metadata)
        if event.type == "DELETED":
            looks = self.graph.remove(node.uid)
            if looks:
                self._absent.add_gone(node)
        else:
            looks = self.graph.put(node)
        for uid in looks:
            self.queue.add(uid)

    def lost(self, resource: Resource) -> None:
        self.graph.forget(resource)

    async def run(self) -> None:
        """Collect until cancelled, beginning when everything has been seen once: before that, much looks lost."""
        await self._follower.wait_until_synced()
        await self.queue.work(self._look, workers=WORKERS)

    async def _look(self, uid: str) -> None:
        node = self.graph.get(uid)
        if node is None:
            return
        if node.is_orphaning:
            await self._orphan_dependents(node)
        elif node.is_waiting:
            # Its dependents are looked at by themselves, and it again whenever one of them goes or lets it go.
            if not self.graph.is_blocked(node):
                await self._drop_finalizer(node, FOREGROUND)
        elif not node.is_going and not self.graph.is_settled(node):
            try:
                await self._judge(node)
            except _NeverOwned as reason:
                log.warning("object has an impossible owner", extra={"object": str(node), "why": str(reason)})

    async def _orphan_dependents(self, owner: Node) -> None:
        dependents = self.graph.dependents(owner.uid)
        for start in range(0, len(dependents), ORPHANED_AT_ONCE):
            some = dependents[start : start + ORPHANED_AT_ONCE]
            await asyncio.gather(*(self._disown(dependent, {owner.uid}) for dependent in some))
        await self._drop_finalizer(owner, ORPHAN)

    async def _judge(self, node: Node) -> None:
        """Decide on an object that may have lost its owners, by what the server says now."""
        latest = await self._latest(node)
        if latest is None:
            self._is_gone(node)
            return
        solid, waiting, absent = await self._classify(node, latest)
        if solid:
            if waiting or absent:
                await self._disown(node, {owner.uid for owner in (*waiting, *absent)}, latest)
            self._insist_on_seeing(node, solid)
        elif waiting and (dependents := self.graph.dependents(node.uid)):
            if any(dependent.is_waiting for dependent in dependents):
                # They wait for each other, in a circle that is opened here.
                latest = await self._change_owners(node, latest, _without_blocking)
            await self._delete(node, latest, "Foreground")
        elif waiting or absent:
            await self._delete(node, latest, _policy(latest))

    async def _classify(self, node: Node, latest: Json) -> tuple[list[Reference], list[Reference], list[Reference]]:
        """An object's owners: those that are there, those that go in the foreground, those that are absent."""
        solid, waiting, absent = [], [], []
        for owner in references(latest["metadata"]):
            if self.graph.has_owner(node, owner) and not self._is_waiting(owner):
                solid.append(owner)
                continue
            found = await self._owner(node, owner)
            if found is None:
                absent.append(owner)
            elif node_of(node.resource, found["metadata"]).is_waiting:
                waiting.append(owner)
            else:
                solid.append(owner)
        return solid, waiting, absent

    def _is_waiting(self, owner: Reference) -> bool:
        seen = self.graph.get(owner.uid)
        return seen is not None and seen.is_waiting

    async def _owner(self, node: Node, owner: Reference) -> Json | None:
        """The owner as the server has it now, or None if it has none that can own this object."""
        if self._absent.holds(owner, node.namespace):
            return None
        resource = await self._resource(owner)
        namespace = node.namespace if resource.namespaced else ""
        if resource.namespaced and not namespace:
            raise _NeverOwned(f"{node} has an owner in a namespace, {owner.kind} {owner.name}, and is in none")
        found = await self._get(resource, namespace, owner.name)
        if found is None or found["metadata"].get("uid") != owner.uid:
            self._absent.add(owner, namespace)
            return None
        return found

    async def _resource(self, owner: Reference) -> Resource:
        """The owner's resource. An unknown one may be away for a while: it is no reason to delete anything."""
        try:
            return await self._client.resource(f"{owner.api_version} {owner.kind}")
        except ApiError as refused:
            raise LookAgain(f"the owner {owner.kind} {owner.name} cannot be looked up: {refused.message}") from refused

    def _insist_on_seeing(self, node: Node, owners: Iterable[Reference]) -> None:
        """An owner that is there but was never seen may go unseen too: only having seen it settles the matter."""
        for owner in owners:
            if self.graph.get(owner.uid) is None:
                raise LookAgain(f"{node} has an owner that no watch has shown yet, {owner.kind} {owner.name}")

    async def _delete(self, node: Node, latest: Json, policy: Propagation) -> None:
        try:
            await self._client.delete(
                node.resource,
                node.name,
                namespace=node.namespace,
                propagation=policy,
                uid=node.uid,
                resource_version=latest["metadata"]["resourceVersion"],
            )
        except ApiError as refused:
            if not object_is_absent(refused, node.name):
                raise
        else:
            log.info("garbage deleted", extra={"object": str(node), "policy": policy})

    async def _disown(self, node: Node, owners: set[str], latest: Json | None = None) -> None:
        """Take some owners from an object, if it is still there."""
        latest = latest or await self._latest(node)
        if latest is None:
            return

        def without(listed: list[Json]) -> list[Json]:
            return [owner for owner in listed if owner.get("uid") not in owners]

        await self._change_owners(node, latest, without)

    async def _change_owners(self, node: Node, latest: Json, change: Callable[[list[Json]], list[Json]]) -> Json:
        listed = latest["metadata"].get("ownerReferences") or []
        changed = change(listed)
        if changed == listed:
            return latest
        return await self._patch(node, latest, {"ownerReferences": changed or None})

    async def _drop_finalizer(self, node: Node, finalizer: str) -> None:
        latest = await self._latest(node)
        finalizers = latest["metadata"].get("finalizers") or [] if latest is not None else []
        if latest is not None and finalizer in finalizers:
            await self._patch(node, latest, {"finalizers": [each for each in finalizers if each != finalizer] or None})

    async def _patch(self, node: Node, latest: Json, metadata: Json) -> Json:
        """Change metadata, unless the object has changed meanwhile. One that is gone needs no change."""
        version = latest["metadata"]["resourceVersion"]
        patch = {"metadata": {"uid": node.uid, "resourceVersion": version, **metadata}}
        try:
            return await self._client.patch(node.resource, node.name, patch, namespace=node.namespace)
        except ApiError as refused:
            if object_is_absent(refused, node.name):
                return latest
            raise

    async def _latest(self, node: Node) -> Json | None:
        """The object as the server has it now, or None if it is gone, perhaps for another of its name."""
        found = await self._get(node.resource, node.namespace, node.name)
        return found if found is not None and found["metadata"]["uid"] == node.uid else None

    async def _get(self, resource: Resource, namespace: str, name: str) -> Json | None:
        try:
            return await self._client.get(resource, name, namespace=namespace)
        except ApiError as refused:
            if object_is_absent(refused, name):
                return None
            raise

    def _is_gone(self, node: Node) -> None:
        for uid in self.graph.remove(node.uid):
            self.queue.add(uid)


class _NeverOwned(HardpointError):
    """A reference that cannot mean anything: the object is left alone, and looking again would not mend it."""


def _without_blocking(listed: list[Json]) -> list[Json]:
    return [{**owner, "blockOwnerDeletion": False} if owner.get("blockOwnerDeletion") else owner for owner in listed]


def _policy(latest: Json) -> Propagation:
    """How an object goes if nobody says how: as its finalizers say, else in the background."""
    finalizers = latest["metadata"].get("finalizers") or ()
    if ORPHAN in finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in finalizers else "Background"


_conforms: type[Sink] = GarbageCollector
