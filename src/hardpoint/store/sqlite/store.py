"""The SQLite engine put together: compares on the loop, commits in the writer's thread, publishes back on the loop.

A write reads its key, compares, and joins the group that is forming. Until it is settled, other writes of that key
wait, so whatever they then compare with is durable: nobody is refused because of a write that was lost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import apsw

from hardpoint.machinery.errors import StoreError
from hardpoint.store.contract import (
    Broken,
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
from hardpoint.store.sqlite import backup, compaction
from hardpoint.store.sqlite.directory import DataDirectory
from hardpoint.store.sqlite.expiry import Expiry
from hardpoint.store.sqlite.reader import Reader
from hardpoint.store.sqlite.recent import Recent
from hardpoint.store.sqlite.schema import FIRST_REVISION, cannot_open, check_sqlite, open_writer
from hardpoint.store.sqlite.writer import Write, Writer


class SqliteStore:
    """A Store in a directory of this machine, held by one process at a time. Made by `open`."""

    @classmethod
    async def open(
        cls, path: Path, *, holder: str = "", clock: Callable[[], float] = time.time, vfs: str | None = None
    ) -> SqliteStore:
        """Open the store in this directory, creating both if need be.

        `holder` tells whoever finds the directory locked who we are. Raises Locked, Incompatible, or StoreError that
        says why the directory cannot be used.
        """
        check_sqlite()
        directory = DataDirectory(path, holder=holder)
        try:
            return cls(directory, clock, vfs)
        except apsw.Error as cause:
            directory.release()
            raise cannot_open(directory.database, cause) from cause
        except BaseException:
            directory.release()
            raise

    def __init__(self, directory: DataDirectory, clock: Callable[[], float], vfs: str | None) -> None:
        connection = open_writer(directory.database, vfs)
        self._directory = directory
        self._clock = clock
        self._reader = Reader(directory.database, vfs)
        self._floor = self._reader.mark("floor")
        newest = self._reader.newest()
        self._writer = Writer(connection, newest, self._settle)
        self._feed = Feed(newest, self._past, self._check_kept)
        self._recent = Recent()
        self._under_way: dict[str, Write] = {}
        self._refusal: StoreError | None = None
        self._closed = False
        self._compacting = asyncio.Lock()
        self._expiry = Expiry(self._reader, clock, self.delete)

    async def get(self, key: str, *, revision: int = 0) -> KeyValue | None:
        self._check_open()
        if not revision:
            return self._recent.get(key) or self._read(key)
        self._check_known(revision, self._reader.newest())
        return self._reader.get_at(key, revision)

    async def range(self, prefix: str, *, start: str = "", limit: int = 0, revision: int = 0) -> Page:
        self._check_open()
        async with self._reader.snapshot() as snapshot:
            at = revision or snapshot.revision
            self._check_known(at, snapshot.revision)
            # One more than wanted tells whether there is more.
            items = await snapshot.range(prefix, start, limit and limit + 1, at)
        more = bool(limit) and len(items) > limit
        return Page(items[:limit] if more else items, at, more)

    async def count(self, prefix: str) -> int:
        self._check_open()
        async with self._reader.snapshot() as snapshot:
            return await snapshot.count(prefix)

    async def create(self, key: str, value: bytes, *, ttl_seconds: int = 0) -> int:
        before = await self._durable(key)
        if before:
            raise KeyExists(key)
        return await self._write(key, value, None, ttl_seconds)

    async def update(self, key: str, value: bytes, *, expected: int, ttl_seconds: int = 0) -> int:
        before = await self._durable(key)
        if before is None or before.revision != expected:
            raise Mismatch(key, before)
        return await self._write(key, value, before, ttl_seconds)

    async def delete(self, key: str, *, expected: int) -> int:
        before = await self._durable(key)
        if before is None or before.revision != expected:
            raise Mismatch(key, before)
        return await self._write(key, None, before, 0)

    def watch(self, prefix: str, *, after: int) -> AbstractAsyncContextManager[AsyncIterator[Sequence[Event]]]:
        return self._feed.watch(prefix, max(after, FIRST_REVISION))

    async def revision(self) -> int:
        self._check_open()
        return self._reader.newest()

    def on_write(self, prefix: str, tell: Callable[[str], None]) -> None:
        self._feed.on_write(prefix, tell)

    async def compact(self, revision: int) -> None:
        self._check_open()
        newest = self._reader.newest()
        if revision > newest:
            raise FutureRevision(revision, newest)
        async with self._compacting:
            if revision > self._floor:
                await self._writer.run(compaction.set_floor(revision))
                # From here on nobody may begin to read what is about to be forgotten.
                self._floor = revision
            await compaction.sweep(self._writer)

    async def backup(self, target: Path) -> int:
        """Write the store as of one revision into one new file, and return the revision. Writes go on meanwhile.

        The file is durable when this returns; a crash leaves no file of that name. `restore` turns it into a store.
        """
        self._check_open()
        return await backup.write(self._directory.database, target)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await self._expiry.stop()
        await self._writer.stop()
        self._feed.fail(Closed())
        self._reader.close()
        self._directory.release()

    async def _durable(self, key: str) -> KeyValue | None:
        """The key as it is on disk, once no write of it is under way."""
        self._check_writable()
        while write := self._under_way.get(key):
            await write.wait_until_settled()
            self._check_writable()
        return self._recent.get(key) or self._read(key)

    def _read(self, key: str) -> KeyValue | None:
        """The key as it is on disk, remembered for who asks next unless it is about to change."""
        found = self._reader.get(key)
        if found is not None and key not in self._under_way:
            self._recent.put(found)
        return found

    async def _write(self, key: str, value: bytes | None, before: KeyValue | None, ttl_seconds: int) -> int:
        expires = int((self._clock() + ttl_seconds) * 1000) if ttl_seconds else 0
        write = Write(key, value, before, expires, asyncio.get_running_loop().create_future())
        self._under_way[key] = write
        self._recent.drop(key)
        self._writer.submit(write)
        return await write.done

    def _settle(self, writes: Sequence[Write], failure: StoreError | None) -> None:
        """Tell the world: watches first, then whoever wrote, then whoever waits for the same key."""
        for write in writes:
            del self._under_way[write.key]
        if failure is None:
            self._feed.publish([write.event() for write in writes])
            self._expiry.notice(writes)
        elif isinstance(failure, Broken):
            self._refusal = failure
            self._feed.fail(failure)
        for write in writes:
            write.settle(failure)

    async def _past(self, prefix: str, after: int, upto: int) -> tuple[Sequence[Event], int]:
        self._check_kept(after)
        await asyncio.sleep(0)
        self._check_kept(after)
        return self._reader.events(prefix, after, upto)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed

    def _check_writable(self) -> None:
        self._check_open()
        if self._refusal:
            raise Broken(str(self._refusal)) from self._refusal.__cause__

    def _check_known(self, revision: int, newest: int) -> None:
        if revision > newest:
            raise FutureRevision(revision, newest)
        self._check_kept(revision)

    def _check_kept(self, revision: int) -> None:
        self._check_open()
        if revision < self._floor:
            raise Compacted(revision, self._floor)


_conforms: type[Store] = SqliteStore
