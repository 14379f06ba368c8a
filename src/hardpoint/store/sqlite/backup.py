"""Copies of a store: written while it runs, turned back into a store in an empty directory.

A backup is one ordinary SQLite file as of one revision. Restoring jumps the revision far ahead and compacts everything
below, because clients may have seen revisions that the backup has not: their watches fail and they list again, instead
of quietly diverging.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from pathlib import Path
from typing import cast

import apsw

from hardpoint.machinery.errors import StoreError
from hardpoint.store.sqlite import queries
from hardpoint.store.sqlite.directory import DATABASE, DataDirectory, sync_directory
from hardpoint.store.sqlite.rows import checksum
from hardpoint.store.sqlite.schema import cannot_open, open_reader, open_writer

_STEP_PAGES = 4096
_CACHE_KIB = 2 << 10

REVISIONS_SKIPPED = 1_000_000_000
"""More than a store writes between a backup and its loss."""
_RESTORED_KEY = "/hardpoint/restored"


async def write(database: Path, target: Path) -> int:
    """Copy the database into `target`, which must not exist, and return the revision it holds."""
    return await asyncio.to_thread(_write, database, target)


async def restore(source: Path, directory: Path) -> None:
    """Make `directory`, which must hold no store yet, the store that `source` is a backup of."""
    await asyncio.to_thread(_restore, source, directory)


def _write(database: Path, target: Path) -> int:
    if target.exists():
        raise StoreError(f"{target} exists; a backup is never written over another file")
    partial = target.with_name(f".{target.name}.partial")
    try:
        _create_private(partial)
        revision = _copy(database, partial)
        os.rename(partial, target)
        sync_directory(target.parent)
    except (OSError, apsw.Error) as cause:
        raise StoreError(f"cannot write the backup {target}: {cause}") from cause
    finally:
        partial.unlink(missing_ok=True)
    return revision


def _restore(source: Path, directory: Path) -> None:
    if not source.is_file():
        raise StoreError(f"{source} is not a file; name the backup to restore")
    if (directory / DATABASE).exists():
        raise StoreError(f"{directory} already holds a store; restore into an empty directory")
    held = DataDirectory(directory, holder="a restore")
    try:
        _copy(source, held.database)
        with closing(open_writer(held.database)) as connection:
            _jump_ahead(connection)
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.Error as cause:
        raise cannot_open(source, cause) from cause
    finally:
        held.release()


def _copy(source: Path, target: Path) -> int:
    """Copy one snapshot, page by page, and sync it."""
    with closing(open_reader(source, cache_kib=_CACHE_KIB)) as reading, closing(_open_copy(target)) as writing:
        # Inside a transaction the source stands still, so that concurrent commits do not make the copy start again.
        reading.execute("BEGIN")
        revision = cast(int, reading.execute(queries.NEWEST).fetchall()[0][0])
        with writing.backup("main", reading, "main") as copy:
            while not copy.done:
                copy.step(_STEP_PAGES)
        reading.execute("COMMIT")
        # A backup is one file: it keeps no log beside it.
        writing.pragma("journal_mode", "delete")
    _sync_file(target)
    return revision


def _open_copy(target: Path) -> apsw.Connection:
    connection = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.pragma("synchronous", 0)
    return connection


def _jump_ahead(connection: apsw.Connection) -> None:
    newest = cast(int, connection.execute(queries.NEWEST).fetchall()[0][0])
    revision = newest + REVISIONS_SKIPPED
    row = (revision, _RESTORED_KEY, revision, 0, 0, checksum(_RESTORED_KEY, revision, revision, 0, 0, None), None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(queries.insert(1), row)
    connection.execute(queries.SET_MARK, (revision, "floor"))
    connection.execute("COMMIT")


def _create_private(path: Path) -> None:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    os.fchmod(file, 0o600)
    os.close(file)


def _sync_file(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
