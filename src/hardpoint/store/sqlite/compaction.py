"""Forgets what was superseded or deleted, in steps small enough that writers hardly notice.

First the floor is raised, durably; from then on nobody may ask for what lies below it. Then the rows between the last
sweep and the floor are walked in order: each removes the row it supersedes, and itself if it is a delete below the
floor. Every row from the floor on stays, the newest one among them. A sweep that was cut short goes on the next time.
"""

from __future__ import annotations

from typing import cast

import apsw

from hardpoint.store import failpoints
from hardpoint.store.sqlite import queries
from hardpoint.store.sqlite.writer import Job, Writer

_STEP_ROWS = 256
_STEP_PAGES = 256
_FREE_PAGES_KEPT = 1024
"""Free pages are worth keeping for the next writes; beyond these they go back to the file system."""

_STRETCH = """
    SELECT max(revision) FROM (SELECT revision FROM revisions WHERE revision >= ? ORDER BY revision LIMIT ?)
"""
_FORGET_SUPERSEDED = """
    DELETE FROM revisions
    WHERE revision IN (SELECT previous FROM revisions WHERE revision BETWEEN ? AND ? AND previous > 0)
"""
_FORGET_DELETES = "DELETE FROM revisions WHERE revision BETWEEN ? AND ? AND value IS NULL"


def set_floor(revision: int) -> Job:
    """Make the promise durable before anything is forgotten."""

    def job(connection: apsw.Connection) -> None:
        failpoints.hit("store.before_floor")
        _set_mark(connection, "floor", revision)

    return job


async def sweep(writer: Writer) -> None:
    """Forget everything the floor allows, and give the space back."""
    while not await writer.run(_sweep_step):
        pass
    while not await writer.run(_vacuum_step):
        pass


def _sweep_step(connection: apsw.Connection) -> bool:
    """Sweep the next stretch; whether it was the last."""
    failpoints.hit("store.before_sweep")
    floor, swept = _mark(connection, "floor"), _mark(connection, "swept")
    if swept == floor:
        return True
    last = connection.execute(_STRETCH, (swept, _STEP_ROWS)).fetchall()[0][0]
    reached = min(floor, cast(int, last))
    # Deletes name what they supersede, so they go second.
    connection.execute(_FORGET_SUPERSEDED, (swept, reached))
    connection.execute(_FORGET_DELETES, (swept, min(reached, floor - 1)))
    _set_mark(connection, "swept", reached)
    failpoints.hit("store.after_sweep")
    return reached == floor


def _vacuum_step(connection: apsw.Connection) -> bool:
    free = cast(int, connection.pragma("freelist_count")) - _FREE_PAGES_KEPT
    if free > 0:
        connection.execute(f"PRAGMA incremental_vacuum({min(free, _STEP_PAGES)})").fetchall()
    return free <= _STEP_PAGES


def _mark(connection: apsw.Connection, name: str) -> int:
    return cast(int, connection.execute(queries.MARK, (name,)).fetchall()[0][0])


def _set_mark(connection: apsw.Connection, name: str, value: int) -> None:
    connection.execute(queries.SET_MARK, (value, name))
