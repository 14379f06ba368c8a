"""The one thread that writes: group commit, checkpoints, and what happens when the disk says no.

Writes that arrive while a commit is syncing share the next one: one transaction, one sync, one call back to the loop.
The loop has already compared and found each write allowed, and lets no two writes of a key be under way at once, so
the thread only numbers them and inserts them. Only after COMMIT has returned does anybody hear of them.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import apsw

from hardpoint.machinery.errors import StoreError
from hardpoint.store import failpoints
from hardpoint.store.contract import Broken, Closed, Event, Full, KeyValue
from hardpoint.store.sqlite.queries import insert
from hardpoint.store.sqlite.rows import checksum

log = logging.getLogger(__name__)

_E = TypeVar("_E", bound=StoreError)

Job = Callable[[apsw.Connection], Any]
"""Housekeeping that runs on the writing connection, inside a transaction of its own."""

_ROWS_MAX = 64
_HANDOVER_SECONDS = 0.0005
_GROUP_MAX = 1024
_GROUP_BYTES_MAX = 8 << 20
_CHECKPOINT_PAGES = 1000
_CHECKPOINT_PAGES_URGENT = 16_000
_INSERTS = [insert(count) for count in range(_ROWS_MAX + 1)]


@dataclass(slots=True, eq=False)
class Write:
    """One write on its way to the disk."""

    key: str
    value: bytes | None
    before: KeyValue | None
    expires: int
    done: asyncio.Future[int]
    revision: int = 0
    followers: list[asyncio.Future[None]] = field(default_factory=list)

    def event(self) -> Event:
        """What watches are told once it is committed."""
        return Event(self.key, self.value, self.revision, self.before.value if self.before else None)

    async def wait_until_settled(self) -> None:
        """Wait for the outcome, whatever it is and whether or not its writer still waits for it."""
        follower = self.done.get_loop().create_future()
        self.followers.append(follower)
        await follower

    def settle(self, failure: StoreError | None) -> None:
        """Tell the writer and the followers."""
        if not self.done.done():
            if failure is None:
                self.done.set_result(self.revision)
            else:
                self.done.set_exception(_caused(type(failure)(str(failure)), failure.__cause__))
        for follower in self.followers:
            if not follower.done():
                follower.set_result(None)


@dataclass(slots=True, eq=False)
class _Task:
    job: Job
    done: asyncio.Future[Any]


@dataclass(slots=True)
class _Round:
    """What the thread found waiting."""

    writes: list[Write] = field(default_factory=list)
    size: int = 0
    tasks: list[_Task] = field(default_factory=list)
    is_last: bool = False

    def add(self, item: list[Write] | _Task | None) -> None:
        if item is None:
            self.is_last = True
        elif isinstance(item, list):
            self.writes += item
            self.size += sum(len(write.value or b"") for write in item)
        else:
            self.tasks.append(item)

    def is_full(self) -> bool:
        return self.is_last or len(self.writes) >= _GROUP_MAX or self.size >= _GROUP_BYTES_MAX


Settled = Callable[[Sequence[Write], StoreError | None], None]
"""Told on the loop, once for each group: its writes are committed, or failed together."""


class Writer:
    """Owns the writing connection. Its methods are called on the loop."""

    def __init__(self, connection: apsw.Connection, newest: int, settled: Settled) -> None:
        self._connection = connection
        self._newest = newest
        self._settled = settled
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[list[Write] | _Task | None] = SimpleQueue()
        self._submitted: list[Write] = []
        self._broken: Broken | None = None
        self._log_pages = 0
        self._moved_pages = 0
        self._is_stopping = False
        self._stopped = self._loop.create_future()
        connection.set_wal_hook(self._note_log_pages)
        # A busy loop keeps Python's lock for 5 ms at a time, which starves the thread: writes waited up to 2 seconds.
        sys.setswitchinterval(min(sys.getswitchinterval(), _HANDOVER_SECONDS))
        self._thread = Thread(target=self._run, name="hardpoint store writer", daemon=True)
        self._thread.start()

    def submit(self, write: Write) -> None:
        """Commit this write with the next group; `settled` hears the outcome.

        What one turn of the loop submits is handed over together: the thread would take the first write alone, and let
        the others wait for its sync.
        """
        if not self._submitted:
            self._loop.call_soon(self._hand_over)
        self._submitted.append(write)

    def _hand_over(self) -> None:
        if self._submitted:
            self._queue.put(self._submitted)
            self._submitted = []

    async def run(self, job: Job) -> Any:
        """Run housekeeping between two groups and return what it returns. Raises Full, Broken or Closed."""
        if self._is_stopping:
            raise Closed
        done = self._loop.create_future()
        self._hand_over()
        self._queue.put(_Task(job, done))
        return await done

    async def stop(self) -> None:
        """Commit what was submitted, move the log into the database, close the connection."""
        self._is_stopping = True
        self._hand_over()
        self._queue.put(None)
        await asyncio.shield(self._stopped)
        self._thread.join()

    def _run(self) -> None:
        is_last = False
        while not is_last:
            found = self._take()
            is_last = found.is_last
            if found.writes:
                self._tell(self._settled, found.writes, self._attempt(partial(self._commit, found.writes)))
            for task in found.tasks:
                self._perform(task)
            self._checkpoint(is_last=is_last)
        # What a broken disk says to closing changes nothing: all that was acknowledged is in the log.
        with suppress(apsw.Error):
            self._connection.close()
        self._tell(self._stopped.set_result, None)

    def _take(self) -> _Round:
        found = _Round()
        found.add(self._queue.get())
        while not found.is_full():
            try:
                found.add(self._queue.get_nowait())
            except Empty:
                break
        return found

    def _commit(self, writes: list[Write]) -> None:
        numbered = list(enumerate(writes, self._newest + 1))
        groups = [numbered[at : at + _ROWS_MAX] for at in range(0, len(numbered), _ROWS_MAX)]
        failpoints.hit("store.before_commit")
        if len(groups) == 1:
            # A statement alone is its own transaction, and the whole commit one hand-over of Python's lock.
            self._insert(groups[0])
        else:
            with _transaction(self._connection):
                for group in groups:
                    self._insert(group)
        failpoints.hit("store.after_commit")
        self._newest += len(writes)
        for revision, write in numbered:
            write.revision = revision
        failpoints.hit("store.before_publish")

    def _insert(self, group: list[tuple[int, Write]]) -> None:
        values: list[int | str | bytes | None] = []
        for revision, write in group:
            key, value, before, expires = write.key, write.value, write.before, write.expires
            created, previous = (before.created, before.revision) if before else (revision, 0)
            check = checksum(key, revision, created, previous, expires, value)
            values += (revision, key, created, previous, expires, check, value)
        self._connection.execute(_INSERTS[len(group)], values)

    def _perform(self, task: _Task) -> None:
        outcome: list[Any] = []

        def work() -> None:
            with _transaction(self._connection):
                outcome.append(task.job(self._connection))

        failure = self._attempt(work)
        self._tell(_resolve, task.done, outcome, failure)

    def _attempt(self, work: Callable[[], None]) -> StoreError | None:
        """Do it, or say why not. A failure that leaves durability in doubt is the last thing this writer does."""
        if self._broken:
            return self._broken
        try:
            work()
        except apsw.FullError as cause:
            log.warning("no space to write")
            return _caused(Full(f"no space is left to write: {cause}"), cause)
        except Exception as cause:  # noqa: BLE001 - whatever it was, nobody knows what reached the disk
            message = f"a write failed and may or may not have happened: {cause}; restart to go on"
            self._broken = _caused(Broken(message), cause)
            log.error("store broken", extra={"cause": str(cause)})
            return self._broken
        return None

    def _checkpoint(self, *, is_last: bool) -> None:
        """Move the log into the database, after the commits it holds were acknowledged."""
        waiting = self._log_pages - self._moved_pages
        if is_last:
            mode = apsw.SQLITE_CHECKPOINT_TRUNCATE
        elif waiting < _CHECKPOINT_PAGES * (1 if self._queue.empty() else 4):
            return
        elif self._log_pages > _CHECKPOINT_PAGES_URGENT:
            mode = apsw.SQLITE_CHECKPOINT_RESTART
        else:
            mode = apsw.SQLITE_CHECKPOINT_PASSIVE
        self._attempt(partial(self._move_log, mode))

    def _move_log(self, mode: int) -> None:
        failpoints.hit("store.before_checkpoint")
        self._moved_pages = self._log_pages
        try:
            self._connection.wal_checkpoint(mode=mode)
        except apsw.BusyError:
            log.debug("log kept by a reader", extra={"pages": self._log_pages})
        failpoints.hit("store.after_checkpoint")

    def _note_log_pages(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        # A log that shrank began anew: all of it is yet to be moved.
        self._moved_pages = 0 if pages < self._log_pages else self._moved_pages
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _tell(self, told: Callable[..., None], *arguments: Any) -> None:
        # A loop that was closed under the store has nobody left to tell.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(told, *arguments)


@contextmanager
def _transaction(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # Some errors make SQLite roll back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _resolve(done: asyncio.Future[Any], outcome: list[Any], failure: StoreError | None) -> None:
    if done.cancelled():
        return
    if failure:
        done.set_exception(failure)
    else:
        done.set_result(outcome[0])


def _caused(error: _E, cause: BaseException | None) -> _E:
    error.__cause__ = cause
    return error
