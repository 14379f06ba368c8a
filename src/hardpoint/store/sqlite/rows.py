"""A row of `revisions`: its checksum, and what readers make of it.

SQLite's pages carry no checksums, so every row does: a CRC-32 over the value, begun with the key's own CRC mixed with
the row's numbers. Any single flipped bit in a row changes it. Rows are checked each time they are read.
"""

from __future__ import annotations

from zlib import crc32

from hardpoint.store.contract import Corrupt, Event, KeyValue

Row = tuple[int, str, int, int, int, int, bytes | None]
"""revision, key, created, previous, expires, checksum, value: the columns of `revisions` in order."""

COLUMNS = ("revision", "key", "created", "previous", "expires", "checksum", "value")


def columns(table: str) -> str:
    """The columns of a Row, as SQL selects them from an alias of `revisions`."""
    return ", ".join(f"{table}.{column}" for column in COLUMNS)


def checksum(key: str, revision: int, created: int, previous: int, expires: int, value: bytes | None) -> int:
    """What the row must carry."""
    # Odd factors keep every bit of each number and keep the numbers from standing in for one another.
    numbers = revision + created * 0x9E3779B1 + previous * 0x85EBCA77 + expires * 0xC2B2AE3D + (value is None)
    return crc32(value or b"", (crc32(key.encode()) ^ numbers ^ numbers >> 32) & 0xFFFFFFFF)


def key_value(row: Row) -> KeyValue:
    """The key as this row, which is no delete, left it. Raises Corrupt."""
    revision, key, created, previous, expires, stored, value = row
    if value is None or checksum(key, revision, created, previous, expires, value) != stored:
        raise Corrupt(key, revision)
    return KeyValue(key, value, revision, created)


def event(row: Row, before: bytes | None) -> Event:
    """The write this row stands for; `before` is what the row it supersedes held. Raises Corrupt."""
    revision, key, created, previous, expires, stored, value = row
    if checksum(key, revision, created, previous, expires, value) != stored:
        raise Corrupt(key, revision)
    return Event(key, value, revision, before)
