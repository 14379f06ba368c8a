"""A program written with client-go: a typed clientset that sends protobuf, shared informers that follow by watching."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.interop.conftest import built, running_cluster
from tests.interop.kubectl import Kubectl
from tests.interop.samples import config_map
from tests.store.etcd_process import free_port

pytestmark = pytest.mark.interop

KINDS = {"ConfigMap", "Pod", "Deployment"}


class Informer:
    """The program, and what it said so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout
        self._unread: list[dict[str, Any]] = []

    def do(self, command: str) -> None:
        """Give a command and wait until it is carried out."""
        self._stdin.write(f"{command}\n")
        self._stdin.flush()
        answer = self.hear("done", "failed")
        assert answer["event"] == "done", answer

    def hear(self, *events: str, name: str | None = None) -> dict[str, Any]:
        """The first of these events, about that name, that was not heard yet; it waits for it."""
        for index, said in enumerate(self._unread):
            if said["event"] in events and said.get("name") == name:
                return self._unread.pop(index)
        while line := self._stdout.readline():
            said = json.loads(line)
            if said["event"] in events and said.get("name") == name:
                return said
            self._unread.append(said)
        pytest.fail("the informer ended")


@contextmanager
def running_informer(kubeconfig: Path, namespace: str, log: Path) -> Iterator[Informer]:
    command = [built("informer"), str(kubeconfig), namespace]
    with (
        log.open("w") as written,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=written, text=True) as process,
    ):
        try:
            yield Informer(process)
        finally:
            process.kill()


@pytest.fixture
def informer(kubeconfig: Path, namespace: str, tmp_path: Path) -> Iterator[Informer]:
    """It works in the test's namespace and never complains."""
    with running_informer(kubeconfig, namespace, tmp_path / "log") as informer:
        yield informer
    assert (tmp_path / "log").read_text() == ""


def test_it_writes_in_protobuf_and_hears_of_it(informer: Informer, kubectl: Kubectl) -> None:
    informer.hear("synced")
    informer.do("create web")
    assert {informer.hear("add", name="web")["kind"] for _ in KINDS} == KINDS
    made = kubectl.json("get", "configmap", "web")
    assert (made["data"], made["binaryData"]) == ({"text": "hello"}, {"raw": "AP8="})
    assert kubectl.json("get", "deployment", "web")["spec"]["strategy"]["type"] == "RollingUpdate"

    informer.do("label web")
    assert kubectl.json("get", "configmap", "web")["metadata"]["labels"] == {"labelled": "yes"}
    informer.do("scale web 4")
    assert kubectl.json("get", "deployment", "web")["spec"]["replicas"] == 4
    informer.do("status web")
    assert kubectl("get", "pod", "web").rows[0][2] == "Running"
    assert {informer.hear("update", name="web")["kind"] for _ in KINDS} == KINDS

    informer.do("delete web")
    assert {informer.hear("delete", name="web")["kind"] for _ in KINDS} == KINDS


def test_it_hears_what_others_do(informer: Informer, kubectl: Kubectl) -> None:
    informer.hear("synced")
    kubectl.create(config_map("theirs"))
    kubectl("label", "configmap", "theirs", "by=them")
    kubectl("delete", "configmap", "theirs")
    for event, labels in (("add", None), ("update", {"by": "them"}), ("delete", {"by": "them"})):
        assert informer.hear(event, name="theirs")["labels"] == labels


def test_its_cache_begins_with_what_there_is(kubectl: Kubectl, request: pytest.FixtureRequest) -> None:
    kubectl.create(*(config_map(f"c{number}") for number in range(30)))
    informer: Informer = request.getfixturevalue("informer")
    informer.hear("synced")
    informer.do("list")
    assert informer.hear("list")["configmaps"] >= 30


def test_it_goes_on_after_a_restart(tmp_path: Path) -> None:
    port = str(free_port())
    with ExitStack() as stack:
        with running_cluster(tmp_path, "--port", port) as kubeconfig:
            informer = stack.enter_context(running_informer(kubeconfig, "default", tmp_path / "informer.log"))
            informer.hear("synced")
            informer.do("create before")
            informer.hear("add", name="before")
        with running_cluster(tmp_path, "--port", port):
            Kubectl(built("kubectl"), kubeconfig, tmp_path / "home").create(config_map("after"))
            assert informer.hear("add", name="after")["kind"] == "ConfigMap"
            informer.do("delete before")
            assert {informer.hear("delete", name="before")["kind"] for _ in KINDS} == KINDS
