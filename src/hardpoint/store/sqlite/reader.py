"""Reads, on the event loop's own thread: a point read costs a few microseconds, less than asking another thread.

A read sees what is committed, and the log is synced before a commit becomes visible, so nothing read is ever lost.
Long reads hold a snapshot of their own and let the loop run every few milliseconds.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, cast

import apsw

from hardpoint.machinery.errors import StoreError
from hardpoint.store.contract import Corrupt, Event, KeyValue
from hardpoint.store.prefixes import end_of
from hardpoint.store.sqlite import queries, rows
from hardpoint.store.sqlite.rows import Row
from hardpoint.store.sqlite.schema import open_reader

_SLICE_SECONDS = 0.002
_SLICE_ROWS = 64
_EVENTS_ROWS = 512
_COUNT_ROWS = 20_000
_SNAPSHOTS_MAX = 8
_SNAPSHOT_CACHE_KIB = 8 << 10


class Reader:
    """Point reads and short scans of the newest state, and snapshots for long ones."""

    def __init__(self, path: Path, vfs: str | None = None) -> None:
        self._path = path
        self._vfs = vfs
        self._connection = open_reader(path, vfs)
        self._cursor = self._connection.cursor()
        self._idle: list[Snapshot] = []
        self._closed = False
        self._free = asyncio.Semaphore(_SNAPSHOTS_MAX)

    def newest(self) -> int:
        """The revision of the newest committed write; that row is never compacted away."""
        return cast(int, self._fetch("the newest revision", queries.NEWEST, ())[0][0])

    def mark(self, name: str) -> int:
        """One of the numbers that belong to the store as a whole."""
        return cast(int, self._fetch(name, queries.MARK, (name,))[0][0])

    def get(self, key: str) -> KeyValue | None:
        """Raises Corrupt."""
        return self._one(key, queries.GET, (key,))

    def get_at(self, key: str, revision: int) -> KeyValue | None:
        """Raises Corrupt."""
        return self._one(key, queries.GET_AT, (key, revision))

    def events(self, prefix: str, after: int, upto: int) -> tuple[Sequence[Event], int]:
        """The writes of a bounded stretch after a revision, and where the stretch ends. Raises Corrupt."""
        reached = min(upto, after + _EVENTS_ROWS)
        found = self._fetch(prefix, queries.EVENTS, (after, reached, prefix, _end(prefix)))
        return [_event(row) for row in found], reached

    def due(self, after: int, revision: int, now: int, limit: int) -> list[tuple[int, int, str]]:
        """Expiry, revision and key of what expires by `now`, from behind the given expiry and revision on."""
        return self._fetch("what expires", queries.DUE, (after, revision, now, limit))

    def next_expiry(self, after: int) -> int | None:
        """When something may expire next."""
        return cast("int | None", self._fetch("what expires", queries.NEXT_EXPIRY, (after,))[0][0])

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """One state of the store, for as long as the block lasts."""
        async with self._free:
            with _reading("the newest state"):
                snapshot = self._idle.pop() if self._idle else Snapshot(self._path, self._vfs)
                snapshot.begin()
            try:
                yield snapshot
            finally:
                self._take_back(snapshot)

    def close(self) -> None:
        """Close what is idle now and, as soon as they end, the snapshots still in use. Idempotent."""
        self._closed = True
        self._connection.close()
        for snapshot in self._idle:
            snapshot.close()
        self._idle.clear()

    def _take_back(self, snapshot: Snapshot) -> None:
        try:
            snapshot.end()
        except apsw.Error:
            # It met damage, of which its reader knows. SQLite gives it up, and so do we.
            snapshot.close()
            return
        if self._closed:
            snapshot.close()
        else:
            self._idle.append(snapshot)

    def _one(self, key: str, query: str, bindings: tuple[str | int, ...]) -> KeyValue | None:
        found = self._fetch(key, query, bindings)
        if not found or found[0][6] is None:
            return None
        if found[0][1] != key:
            raise Corrupt(key, found[0][0])
        return rows.key_value(found[0])

    def _fetch(self, what: str, query: str, bindings: tuple[str | bytes | int, ...]) -> list[Any]:
        # All rows are fetched because only a finished statement lets go of its read lock. This is the hottest path:
        # a context manager would cost a fifth of it.
        try:
            return self._cursor.execute(query, bindings).fetchall()
        except apsw.Error as cause:
            raise _unreadable(what, cause) from cause


class Snapshot:
    """A connection inside a read transaction."""

    def __init__(self, path: Path, vfs: str | None) -> None:
        self._connection = open_reader(path, vfs, cache_kib=_SNAPSHOT_CACHE_KIB)
        self._cursor = self._connection.cursor()
        self.revision = 0

    def begin(self) -> None:
        self._connection.execute("BEGIN")
        self.revision = cast(int, self._connection.execute(queries.NEWEST).fetchall()[0][0])

    def end(self) -> None:
        # A statement that was not read to its end would keep the transaction open.
        self._cursor.close(force=True)
        self._cursor = self._connection.cursor()
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close(force=True)

    async def range(self, prefix: str, start: str, limit: int, revision: int) -> list[KeyValue]:
        """The keys at `revision`, which is this snapshot's or an earlier one. Raises Corrupt."""
        span = (max(prefix, start), _end(prefix))
        with _reading(prefix):
            if revision == self.revision:
                found = self._cursor.execute(queries.RANGE, (*span, limit or -1))
            else:
                found = self._cursor.execute(queries.RANGE_AT, (*span, revision, limit or -1))
            return await _collect(cast("Iterator[Row]", found))

    async def count(self, prefix: str) -> int:
        """How many keys there are: it has to look at each of them."""
        total, first, end = 0, prefix, _end(prefix)
        while True:
            with _reading(prefix):
                found = self._cursor.execute(queries.COUNT, (first, end, _COUNT_ROWS)).fetchall()
            counted, last = cast("tuple[int, str]", found[0])
            total += counted
            if counted < _COUNT_ROWS:
                return total
            first = last + "\0"
            await asyncio.sleep(0)


async def _collect(found: Iterator[Row]) -> list[KeyValue]:
    items: list[KeyValue] = []
    pause_at = time.monotonic() + _SLICE_SECONDS
    while True:
        taken = [rows.key_value(row) for row in islice(found, _SLICE_ROWS)]
        items += taken
        if len(taken) < _SLICE_ROWS:
            return items
        if time.monotonic() > pause_at:
            await asyncio.sleep(0)
            pause_at = time.monotonic() + _SLICE_SECONDS


def _event(row: tuple[Any, ...]) -> Event:
    written, superseded = cast(Row, row[:7]), cast(Row, row[7:])
    before = None if superseded[0] is None else rows.key_value(superseded).value
    return rows.event(written, before)


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Say what could not be read, and why."""
    try:
        yield
    except apsw.Error as cause:
        raise _unreadable(what, cause) from cause


def _unreadable(what: str, cause: apsw.Error) -> StoreError:
    return StoreError(f"cannot read {what}: {cause}")


def _end(prefix: str) -> str | bytes:
    # Any blob sorts after all text: the end of the keys under the empty prefix.
    end = end_of(prefix)
    return b"" if end is None else end
