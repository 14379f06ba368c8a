"""The durable store of one machine: SQLite through apsw, group commit, one writer.

`store` puts the parts together; `schema` says how data lies on disk, `rows` how a row is checked and read, `reader` and
`writer` own the connections, `directory` the files, `expiry`, `compaction` and `backup` one duty each.
"""

from hardpoint.store.sqlite.backup import restore
from hardpoint.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "restore"]
