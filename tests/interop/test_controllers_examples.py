"""The controllers among the examples, run as users run them, with kubectl: on our server and on the real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.interop.conftest import built
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.kubectl import Kubectl
from tests.outside import Catalogue, Databases, Outside

pytestmark = pytest.mark.interop

Json = dict[str, Any]

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENCE_SECONDS = 30


@pytest.fixture(scope="module", params=["ours", "real"])
def kubectl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """kubectl for either of them."""
    with ExitStack() as stack:
        if request.param == "ours":
            kubeconfig = request.getfixturevalue("kubeconfig")
        else:
            folder = tmp_path_factory.mktemp("real")
            kubeconfig = stack.enter_context(running_kube_apiserver(built("kube-apiserver"), folder))
        yield Kubectl(built("kubectl"), kubeconfig, tmp_path_factory.mktemp("home"))


@contextmanager
def running_example(name: str, kubectl: Kubectl, folder: Path, **environment: str) -> Iterator[None]:
    """`hardpoint run` of an example, until it is asked to end; it ends well."""
    with (
        (folder / "log").open("a") as log,
        subprocess.Popen(
            [sys.executable, "-m", "hardpoint.cli", "run", str(EXAMPLES / name), "--port", "0"],
            env={**os.environ, "KUBECONFIG": str(kubectl.kubeconfig), "XDG_DATA_HOME": str(folder), **environment},
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            status = process.wait(timeout=30)
    told = (folder / "log").read_text()
    assert status == 0, told
    assert "Traceback" not in told, told


@contextmanager
def outside(answer: Any) -> Iterator[str]:
    with closing(Outside(answer)) as server:
        yield server.url


def wait(kubectl: Kubectl, what: str, path: str, value: str) -> None:
    kubectl("wait", what, f"--for=jsonpath={{{path}}}={value}", "--timeout=30s")


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)  # Another process, which tells us nothing of its own accord.


def test_crontabs(kubectl: Kubectl, tmp_path: Path) -> None:
    tab = {"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": "backup"}}
    with running_example("07_crontab.py", kubectl, tmp_path):
        until(lambda: kubectl.attempt("get", "crontabs").status == 0)
        kubectl.create({**tab, "spec": {"cronSpec": "0 0 1 1 *", "image": "my-backup", "replicas": 2}})
        long_ago = '{"status": {"lastRun": "2020-05-01T00:00:00Z"}}'
        kubectl("patch", "ct", "backup", "--subresource=status", "--type=merge", "-p", long_ago)
        kubectl("wait", "job/backup-202101010000", "--for=create", "--timeout=30s")
        job = kubectl.json("get", "job", "backup-202101010000")
        assert (job["metadata"]["ownerReferences"][0]["kind"], job["spec"]["parallelism"]) == ("CronTab", 2)
        until(lambda: not kubectl.json("get", "ct", "backup")["status"]["lastRun"].startswith("2020-"))
        assert len(kubectl.json("get", "jobs")["items"]) == 1, "what was missed is made up for once"
        assert kubectl("get", "ct").rows[0][:2] == ["backup", "0"]
        too_many = {**tab, "spec": {"cronSpec": "* * * * *", "image": "x", "replicas": 11}}
        assert "at most ten" in kubectl.fails("create", "-f", "-", stdin=json.dumps(too_many))
        kubectl("delete", "ct", "backup", "--timeout=30s")


def test_a_service_registry(kubectl: Kubectl, tmp_path: Path) -> None:
    catalogue = Catalogue()
    service: Json = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}}
    slices: Json = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-abc", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.0.1"]}, {"addresses": ["10.1.0.2"]}],
        "ports": [{"port": 8080}],
    }
    kubectl.create({**service, "spec": {"ports": [{"port": 80}]}}, slices)
    with outside(catalogue) as url, running_example("08_service_registry.py", kubectl, tmp_path, CONSUL=url):
        kubectl("label", "service", "web", "consul=yes")
        until(lambda: catalogue.addresses == {"10.1.0.1:8080", "10.1.0.2:8080"})
        gone = '[{"op": "remove", "path": "/endpoints/0"}]'
        kubectl("patch", "endpointslice", "web-abc", "--type=json", "-p", gone)
        until(lambda: catalogue.addresses == {"10.1.0.2:8080"})

        # Who takes the label away wants it out of the catalogue, and the Service is free to go.
        kubectl("label", "service", "web", "consul-")
        until(lambda: catalogue.addresses == set())
        until(lambda: "finalizers" not in kubectl.json("get", "service", "web")["metadata"])

        kubectl("label", "service", "web", "consul=yes")
        until(lambda: catalogue.addresses == {"10.1.0.2:8080"})
        kubectl("delete", "service", "web", "--timeout=30s")
        assert catalogue.addresses == set()
    kubectl("delete", "endpointslice", "web-abc", "--ignore-not-found")


def test_databases(kubectl: Kubectl, tmp_path: Path) -> None:
    databases = Databases()
    orders = {"apiVersion": "shop.example.com/v1", "kind": "Database", "metadata": {"name": "orders"}}
    with outside(databases) as url:
        with running_example("09_database.py", kubectl, tmp_path, DATABASES=url):
            until(lambda: kubectl.attempt("get", "databases").status == 0)
            kubectl.create({**orders, "spec": {"engine": "postgres"}})
            kubectl("wait", "database/orders", "--for=condition=Ready", "--timeout=30s")
            assert kubectl("get", "databases").rows[0][:3] == ["orders", "postgres", "default.orders.example.com:5432"]
            kubectl("patch", "database", "orders", "--type=merge", "-p", '{"spec":{"gigabytes":20}}')
            until(lambda: databases.made["default.orders"]["gigabytes"] == 20)
            refused = kubectl.fails("patch", "database", "orders", "--type=merge", "-p", '{"spec":{"engine":"mysql"}}')
            assert "another engine is another database" in refused
        kubectl("delete", "database", "orders", "--wait=false")
        assert databases.made, "while nobody is at work nothing is dropped"
        with running_example("09_database.py", kubectl, tmp_path, DATABASES=url):
            kubectl("wait", "database/orders", "--for=delete", "--timeout=30s")
        assert databases.made == {}
