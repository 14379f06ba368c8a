"""A real etcd for tests: one member, in a folder of its own, on ports of the loopback that were free."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ETCD = shutil.which("etcd") or "/usr/bin/etcd"
MISSING = f"etcd is not installed at {ETCD}; on Debian: apt-get install etcd-server"


@dataclass
class Etcd:
    """A member that can be stopped and started again, with the same data at the same address."""

    folder: Path
    port: int
    peer_port: int
    options: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    scheme: str = "http"

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    ETCD,
                    *("--name", "test", "--data-dir", str(self.folder / "data"), "--logger", "zap"),
                    *("--listen-client-urls", f"{self.scheme}://{self.address}"),
                    *("--advertise-client-urls", f"{self.scheme}://{self.address}"),
                    *("--listen-peer-urls", f"http://127.0.0.1:{self.peer_port}"),
                    *("--initial-advertise-peer-urls", f"http://127.0.0.1:{self.peer_port}"),
                    *("--initial-cluster", f"test=http://127.0.0.1:{self.peer_port}"),
                    *self.options,
                ],
                stdout=log,
                stderr=log,
            )
        self._wait_until_it_listens()

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _wait_until_it_listens(self) -> None:
        assert self.process is not None
        for _ in range(1000):
            assert self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.01)
        raise AssertionError(f"etcd does not listen: {(self.folder / 'log').read_text()[-2000:]}")


@contextmanager
def running_etcd(folder: Path, *, scheme: str = "http", options: Sequence[str] = ()) -> Iterator[Etcd]:
    """A fresh member, running."""
    folder.mkdir(parents=True, exist_ok=True)
    etcd = Etcd(folder, free_port(), free_port(), options, scheme=scheme)
    etcd.start()
    try:
        yield etcd
    finally:
        etcd.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
