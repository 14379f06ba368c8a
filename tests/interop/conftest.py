"""One real `hardpoint up` for all: its own process, TLS, SQLite, a free port. Each test works in its own namespace."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hardpoint.client.client import Client
from tests.interop.kubectl import Kubectl

_numbers = itertools.count(1)


@contextmanager
def running_cluster(folder: Path, *options: str) -> Iterator[Path]:
    """A fresh cluster with its files in `folder`. Yields the kubeconfig of its admin, and checks how it ends."""
    config, log = folder / "kubeconfig", folder / "log"
    command = [sys.executable, "-m", "hardpoint.cli", "up", "--port", "0", "--store", "sqlite", *options]
    command += ["--data-dir", str(folder / "data"), "--kubeconfig", str(config), "--use-context"]
    with (
        log.open("w") as written,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=written, text=True
        ) as process,
    ):
        assert process.stdout is not None
        try:
            assert process.stdout.readline().startswith("API"), f"the cluster did not start: {log.read_text()}"
            yield config
        finally:
            process.terminate()
            status = process.wait(timeout=30)
    assert status == 0, log.read_text()
    assert "Traceback" not in log.read_text(), log.read_text()


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """How to reach a cluster that runs as long as the tests."""
    with running_cluster(tmp_path_factory.mktemp("cluster")) as config:
        yield config


@pytest.fixture(scope="session")
def admin(pytestconfig: pytest.Config, kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """kubectl in the namespace `default`: the one on PATH, of whatever version; with --interop, the newest."""
    program = built("kubectl") if pytestconfig.getoption("interop") else shutil.which("kubectl")
    if program is None:
        pytest.skip("kubectl is not on PATH; any version will do")
    return Kubectl(program, kubeconfig, tmp_path_factory.mktemp("home"))


@pytest.fixture
async def namespace(kubeconfig: Path) -> str:
    """A namespace that nobody else uses."""
    name = f"test-{next(_numbers)}"
    async with Client.from_kubeconfig(kubeconfig) as client:
        await client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


@pytest.fixture
def kubectl(admin: Kubectl, namespace: str) -> Kubectl:
    """kubectl in a namespace that nobody else uses."""
    return admin.inside(namespace)


def built(program: str) -> str:
    """The path of something that tools/interop.sh built."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = cache / "hardpoint-interop" / "bin" / program
    if not path.exists():
        pytest.skip(f"{program} is not built; tools/interop.sh {program} builds it")
    return str(path)
