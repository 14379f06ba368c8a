"""The store in a dict: for tests, for throw-away clusters, and as the model the other engines are compared with.

Everything is kept until it is compacted, nothing survives the process, and no call waits: each is atomic on the loop.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager

from hardpoint.store.contract import (
    Closed,
    Compacted,
    Event,
    FutureRevision,
    KeyExists,
    KeyValue,
    Mismatch,
    Page,
    Store,
)
from hardpoint.store.feed import Feed
from hardpoint.store.prefixes import end_of

FIRST_REVISION = 1


class MemoryStore:
    """A Store that lives and dies with this process."""

    def __init__(self) -> None:
        self._live: dict[str, KeyValue] = {}
        self._log: list[Event] = []
        self._lives: dict[str, list[KeyValue | _Tombstone]] = {}
        self._floor = FIRST_REVISION
        self._feed = Feed(FIRST_REVISION, self._past, self._check_kept)
        self._expiries: dict[str, asyncio.TimerHandle] = {}
        self._closed = False

    async def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        self._check_open()
        if not revision:
            return self._live.get(key)
        self._check_known(revision)
        return self._at(key, revision)

    async def range(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Page:
        self._check_open()
        if revision:
            self._check_known(revision)
        at = revision or self._feed.revision
        first, end = max(prefix, start), end_of(prefix)
        keys = sorted(key for key in self._lives if key >= first and (end is None or key < end))
        found = [item for key in keys if (item := self._at(key, at))]
        items = found[:limit] if limit else found
        return Page(items, at, len(found) > len(items))

    async def count(self, prefix: str) -> int:
        self._check_open()
        return sum(key.startswith(prefix) for key in self._live)

    async def create(self, key: str, value: bytes, *, ttl_seconds: int = 0) -> int:
        self._check_open()
        if key in self._live:
            raise KeyExists(key)
        return self._write(key, value, ttl_seconds)

    async def update(self, key: str, value: bytes, *, expected: int, ttl_seconds: int = 0) -> int:
        self._check_open()
        self._check_expected(key, expected)
        return self._write(key, value, ttl_seconds)

    async def delete(self, key: str, *, expected: int) -> int:
        self._check_open()
        self._check_expected(key, expected)
        return self._write(key, None, 0)

    def watch(self, prefix: str, *, after: int) -> AbstractAsyncContextManager[AsyncIterator[Sequence[Event]]]:
        return self._feed.watch(prefix, max(after, FIRST_REVISION))

    async def revision(self) -> int:
        self._check_open()
        return self._feed.revision

    def on_write(self, prefix: str, tell: Callable[[str], None]) -> None:
        self._feed.on_write(prefix, tell)

    async def compact(self, revision: int) -> None:
        self._check_open()
        if revision > self._feed.revision:
            raise FutureRevision(revision, self._feed.revision)
        if revision <= self._floor:
            return
        self._floor = revision
        self._log = [event for event in self._log if event.revision > revision]
        for key, writes in list(self._lives.items()):
            holds = bisect_right(writes, revision, key=lambda write: write.revision) - 1
            kept = writes[max(holds, 0) :]
            if kept[0].revision <= revision and isinstance(kept[0], _Tombstone):
                kept = kept[1:]
            if kept:
                self._lives[key] = kept
            else:
                del self._lives[key]

    async def close(self) -> None:
        self._closed = True
        for expiry in self._expiries.values():
            expiry.cancel()
        self._expiries.clear()
        self._feed.fail(Closed())

    def _write(self, key: str, value: bytes | None, ttl_seconds: int) -> int:
        revision = self._feed.revision + 1
        before = self._live.pop(key, None)
        if value is None:
            self._lives[key].append(_Tombstone(revision))
        else:
            item = KeyValue(key, value, revision, before.created if before else revision)
            self._live[key] = item
            self._lives.setdefault(key, []).append(item)
        self._expire_later(key, ttl_seconds)
        event = Event(key, value, revision, before.value if before else None)
        self._log.append(event)
        self._feed.publish([event])
        return revision

    def _expire_later(self, key: str, ttl_seconds: int) -> None:
        if earlier := self._expiries.pop(key, None):
            earlier.cancel()
        if ttl_seconds:
            self._expiries[key] = asyncio.get_running_loop().call_later(ttl_seconds, self._write, key, None, 0)

    def _at(self, key: str, revision: int) -> KeyValue | None:
        writes = self._lives.get(key, [])
        holds = bisect_right(writes, revision, key=lambda write: write.revision) - 1
        held = writes[holds] if holds >= 0 else None
        return held if isinstance(held, KeyValue) else None

    async def _past(self, prefix: str, after: int, upto: int) -> tuple[Sequence[Event], int]:
        self._check_kept(after)
        first = bisect_right(self._log, after, key=lambda event: event.revision)
        return [event for event in self._log[first:] if event.key.startswith(prefix)], upto

    def _check_open(self) -> None:
        if self._closed:
            raise Closed

    def _check_expected(self, key: str, expected: int) -> None:
        current = self._live.get(key)
        if current is None or current.revision != expected:
            raise Mismatch(key, current)

    def _check_known(self, revision: int) -> None:
        if revision > self._feed.revision:
            raise FutureRevision(revision, self._feed.revision)
        self._check_kept(revision)

    def _check_kept(self, revision: int) -> None:
        self._check_open()
        if revision < self._floor:
            raise Compacted(revision, self._floor)


class _Tombstone:
    """A delete in a key's history."""

    def __init__(self, revision: int) -> None:
        self.revision = revision


_conforms: type[Store] = MemoryStore
