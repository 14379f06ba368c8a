"""A cluster whose objects live in a real etcd."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.cli.conftest import Home

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"

pytestmark = pytest.mark.skipif(shutil.which("etcd") is None, reason="etcd is not installed")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[str]:
    client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    with subprocess.Popen(
        [
            *("etcd", "--data-dir", str(tmp_path / "etcd"), "--log-level", "error", "--unsafe-no-fsync"),
            *("--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer),
            *("--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"),
        ],
        stderr=subprocess.DEVNULL,
    ) as process:
        yield client.replace("http", "etcd")
        process.kill()


def test_what_one_cluster_wrote_the_next_one_finds(home: Home, etcd: str) -> None:
    address = home.up("--store", etcd)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"a": "b"}}
    home.ask(address, CONFIG_MAPS, method="POST", body=body)
    assert not (home.data / "store").exists()
    other = home.path / "other"
    address = home.up("--store", etcd, "--data-dir", str(other), "--name", "other")
    assert orjson.loads(home.ask(address, f"{CONFIG_MAPS}/kept", data=other))["data"] == {"a": "b"}
