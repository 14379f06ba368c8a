"""The command line as a user has it: processes of their own, in a home of their own."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest


@dataclass
class Done:
    """What a command said, and how it ended."""

    status: int
    out: str
    err: str


class Home:
    """A user's home directory, and the commands they give in it."""

    address: str
    """Where its cluster is, if it has one from the start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = path / "data" / "hardpoint" / "default"
        self.kubeconfig = path / ".kube" / "config"
        kept = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        self.environment = {**kept, "HOME": str(path), "XDG_DATA_HOME": str(path / "data")}

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "hardpoint.cli", *arguments],
            env=self.environment,
            cwd=self.path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,  # type: ignore[call-overload]  # whatever Popen takes
        )

    def run(self, *arguments: str, **options: object) -> Done:
        with self.start(*arguments, **options) as process:
            out, err = process.communicate(timeout=60)
        done = Done(process.returncode, out, err)
        assert "Traceback" not in err, err
        return done

    def up(self, *arguments: str) -> str:
        """Start a cluster and return its address."""
        done = self.run("up", "--detach", "--port", "0", *arguments)
        assert done.status == 0, done.err
        return done.out.split()[1]

    def ask(
        self, address: str, path: str, *, data: Path | None = None, method: str = "GET", body: object = None
    ) -> bytes:
        """A request as the cluster's admin. Raises HTTPError for a refusal."""
        pki = (data or self.data) / "pki"
        context = ssl.create_default_context(cafile=str(pki / "server-ca.crt"))
        context.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        request = urllib.request.Request(
            address + path,
            method=method,
            data=None if body is None else orjson.dumps(body),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            content: bytes = answer.read()
            return content


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """A home of the test's own."""
    home = Home(tmp_path)
    yield home
    stop_all(home)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with a cluster in it, for tests that leave it as it is."""
    home = Home(tmp_path_factory.mktemp("home"))
    home.address = home.up()
    yield home
    stop_all(home)


def stop_all(home: Home) -> None:
    for state in sorted(home.path.rglob("cluster.json")):
        home.run("down", "--data-dir", str(state.parent))
