"""What is asked of the tables in `schema`. Only constants are put together here; values are always bound."""

# ruff: noqa: S608

from __future__ import annotations

from hardpoint.store.sqlite.rows import COLUMNS, columns
from hardpoint.store.sqlite.schema import FIRST_REVISION

NEWEST = f"SELECT coalesce((SELECT max(revision) FROM revisions), {FIRST_REVISION})"
GET = f"SELECT {columns('r')} FROM revisions AS r WHERE r.revision = (SELECT revision FROM live WHERE key = ?)"
GET_AT = f"""
    SELECT {columns("r")} FROM revisions AS r WHERE r.key = ? AND r.revision <= ? ORDER BY r.revision DESC LIMIT 1
"""
RANGE = f"""
    SELECT {columns("r")} FROM live AS l CROSS JOIN revisions AS r ON r.revision = l.revision
    WHERE l.key >= ? AND l.key < ? ORDER BY l.key LIMIT ?
"""
RANGE_AT = f"""
    SELECT {columns("r")} FROM revisions AS r INDEXED BY history
    WHERE r.key >= ?1 AND r.key < ?2 AND r.revision <= ?3 AND r.value IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM revisions AS n WHERE n.key = r.key AND n.revision > r.revision AND n.revision <= ?3)
    ORDER BY r.key LIMIT ?4
"""
COUNT = "SELECT count(*), max(key) FROM (SELECT key FROM live WHERE key >= ? AND key < ? ORDER BY key LIMIT ?)"
EVENTS = f"""
    SELECT {columns("r")}, {columns("p")}
    FROM revisions AS r LEFT JOIN revisions AS p ON p.revision = r.previous
    WHERE r.revision > ? AND r.revision <= ? AND r.key >= ? AND r.key < ? ORDER BY r.revision
"""
MARK = "SELECT value FROM marks WHERE name = ?"
DUE = """
    SELECT r.expires, r.revision, r.key FROM revisions AS r INDEXED BY expiring
    JOIN live AS l ON l.key = r.key AND l.revision = r.revision
    WHERE r.expires > 0 AND (r.expires, r.revision) > (?, ?) AND r.expires <= ?
    ORDER BY r.expires, r.revision LIMIT ?
"""
NEXT_EXPIRY = "SELECT min(expires) FROM revisions WHERE expires > 0 AND expires > ?"
SET_MARK = "UPDATE marks SET value = ? WHERE name = ?"


def insert(count: int) -> str:
    """One statement that writes this many rows."""
    row = f"({', '.join('?' * len(COLUMNS))})"
    return f"INSERT INTO revisions VALUES {', '.join([row] * count)}"
