"""Namespace deletion: a terminating namespace is emptied, pods first, and then let go.

Each attempt deletes whatever is deletable in the namespace and says in the namespace's conditions what is left and why.
The next comes when the last object of some resource in it has gone, or when that was to be expected.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.resources import Resource
from hardpoint.controllers.absence import object_is_absent
from hardpoint.controllers.namespace_conditions import Findings, conditions_after
from hardpoint.controllers.namespace_contents import empty
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.timestamps import format_time, parse_time
from hardpoint.runtime.metadata import MetadataFollower, Sink
from hardpoint.runtime.workqueue import LookAgain, WorkQueue

Json = dict[str, Any]

log = logging.getLogger(__name__)

NAMESPACES = Resource("v1", "namespaces", "Namespace", namespaced=False)
FINALIZER = "kubernetes"
WORKERS = 4


class NamespaceDeletion:
    """Empties terminating namespaces, which it hears of through `follower`, as long as `run` runs."""

    def __init__(
        self, client: Client, follower: MetadataFollower, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.queue: WorkQueue[str] = WorkQueue("namespace deletion")
        self._client = client
        self._now = now
        self._terminating: set[str] = set()
        self._objects: Counter[tuple[Resource, str]] = Counter()
        follower.subscribe(self)

    def saw(self, resource: Resource, event: Event) -> None:
        metadata = event.object["metadata"]
        if resource == NAMESPACES:
            self._saw_namespace(metadata["name"], metadata, event)
        elif namespace := metadata.get("namespace"):
            self._count(resource, namespace, event)

    def lost(self, resource: Resource) -> None:
        """An attempt may have failed for that resource."""
        for key in [key for key in self._objects if key[0] == resource]:
            del self._objects[key]
        for namespace in self._terminating:
            self.queue.add(namespace)

    async def run(self) -> None:
        """Empty namespaces until cancelled."""
        await self.queue.work(self._look, workers=WORKERS)

    def _saw_namespace(self, name: str, metadata: Json, event: Event) -> None:
        if event.type == "DELETED":
            self._terminating.discard(name)
        elif metadata.get("deletionTimestamp") and name not in self._terminating:
            self._terminating.add(name)
            self.queue.add(name)

    def _count(self, resource: Resource, namespace: str, event: Event) -> None:
        key = resource, namespace
        if event.type == "ADDED":
            self._objects[key] += 1
        elif event.type == "DELETED":
            self._objects[key] -= 1
            if self._objects[key] <= 0:
                del self._objects[key]
                if namespace in self._terminating:
                    self.queue.add(namespace)

    async def _look(self, name: str) -> float | None:
        namespace = await self._get(name)
        if namespace is None or FINALIZER not in (namespace["spec"].get("finalizers") or ()):
            return None
        deleted_at = namespace["metadata"].get("deletionTimestamp")
        if deleted_at is None:
            return None
        findings = await empty(self._client, name, self._now() - parse_time(deleted_at))
        namespace = await self._tell(namespace, findings)
        if findings.is_empty:
            await self._finalize(namespace)
            return None
        if findings.failures or findings.undiscovered or not findings.estimate_seconds:
            raise LookAgain("; ".join([*findings.failures, findings.undiscovered]))
        return findings.estimate_seconds / 2 + 1

    async def _get(self, name: str) -> Json | None:
        try:
            return await self._client.get(NAMESPACES, name)
        except ApiError as refused:
            if object_is_absent(refused, name):
                return None
            raise

    async def _tell(self, namespace: Json, findings: Findings) -> Json:
        """Write the conditions if they say anything new. Returns the namespace as it is then."""
        status = namespace.get("status") or {}
        before = status.get("conditions") or []
        conditions = conditions_after(before, findings, format_time(self._now()))
        if conditions == before:
            return namespace
        changed = {**namespace, "status": {**status, "phase": "Terminating", "conditions": conditions}}
        return await self._client.replace_status(changed)

    async def _finalize(self, namespace: Json) -> None:
        spec = namespace["spec"]
        left = [finalizer for finalizer in spec["finalizers"] if finalizer != FINALIZER]
        await self._client.update({**namespace, "spec": {**spec, "finalizers": left}}, subresource="finalize")
        log.info("namespace deleted", extra={"namespace": namespace["metadata"]["name"]})


_conforms: type[Sink] = NamespaceDeletion
