"""What a replica makes of the Leases it sees: who lives, what is free, and what it should take or give up.

All of it is reckoned from one list, which is one moment of the server, and from this machine's own clock. Whether a
decision still holds when it is carried out is the server's word: each write is conditional on the Lease as listed. The
protocol, and why no two replicas ever own one shard, is told in docs/decisions/0009-sharding.md.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from hardpoint.runtime.electionlease import Record

Json = dict[str, Any]

APP_LABEL = "hardpoint/sharded"
COUNT_LABEL = "hardpoint/shards"


def shard_of(key: str, count: int) -> int:
    """The shard of a key, the same in every process."""
    return zlib.crc32(key.encode()) % count


def replica_lease(app: str, identity: str) -> str:
    """The name of the Lease that says whether a replica lives."""
    return f"{app}-replica-{blake2b(identity.encode(), digest_size=6).hexdigest()}"


def shard_lease(app: str, shard: int) -> str:
    """The name of the Lease that says whose a shard is."""
    return f"{app}-shard-{shard}"


def labels(app: str, count: int) -> dict[str, str]:
    return {APP_LABEL: app, COUNT_LABEL: str(count)}


def preference(identity: str, shard: int) -> bytes:
    """How much a replica likes a shard. All differ in their likings, so they seldom reach for the same one."""
    return blake2b(f"{identity} {shard}".encode(), digest_size=8).digest()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do now."""

    take: Sequence[int] = ()
    give: Sequence[int] = ()
    forget: Sequence[Json] = ()
    """Leases of replicas that are gone for good."""
    next_seconds: float = math.inf
    """When somebody's time is over, if nothing else happens."""


@dataclass(frozen=True, slots=True)
class _Sighting:
    record: Record | None
    since: float

    def is_over(self, now: float, lease_seconds: float) -> bool:
        return now >= self.ends_at(lease_seconds)

    def ends_at(self, lease_seconds: float) -> float:
        """When whoever wrote this has stopped for certain; one who said goodbye has stopped already."""
        if self.record is None:
            return self.since + lease_seconds
        return -math.inf if not self.record.holder else self.since + self.record.lease_seconds


@dataclass(slots=True)
class View:
    """One replica's view of all."""

    app: str
    identity: str
    count: int
    lease_seconds: float
    shards: dict[int, Json] = field(default_factory=dict)
    """The Leases of shards, as last listed."""
    _sightings: dict[str, _Sighting] = field(default_factory=dict)
    """Of replicas' Leases, by name: what they said, and since when we have seen them say it."""

    def plan(self, leases: Iterable[Json], owned: frozenset[int], asked_at: float, heard_at: float) -> Plan:
        """Decide by a list that was asked for and heard at these moments."""
        by_name = {lease["metadata"]["name"]: lease for lease in leases}
        self.shards = {n: by_name[name] for n in range(self.count) if (name := shard_lease(self.app, n)) in by_name}
        replicas = {name: lease for name, lease in by_name.items() if name.startswith(f"{self.app}-replica-")}
        self._see(replicas, heard_at)
        live = {name for name in replicas if not self._sightings[name].is_over(asked_at, self.lease_seconds)}
        live.add(self._own)
        return Plan(
            take=self._wanted(owned, live, replicas, asked_at),
            give=self._surplus(owned, live),
            forget=[lease for name, lease in replicas.items() if name not in live and not self._holds(name)],
            next_seconds=min(
                (
                    sight.ends_at(self.lease_seconds) - asked_at
                    for name, sight in self._sightings.items()
                    if name in live
                ),
                default=math.inf,
            ),
        )

    @property
    def _own(self) -> str:
        return replica_lease(self.app, self.identity)

    def _see(self, replicas: Mapping[str, Json], now: float) -> None:
        """Note what has changed. A shard's holder without a Lease is seen, too: as one that says nothing."""
        holders = {replica_lease(self.app, holder) for shard in self.shards if (holder := self.holder(shard))}
        seen = {name: Record.of(replicas[name]) if name in replicas else None for name in holders | replicas.keys()}
        self._sightings = {
            name: before
            if (before := self._sightings.get(name)) is not None and before.record == record
            else _Sighting(record, now)
            for name, record in seen.items()
        }

    def holder(self, shard: int) -> str:
        lease = self.shards.get(shard)
        return Record.of(lease).holder if lease is not None else ""

    def _quota(self, live: set[str]) -> int:
        """A replica's share: where it does not come out even, the first ones have one more."""
        share, rest = divmod(self.count, len(live))
        return share + (sorted(live).index(self._own) < rest)

    def _surplus(self, owned: frozenset[int], live: set[str]) -> list[int]:
        too_many = max(len(owned) - self._quota(live), 0)
        return sorted(owned, key=lambda shard: preference(self.identity, shard))[:too_many]

    def _wanted(
        self, owned: frozenset[int], live: set[str], replicas: Mapping[str, Json], asked_at: float
    ) -> list[int]:
        if any(_count(replicas[name]) != self.count for name in live & replicas.keys()):
            # Somebody who divides the keys otherwise is still at work: what is free by our reckoning may be its own.
            return []
        room = max(self._quota(live) - len(owned), 0)
        free = [shard for shard in range(self.count) if shard not in owned and self._is_free(shard, asked_at)]
        return sorted(free, key=lambda shard: preference(self.identity, shard), reverse=True)[:room]

    def _is_free(self, shard: int, asked_at: float) -> bool:
        holder = self.holder(shard)
        if holder in ("", self.identity):
            return True
        return self._sightings[replica_lease(self.app, holder)].is_over(asked_at, self.lease_seconds)

    def _holds(self, name: str) -> bool:
        return any(replica_lease(self.app, holder) == name for shard in self.shards if (holder := self.holder(shard)))


def _count(lease: Json) -> int:
    text = (lease["metadata"].get("labels") or {}).get(COUNT_LABEL, "")
    return int(text) if text.isdecimal() else 0
