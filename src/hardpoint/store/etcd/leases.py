"""Leases make keys expire. Like kube-apiserver, one lease serves many keys of a similar ttl, because each costs etcd.

A lease lives a little longer than asked for, and is handed out again as long as it still outlives the next key's ttl
by no more than that little.
"""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass

from hardpoint.store.etcd.calls import LEASE_GRANT
from hardpoint.store.etcd.endpoints import Endpoints
from hardpoint.store.etcd.wire import rpc_pb2 as rpc

_SLACK_SECONDS_MAX = 60
_SLACK_SHARE = 0.05
_KEYS_MAX = 1000


@dataclass(slots=True)
class _Lease:
    id: int
    ends: float
    keys: int = 1

    def serves(self, ttl_seconds: int, now: float) -> bool:
        wanted = now + ttl_seconds
        return self.keys < _KEYS_MAX and wanted <= self.ends <= wanted + _slack(ttl_seconds)


class Leases:
    """Hands out leases."""

    def __init__(self, endpoints: Endpoints) -> None:
        self._endpoints = endpoints
        self._lease: _Lease | None = None
        self._granting = asyncio.Lock()

    async def lease_for(self, ttl_seconds: int) -> int:
        """A lease that ends after `ttl_seconds` or little later. Raises Unreachable or UnknownOutcome."""
        async with self._granting:
            if self._lease and self._lease.serves(ttl_seconds, time.monotonic()):
                self._lease.keys += 1
                return self._lease.id
            seconds = ttl_seconds + _slack(ttl_seconds)
            began = time.monotonic()
            granted = await self._endpoints.write(LEASE_GRANT, rpc.LeaseGrantRequest(TTL=seconds))
            self._lease = _Lease(granted.ID, began + granted.TTL)
            return granted.ID

    def forget(self, lease: int) -> None:
        """etcd does not know this lease any more: do not hand it out again."""
        if self._lease and self._lease.id == lease:
            self._lease = None


def _slack(ttl_seconds: int) -> int:
    return min(_SLACK_SECONDS_MAX, math.floor(ttl_seconds * _SLACK_SHARE))
