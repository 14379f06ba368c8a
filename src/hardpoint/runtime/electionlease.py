"""A lock kept in a coordination.k8s.io/v1 Lease: who holds it, since when, and how it is read and written.

The fields and their forms are those of client-go's resource lock, so that programs of either kind exclude each other.
What a Lease holds beyond them (labels, strategy, preferredHolder) stays as it is. When a lock may be taken is
`election.py`'s knowledge.
"""

from __future__ import annotations

import socket
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.machinery.errors import ApiError

Json = dict[str, Any]

LEASES = Resource("coordination.k8s.io/v1", "leases", "Lease")
NOT_FOUND, CONFLICT = 404, 409


def new_identity() -> str:
    """A name for this process that no other has: the machine's, and one of its own."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


@dataclass(frozen=True, slots=True)
class Record:
    """What a Lease says. Moments are the texts that the holder wrote: they are compared, never reckoned with."""

    holder: str = ""
    lease_seconds: int = 0
    acquired: str | None = None
    renewed: str | None = None
    transitions: int = 0

    @staticmethod
    def of(lease: Json) -> Record:
        spec = lease.get("spec") or {}
        return Record(
            spec.get("holderIdentity") or "",
            spec.get("leaseDurationSeconds") or 0,
            spec.get("acquireTime"),
            spec.get("renewTime"),
            spec.get("leaseTransitions") or 0,
        )

    def spec(self) -> Json:
        return {
            "holderIdentity": self.holder,
            "leaseDurationSeconds": self.lease_seconds,
            "acquireTime": self.acquired,
            "renewTime": self.renewed,
            "leaseTransitions": self.transitions,
        }


class LeaseLock:
    """One Lease as last seen. Each write is conditional on nobody having written since."""

    def __init__(self, client: Client, namespace: str, name: str, labels: Mapping[str, str]) -> None:
        self.namespace = namespace
        self.name = name
        self._client = client
        self._labels = dict(labels)
        self.lease: Json | None = None

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    async def read(self) -> Record | None:
        """What the Lease says now; None if there is none. Raises ApiError and TransportError."""
        try:
            self.lease = await self._client.get(LEASES, self.name, namespace=self.namespace)
        except ApiError as refused:
            if refused.code != NOT_FOUND:
                raise
            self.lease = None
            return None
        return Record.of(self.lease)

    async def create(self, record: Record) -> None:
        """Raises ApiError (409 if somebody was faster) and TransportError."""
        metadata: Json = {"name": self.name, "namespace": self.namespace}
        if self._labels:
            metadata["labels"] = self._labels
        body = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata, "spec": record.spec()}
        self.lease = await self._client.create(body, resource=LEASES, namespace=self.namespace)

    async def replace(self, record: Record) -> None:
        """Write over what was last seen. Raises ApiError (409 if it is no longer there) and TransportError."""
        assert self.lease is not None, "a lock is read or created before it is replaced"
        metadata = self.lease["metadata"]
        if self._labels:
            metadata = {**metadata, "labels": {**(metadata.get("labels") or {}), **self._labels}}
        spec = {**(self.lease.get("spec") or {}), **record.spec()}
        body = {**self.lease, "apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata, "spec": spec}
        self.lease = await self._client.update(body, resource=LEASES, namespace=self.namespace)

    def about(self) -> Json:
        """What an Event about this Lease refers to."""
        metadata = (self.lease or {}).get("metadata") or {"name": self.name, "namespace": self.namespace}
        return {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata}
