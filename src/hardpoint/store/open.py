"""From the words of `--store` to a store: `memory`, `sqlite`, or `etcd://host:port[,host:port...]`.

An engine's libraries are imported only when it is chosen.
"""

from __future__ import annotations

from pathlib import Path

from hardpoint.machinery.errors import ConfigError
from hardpoint.store.contract import Store
from hardpoint.store.memory import MemoryStore

STORE_FOLDER = "store"
"""Where in the data directory the sqlite engine keeps its files."""


async def open_store(
    url: str,
    data_dir: Path,
    *,
    holder: str = "",
    ca_file: Path | None = None,
    cert_file: Path | None = None,
    key_file: Path | None = None,
) -> Store:
    """Open the store `url` names; the caller closes it.

    `holder` tells whoever finds the data directory locked who we are; the files are for etcd over TLS. Raises
    ConfigError for a url or files that cannot work, and what the engine raises.
    """
    if url == "memory":
        return MemoryStore()
    if url == "sqlite":
        from hardpoint.store.sqlite import SqliteStore

        return await SqliteStore.open(data_dir / STORE_FOLDER, holder=holder)
    raise ConfigError(f"--store: cannot open {url!r}; write memory, sqlite or etcd://host:port[,host:port]")
