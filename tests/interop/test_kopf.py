"""A kopf operator in a process of its own: it discovers, watches, patches, and holds deletion with a finalizer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.kubectl import Kubectl
from tests.interop.samples import config_map

pytest.importorskip("kopf", reason="make interop installs it")

OPERATOR = """
import kopf

@kopf.on.create("configmaps", labels={"greet": "yes"})
def greet(name, patch, **_):
    patch.setdefault("data", {})["greeting"] = f"hello {name}"

@kopf.on.update("configmaps", labels={"greet": "yes"}, field="data.name")
def greet_again(new, patch, **_):
    patch.setdefault("data", {})["greeting"] = f"hello again {new}"

@kopf.on.delete("configmaps", labels={"greet": "yes"})
def part(name, logger, **_):
    print(f"goodbye {name}", flush=True)
"""


@pytest.fixture
def operator(kubeconfig: Path, namespace: str, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """The operator above, at work in the test's namespace."""
    (tmp_path / "greeter.py").write_text(OPERATOR)
    command = [sys.executable, "-m", "kopf", "run", "--standalone", "--namespace", namespace, "greeter.py"]
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            command,
            cwd=tmp_path,
            env={**os.environ, "KUBECONFIG": str(kubeconfig)},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        yield process
        process.terminate()
        status = process.wait(timeout=30)
    told = (tmp_path / "log").read_text()
    assert status == 0, told
    assert "Traceback" not in told, told


def test_an_operator_works(operator: subprocess.Popen[str], kubectl: Kubectl) -> None:
    kubectl.create(config_map("bob", labels={"greet": "yes"}))
    kubectl("wait", "configmap/bob", "--for", "jsonpath={.data.greeting}=hello bob", "--timeout", "30s")
    assert kubectl.json("get", "configmap", "bob")["metadata"]["finalizers"] == ["kopf.zalando.org/KopfFinalizerMarker"]

    kubectl("patch", "configmap", "bob", "-p", '{"data":{"name":"Robert"}}')
    kubectl("wait", "configmap/bob", "--for", "jsonpath={.data.greeting}=hello again Robert", "--timeout", "30s")

    kubectl("delete", "configmap", "bob", "--timeout", "30s")
    assert operator.stdout is not None
    assert operator.stdout.readline() == "goodbye bob\n"
