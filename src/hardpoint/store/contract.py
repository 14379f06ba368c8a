"""What a store promises: etcd's semantics, cut down to what an API server needs.

- One revision counts all writes of the store. It starts at 1 for an empty store; each write takes the next one.
- A write is one key: create, update or delete, each a compare-and-swap. It is acknowledged only when it would
  survive a power cut, and an unacknowledged write may or may not have happened.
- A read at a revision sees exactly the writes up to it, until that revision is compacted.
- A watch delivers every write under its prefix after its revision, once, in order, or fails with Compacted.
- Compacting at a revision keeps reads at it and watches after it; older ones raise Compacted.

Keys are text, `/registry/<group>/<plural>/[<namespace>/]<name>`, ordered by their UTF-8 bytes. Values are opaque.

StoreError
├── KeyExists       create found the key taken
├── Mismatch        update or delete found another revision than expected; `.current` is what it found
├── Compacted       the revision asked for is forgotten; `.floor` is the oldest still known
├── FutureRevision  the revision asked for has not happened; `.current` is the newest
├── Corrupt         a stored row fails its checksum; the key is named
├── Full            no space to write; reads go on
├── Locked          another process holds the data directory; it is named
├── Incompatible    the data is not ours, or was written by another, newer version
├── Unreachable     no endpoint of the store answered; nothing was written, asking again may help
├── UnknownOutcome  the answer to a write was lost; it may or may not have happened
├── Broken          the store can no longer promise durability (a sync failed) and must be reopened
└── Closed          `close` was called
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from hardpoint.machinery.errors import StoreError


class KeyValue(NamedTuple):
    """A key as it stands at some revision."""

    key: str
    value: bytes
    revision: int
    """The revision of its last write: what a compare-and-swap expects."""
    created: int
    """The revision of the create that began this life of the key."""


class Page(NamedTuple):
    """A part of a prefix, in key order."""

    items: Sequence[KeyValue]
    revision: int
    """The revision this page was read at."""
    more: bool
    """Whether keys follow the last item."""


class Event(NamedTuple):
    """One write."""

    key: str
    value: bytes | None
    """What was written; None for a delete."""
    revision: int
    previous: bytes | None
    """What the key held before; None for a create."""


class Store(Protocol):
    """A revisioned map. Every method may be called concurrently from one event loop."""

    async def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        """The key now, or as of `revision`. Raises Compacted or FutureRevision."""
        ...

    async def range(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Page:
        """The keys under `prefix` at or after `start` (a whole key), now or as of `revision`; limit 0 is all.

        Raises Compacted or FutureRevision.
        """
        ...

    async def count(self, prefix: str) -> int:
        """How many keys are under `prefix` now."""
        ...

    async def create(self, key: str, value: bytes, *, ttl_seconds: int = 0) -> int:
        """Write a new key and return the write's revision. Raises KeyExists. With a ttl the key deletes itself."""
        ...

    async def update(self, key: str, value: bytes, *, expected: int, ttl_seconds: int = 0) -> int:
        """Replace the value last written at revision `expected`. Raises Mismatch. The ttl replaces the old one."""
        ...

    async def delete(self, key: str, *, expected: int) -> int:
        """Remove the key last written at revision `expected`. Raises Mismatch."""
        ...

    def watch(self, prefix: str, *, after: int) -> AbstractAsyncContextManager[AsyncIterator[Sequence[Event]]]:
        """Every write under `prefix` with a revision above `after`, in order, in batches as they come.

        Enter it to subscribe: no write after entering is missed. Raises Compacted on entering or while iterating.
        A consumer that falls too far behind for the engine to hold its events reads them again from the store.
        """
        ...

    async def revision(self) -> int:
        """The newest revision. Reads that start after this returns see at least it."""
        ...

    def on_write(self, prefix: str, tell: Callable[[str], None]) -> None:
        """Call `tell` with every key under `prefix` that is written through this store, before its writer is told."""
        ...

    async def compact(self, revision: int) -> None:
        """Forget what was overwritten or deleted before `revision`. Live keys stay. Going back is a no-op."""
        ...

    async def close(self) -> None:
        """Finish what was acknowledged, refuse the rest, release everything. Idempotent."""
        ...


class KeyExists(StoreError):
    def __init__(self, key: str) -> None:
        super().__init__(f"{key} exists")
        self.key = key


class Mismatch(StoreError):
    def __init__(self, key: str, current: KeyValue | None) -> None:
        found = f"is at revision {current.revision}" if current else "does not exist"
        super().__init__(f"{key} {found}")
        self.key = key
        self.current = current


class Compacted(StoreError):
    def __init__(self, revision: int, floor: int) -> None:
        super().__init__(f"revision {revision} was compacted at {floor}; list again and watch from there")
        self.revision = revision
        self.floor = floor


class FutureRevision(StoreError):
    def __init__(self, revision: int, current: int) -> None:
        super().__init__(f"revision {revision} has not happened; the newest is {current}")
        self.revision = revision
        self.current = current


class Corrupt(StoreError):
    def __init__(self, key: str, revision: int) -> None:
        super().__init__(f"the stored value of {key} at revision {revision} fails its checksum")
        self.key = key
        self.revision = revision


class Full(StoreError):
    """No space is left to write. Reads and watches go on, and so do writes as soon as there is space again."""


class Locked(StoreError):
    """Another process holds the data directory."""


class Incompatible(StoreError):
    """The data is not a store of ours, or was written by a version of Hardpoint that this one cannot read."""


class Unreachable(StoreError):
    """No endpoint of the store answered. Nothing was written; asking again may help."""


class UnknownOutcome(StoreError):
    """The answer to a write was lost: it may or may not have happened. Read the key to find out."""


class Broken(StoreError):
    """A sync failed: nothing more can be promised until the store is reopened."""


class Closed(StoreError):
    def __init__(self) -> None:
        super().__init__("the store is closed")
