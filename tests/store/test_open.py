"""From words to a store."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hardpoint.machinery.errors import ConfigError
from hardpoint.store.memory import MemoryStore
from hardpoint.store.open import open_store
from hardpoint.store.sqlite import SqliteStore
from tests.store.etcd_process import Etcd


async def test_memory(tmp_path: Path) -> None:
    assert isinstance(await open_store("memory", tmp_path), MemoryStore)


async def test_sqlite_lives_in_the_data_directory(tmp_path: Path) -> None:
    store = await open_store("sqlite", tmp_path)
    assert isinstance(store, SqliteStore)
    assert (tmp_path / "store" / "store.db").exists()
    await store.close()


async def test_etcd_takes_several_members(tmp_path: Path, etcd: Etcd) -> None:
    store = await open_store(f"etcd://{etcd.address},127.0.0.1:1", tmp_path)
    assert await store.revision() >= 1
    await store.close()


@pytest.mark.parametrize(
    "url", ["", "redis://x", "etcd://", "etcd://host", "etcd://a:1,", "etcd://a:1/b", "sqlite://x"]
)
async def test_anything_else_is_refused_with_the_way_out(url: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"write memory, sqlite or etcd://host:port"):
        await open_store(url, tmp_path)


async def test_half_a_client_certificate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="come in pairs"):
        await open_store("etcd://127.0.0.1:1", tmp_path, ca_file=tmp_path / "ca", cert_file=tmp_path / "cert")
    with pytest.raises(ConfigError, match="need TLS"):
        await open_store("etcd://127.0.0.1:1", tmp_path, cert_file=tmp_path / "cert", key_file=tmp_path / "key")
    with pytest.raises(ConfigError, match=r"cannot read .*missing\.pem: No such file"):
        await open_store("etcd://127.0.0.1:1", tmp_path, ca_file=tmp_path / "missing.pem")


def test_grpc_is_imported_only_for_etcd() -> None:
    program = "import sys, hardpoint.store.open, hardpoint.store.sqlite; sys.exit('grpc' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
