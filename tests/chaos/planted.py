"""`hardpoint` with a bug in it: `python planted.py BUG up ...`.

A green campaign means something only if the same campaign goes red for these. A skipped fsync is not among them: the
kernel keeps what a killed process wrote, so no kill can tell; that takes a disk that forgets.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from hardpoint.apiserver import server
from hardpoint.apiserver.hub import Hub
from hardpoint.store.contract import Event, KeyValue, Store
from hardpoint.store.feed import Feed
from hardpoint.store.sqlite import compaction
from hardpoint.store.sqlite.store import SqliteStore
from hardpoint.store.sqlite.writer import Write, Writer

COMPACTION_SECONDS = 0.02
REVISIONS_KEPT = 200
"""More than a round writes, so that its history can be watched afterwards."""
COMMIT_SECONDS = 0.01
"""How long the bugs around the commit leave the door open."""


def acknowledged_before_the_commit() -> None:
    commit = Writer._commit

    def commit_later(self: Writer, writes: list[Write]) -> None:
        for revision, write in enumerate(writes, self._newest + 1):
            write.revision = revision
        self._tell(self._settled, writes, None)
        time.sleep(COMMIT_SECONDS)
        commit(self, writes)

    attempt = Writer._attempt

    def attempt_and_tell_nobody(self: Writer, work: Callable[[], None]) -> Any:
        failure = attempt(self, work)
        is_commit = isinstance(work, partial) and work.func.__name__ == "commit_later"
        if is_commit and failure is None:
            work.args[0].clear()  # They were told before.
        return failure

    settle = SqliteStore._settle
    Writer._commit = commit_later  # type: ignore[method-assign]
    Writer._attempt = attempt_and_tell_nobody  # type: ignore[method-assign]
    SqliteStore._settle = lambda self, writes, failure: settle(self, list(writes), failure) if writes else None  # type: ignore[method-assign]


def announced_before_the_commit() -> None:
    """Watches hear of writes that the disk does not know yet."""
    commit = Writer._commit

    def announce_and_commit(self: Writer, writes: list[Write]) -> None:
        for revision, write in enumerate(writes, self._newest + 1):
            write.revision = revision
        self._tell(self._settled.__self__._feed.publish, [write.event() for write in writes])  # type: ignore[attr-defined]
        time.sleep(COMMIT_SECONDS)
        commit(self, writes)

    settle = SqliteStore._settle

    def settle_quietly(self: SqliteStore, writes: Sequence[Write], failure: Any) -> None:
        publish, self._feed.publish = self._feed.publish, lambda events: None  # type: ignore[method-assign]
        settle(self, writes, failure)
        self._feed.publish = publish  # type: ignore[method-assign]

    Writer._commit = announce_and_commit  # type: ignore[method-assign]
    SqliteStore._settle = settle_quietly  # type: ignore[method-assign]


def compacted_all_the_time() -> None:
    """Not a bug, but the best company for one."""

    async def compact_often(store: Store) -> None:
        while True:
            await asyncio.sleep(COMPACTION_SECONDS)
            await store.compact(max(await store.revision() - REVISIONS_KEPT, 1))

    server.keep_compacted = compact_often  # type: ignore[assignment]


def deletes_forgotten_above_the_floor() -> None:
    compacted_all_the_time()
    compaction._FORGET_DELETES = "DELETE FROM revisions WHERE revision BETWEEN ? AND ? + 1000000 AND value IS NULL"


def delivered_again_on_resume() -> None:
    changes = Hub.changes

    def one_too_many(self: Hub, place: Any, *, after: int, patience_seconds: Any) -> Any:
        return changes(self, place, after=after - 1, patience_seconds=patience_seconds)

    Hub.changes = one_too_many  # type: ignore[method-assign]


def dropped_now_and_then() -> None:
    publish = Feed.publish

    def forgetful(self: Feed, events: Sequence[Event]) -> None:
        kept = [event for event in events if event.revision % 7 or event is events[-1]]
        publish(self, kept)

    Feed.publish = forgetful  # type: ignore[method-assign]


def compared_with_nothing() -> None:
    """An update wins whatever the key holds."""
    update = SqliteStore.update

    async def overwrite(self: SqliteStore, key: str, value: bytes, *, expected: int, ttl_seconds: int = 0) -> int:
        before: KeyValue | None = await self._durable(key)
        return await update(self, key, value, expected=before.revision if before else expected, ttl_seconds=ttl_seconds)

    SqliteStore.update = overwrite  # type: ignore[method-assign]


BUGS: tuple[Callable[[], None], ...] = (
    acknowledged_before_the_commit,
    announced_before_the_commit,
    deletes_forgotten_above_the_floor,
    delivered_again_on_resume,
    dropped_now_and_then,
    compared_with_nothing,
)


if __name__ == "__main__":
    from hardpoint.cli import main

    plants = {plant.__name__: plant for plant in (*BUGS, compacted_all_the_time)}
    plants[sys.argv.pop(1)]()
    main()
