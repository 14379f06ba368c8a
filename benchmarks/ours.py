"""Hardpoint as its users start it: `hardpoint up` on SQLite, durable.

Next to kube-apiserver and etcd, which run no controllers either, it is the API server alone that is measured. What the
controllers add is measured by themselves.
"""

from __future__ import annotations

import compileall
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import apsw

import hardpoint
from benchmarks.server import Endpoint, Server, free_port


class Ours(Server):
    name = "hardpoint"
    components = "apiserver"

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.data_dir = directory / "data"
        self.kubeconfig = directory / "kubeconfig"
        pki = self.data_dir / "pki"
        self.endpoint = Endpoint("127.0.0.1", free_port(), pki / "server-ca.crt", pki / "admin.crt", pki / "admin.key")

    def versions(self) -> dict[str, str]:
        return {
            "hardpoint": version("hardpoint"),
            "python": platform.python_version(),
            "sqlite": apsw.sqlite_lib_version(),
        }

    def _commands(self) -> list[tuple[str, list[str]]]:
        command = [str(Path(sys.executable).with_name("hardpoint")), "up", "--components", self.components]
        command += ["--port", str(self.endpoint.port)]
        files = ["--data-dir", str(self.data_dir), "--kubeconfig", str(self.kubeconfig)]
        return [("hardpoint", command + files)]


def compile_sources() -> None:
    """Do what installing a wheel does: a start should not be the first that reads the sources."""
    compileall.compile_dir(Path(hardpoint.__file__).parent, quiet=1)


class OursWithControllers(Ours):
    name = "hardpoint with controllers"
    components = "all"
