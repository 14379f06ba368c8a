"""kube-apiserver and etcd, as a cluster's first control plane would run them: TLS, RBAC, durable.

The program is the one tools/interop.sh builds. Where it or etcd is missing there is nothing to compare with, and
`missing` says what and how to get it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.server import Endpoint, Server, free_port
from hardpoint.apiserver import pki


def program() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "hardpoint-interop" / "bin" / "kube-apiserver"


def missing() -> str:
    """What keeps the real pair from being measured; empty if nothing does."""
    if not program().exists():
        return f"{program()} is not there; build it with: tools/interop.sh kube-apiserver"
    if shutil.which("etcd") is None:
        return "etcd is not on PATH; install it with: apt install etcd-server"
    return ""


class Real(Server):
    name = "kube-apiserver + etcd"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._pki = pki.ensure(directory / "pki", (), datetime.now(UTC))
        self._etcd_port, self._peer_port = free_port(), free_port()
        self.endpoint = Endpoint(
            "127.0.0.1",
            free_port(),
            self._pki.certificate("server-ca"),
            self._pki.certificate("admin"),
            self._pki.key("admin"),
        )

    def versions(self) -> dict[str, str]:
        return {
            "kube-apiserver": _first_line([str(program()), "--version"]).removeprefix("Kubernetes "),
            "etcd": _first_line(["etcd", "--version"]).removeprefix("etcd Version: "),
        }

    def _commands(self) -> list[tuple[str, list[str]]]:
        return [("etcd", self._etcd()), ("kube-apiserver", self._kube_apiserver())]

    def _etcd(self) -> list[str]:
        client, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{self._peer_port}"
        flags = {
            "name": "bench",
            "data-dir": self.directory / "etcd",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"bench={peer}",
            "quota-backend-bytes": 8 << 30,
        }
        return ["etcd", *_flags(flags)]

    def _kube_apiserver(self) -> list[str]:
        pki = self._pki
        flags = {
            "etcd-servers": f"http://127.0.0.1:{self._etcd_port}",
            "bind-address": "127.0.0.1",
            "secure-port": self.endpoint.port,
            "tls-cert-file": pki.certificate("apiserver"),
            "tls-private-key-file": pki.key("apiserver"),
            "client-ca-file": pki.certificate("client-ca"),
            "service-account-issuer": "https://kubernetes.default.svc",
            "service-account-key-file": pki.certificate("apiserver"),
            "service-account-signing-key-file": pki.key("apiserver"),
            "service-cluster-ip-range": "10.96.0.0/16",
            "authorization-mode": "RBAC",
        }
        return [str(program()), *_flags(flags)]


def _flags(flags: dict[str, object]) -> list[str]:
    return [f"--{name}={value}" for name, value in flags.items()]


def _first_line(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]
