"""From the words of `--store` to a store: `memory`, `sqlite`, or `etcd://host:port[,host:port...]`.

An engine's libraries are imported only when it is chosen.
"""

from __future__ import annotations

import re
from pathlib import Path

from hardpoint.machinery.errors import ConfigError
from hardpoint.store.contract import Store
from hardpoint.store.memory import MemoryStore

STORE_FOLDER = "store"
"""Where in the data directory the sqlite engine keeps its files."""

_ADDRESS = re.compile(r"([^\s:/,\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")


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
    scheme, _, members = url.partition("://")
    addresses = members.split(",")
    if scheme == "etcd" and all(_ADDRESS.fullmatch(address) for address in addresses):
        return await _open_etcd(addresses, ca_file, cert_file, key_file)
    raise ConfigError(f"--store: cannot open {url!r}; write memory, sqlite or etcd://host:port[,host:port]")


async def _open_etcd(
    addresses: list[str], ca_file: Path | None, cert_file: Path | None, key_file: Path | None
) -> Store:
    try:
        from hardpoint.store.etcd import EtcdStore
    except ImportError as cause:
        raise ConfigError("--store: etcd needs the gRPC libraries; run: pip install 'hardpoint[etcd]'") from cause
    return await EtcdStore.open(addresses, ca_file=ca_file, cert_file=cert_file, key_file=key_file)
