"""How the data lies on disk, and how a connection to it is opened.

`revisions` holds every write since the last compaction, one row each, numbered by the store's revision. `live` maps
each existing key to its newest row; triggers keep it, so that a whole group of writes is a single INSERT, and with it
a single hand-over of Python's lock. `marks` holds the few numbers that belong to the store as a whole.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from hardpoint.machinery.errors import StoreError
from hardpoint.store.contract import Incompatible

APPLICATION_ID = 0x48505354  # "HPST", in the file's header.
VERSION = 1
FIRST_REVISION = 1

SQLITE_OLDEST = (3, 51, 3)
"""Before this, a checkpoint that met a commit could corrupt the log (the WAL-reset race)."""

_SCHEMA = """
CREATE TABLE revisions (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    created INTEGER NOT NULL,   -- the revision that began this life of the key
    previous INTEGER NOT NULL,  -- the row this one supersedes, or 0
    expires INTEGER NOT NULL,   -- when the key deletes itself, in milliseconds since 1970, or 0
    checksum INTEGER NOT NULL,
    value BLOB                  -- NULL is a delete
) STRICT;
CREATE UNIQUE INDEX history ON revisions (key, revision);
CREATE INDEX expiring ON revisions (expires) WHERE expires > 0;

CREATE TABLE live (key TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER written AFTER INSERT ON revisions WHEN NEW.value IS NOT NULL BEGIN
    INSERT INTO live (key, revision) VALUES (NEW.key, NEW.revision)
    ON CONFLICT (key) DO UPDATE SET revision = excluded.revision;
END;
CREATE TRIGGER deleted AFTER INSERT ON revisions WHEN NEW.value IS NULL BEGIN
    DELETE FROM live WHERE key = NEW.key;
END;

CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO marks VALUES ('floor', 1), ('swept', 1);
"""

_WRITER_CACHE_KIB = 16 << 10
_READER_CACHE_KIB = 32 << 10
_STATEMENTS_MAX = 160

# Readers wait for the writer only while a log begins anew or is recovered; the writer waits for readers only when a
# checkpoint wants the log for itself, and would rather try again later than keep its clients waiting.
_READER_PATIENCE_MILLISECONDS = 5000
_WRITER_PATIENCE_MILLISECONDS = 100


def open_writer(path: Path, vfs: str | None = None) -> apsw.Connection:
    """The one connection that writes and checkpoints. Creates the schema in an empty file.

    Raises Incompatible if the file is not a store, or a newer one.
    """
    connection = _open(path, apsw.SQLITE_OPEN_READWRITE, _WRITER_CACHE_KIB, vfs)
    try:
        _check_header(connection, path)
        connection.pragma("auto_vacuum", 2)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", 2)
        connection.pragma("journal_size_limit", 64 << 20)
        connection.set_busy_timeout(_WRITER_PATIENCE_MILLISECONDS)
        if not connection.pragma("application_id"):
            _create(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def open_reader(path: Path, vfs: str | None = None, *, cache_kib: int = _READER_CACHE_KIB) -> apsw.Connection:
    """A connection that sees what is committed and cannot write."""
    connection = _open(path, apsw.SQLITE_OPEN_READONLY, cache_kib, vfs)
    connection.pragma("query_only", True)
    return connection


def check_sqlite() -> None:
    """Refuse a library that could corrupt the data."""
    found = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if found < SQLITE_OLDEST:
        wanted = ".".join(map(str, SQLITE_OLDEST))
        raise Incompatible(
            f"SQLite {apsw.sqlite_lib_version()} can corrupt a database; install an apsw with {wanted} or newer"
        )


def cannot_open(path: Path, cause: apsw.Error) -> StoreError:
    """Why a file could not be opened, in words for its owner."""
    if isinstance(cause, apsw.NotADBError):
        return _foreign(path)
    return StoreError(f"cannot open {path}: {cause}; if it is damaged, restore a backup")


def _open(path: Path, flags: int, cache_kib: int, vfs: str | None) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=flags, vfs=vfs, statementcachesize=_STATEMENTS_MAX)
    connection.pragma("cache_size", -cache_kib)
    connection.pragma("cell_size_check", True)
    connection.pragma("trusted_schema", False)
    # The writer moves the log when it stops; whoever closes last must not try, least of all after a failed sync.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.set_busy_timeout(_READER_PATIENCE_MILLISECONDS)
    return connection


def _check_header(connection: apsw.Connection, path: Path) -> None:
    application, version = connection.pragma("application_id"), connection.pragma("user_version")
    if application == APPLICATION_ID and version > VERSION:
        raise Incompatible(
            f"{path} was written by a newer Hardpoint (format {version}, this one reads {VERSION}); upgrade first"
        )
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall() == [(0,)]
    if application != APPLICATION_ID and not (application == 0 and is_empty):
        raise _foreign(path)


def _create(connection: apsw.Connection) -> None:
    with connection:
        connection.execute(_SCHEMA)
        connection.pragma("user_version", VERSION)
        connection.pragma("application_id", APPLICATION_ID)


def _foreign(path: Path) -> Incompatible:
    return Incompatible(f"{path} is not a Hardpoint store; choose another data directory or move the file away")
