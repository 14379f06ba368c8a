"""An operator written with controller-runtime, as most are: it works with our server as it does with the real one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from hardpoint.cluster import fresh_cluster
from hardpoint.seams.controller.check import Bench, promises
from tests.definitions import definition
from tests.interop.conftest import built, running_cluster
from tests.interop.kube_apiserver import running_kube_apiserver
from tests.interop.kubectl import Kubectl
from tests.store.etcd_process import free_port

pytestmark = pytest.mark.interop

Json = dict[str, Any]

CONFLICT = "the object has been modified"
"""What a cache that is a moment behind leads to with any server; the reconciler tries again."""
TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "integer", "minimum": 0, "maximum": 10}
CONDITIONS: Json = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "required": ["type", "status"],
        "properties": {
            **dict.fromkeys(("type", "status", "reason", "message"), TEXT),
            "lastTransitionTime": {**TEXT, "format": "date-time"},
            "observedGeneration": NUMBER,
        },
    },
}
DEFINITION = definition(
    "Greeting",
    group="interop.example.com",
    spec={"type": "object", "properties": {"text": TEXT, "copies": NUMBER, "tone": TEXT}},
    status={"type": "object", "properties": {"copies": NUMBER, "conditions": CONDITIONS}},
)


class Manager:
    """The program, and what it said so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self._stdout = process.stdout
        self.unread: list[Json] = []

    def hear(self, event: str, name: str | None = None) -> None:
        """Wait until it says so."""
        wanted = {"event": event} | ({"name": name} if name else {})
        if wanted in self.unread:
            return self.unread.remove(wanted)
        while line := self._stdout.readline():
            if (said := json.loads(line)) == wanted:
                return None
            self.unread.append(said)
        pytest.fail("the manager ended")

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(timeout=30)


@contextmanager
def running_manager(kubeconfig: Path, log: Path, *arguments: str) -> Iterator[Manager]:
    with (
        log.open("a") as written,
        subprocess.Popen(
            [built("manager"), *arguments],
            env={**os.environ, "KUBECONFIG": str(kubeconfig)},
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
        ) as process,
    ):
        try:
            yield Manager(process)
        finally:
            process.kill()


@pytest.fixture(scope="module", params=["ours", "real"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """kubectl for either of them, and the definition is there."""
    with ExitStack() as stack:
        if request.param == "ours":
            kubeconfig = request.getfixturevalue("kubeconfig")
        else:
            folder = tmp_path_factory.mktemp("real")
            kubeconfig = stack.enter_context(running_kube_apiserver(built("kube-apiserver"), folder))
        yield defined(kubeconfig, tmp_path_factory.mktemp("home"))


def defined(kubeconfig: Path, home: Path) -> Kubectl:
    kubectl = Kubectl(built("kubectl"), kubeconfig, home)
    kubectl.create(DEFINITION)
    kubectl("wait", "crd/greetings.interop.example.com", "--for=condition=Established", "--timeout=30s")
    return kubectl


def greeting(name: str, **spec: Any) -> Json:
    return {"apiVersion": "interop.example.com/v1", "kind": "Greeting", "metadata": {"name": name}, "spec": spec}


def copies(kubectl: Kubectl, name: str) -> dict[str, str]:
    found = kubectl.json("get", "configmaps")["items"]
    return {
        each["metadata"]["name"]: each["data"]["text"] for each in found if each["metadata"]["name"].startswith(name)
    }


def wait(kubectl: Kubectl, what: str, path: str, value: str) -> None:
    kubectl("wait", what, f"--for=jsonpath={{{path}}}={value}", "--timeout=30s")


def test_a_whole_life(server: Kubectl, tmp_path: Path) -> None:
    kubectl = server
    with running_manager(kubectl.kubeconfig, tmp_path / "log", "-lease", "life") as manager:
        manager.hear("leading")
        kubectl.create(greeting("life", text="hi", copies=3))
        wait(kubectl, "greeting/life", ".status.copies", "3")
        assert copies(kubectl, "life") == {"life-0": "hi", "life-1": "hi", "life-2": "hi"}
        made = kubectl.json("get", "greeting", "life")
        assert made["metadata"]["finalizers"] == ["interop.example.com/farewell"]
        (owner,) = kubectl.json("get", "configmap", "life-0")["metadata"]["ownerReferences"]
        assert (owner["uid"], owner["controller"]) == (made["metadata"]["uid"], True)
        manager.hear("reconciled", "life")

        kubectl("patch", "greeting", "life", "--type=merge", "-p", '{"spec":{"copies":1,"text":"ho"}}')
        wait(kubectl, "greeting/life", ".status.copies", "1")
        wait(kubectl, "greeting/life", ".status.conditions[0].observedGeneration", "2")
        assert copies(kubectl, "life") == {"life-0": "ho"}

        kubectl("delete", "configmap", "life-0")
        kubectl("wait", "configmap/life-0", "--for=create", "--timeout=30s")

        kubectl("delete", "greeting", "life", "--timeout=30s")
        manager.hear("farewell", "life")
        assert "Said" in kubectl("events", "--for", "greeting/life").out
        assert copies(kubectl, "life") == {}
        assert manager.end() == 0, (tmp_path / "log").read_text()
    errors = [line for line in (tmp_path / "log").read_text().splitlines() if "level=ERROR" in line]
    assert all(CONFLICT in line for line in errors), errors


def test_it_hears_of_what_it_watches_the_metadata_of(server: Kubectl, tmp_path: Path) -> None:
    kubectl = server
    with running_manager(kubectl.kubeconfig, tmp_path / "log", "-lease", "metadata") as manager:
        manager.hear("leading")
        kubectl.create(greeting("polite", text="hi", copies=1, tone="calm"))
        kubectl("wait", "configmap/polite-0", "--for=create", "--timeout=30s")
        kubectl("create", "secret", "generic", "calm")
        version = kubectl.json("get", "secret", "calm")["metadata"]["resourceVersion"]
        wait(kubectl, "configmap/polite-0", ".data.tone", version)
        kubectl("delete", "greeting", "polite", "--timeout=30s")


def test_one_leads_and_another_takes_over(server: Kubectl, tmp_path: Path) -> None:
    kubectl = server
    lease = ("-lease", "turns")
    with running_manager(kubectl.kubeconfig, tmp_path / "one", *lease) as one:
        one.hear("leading")
        with running_manager(kubectl.kubeconfig, tmp_path / "other", *lease) as other:
            kubectl.create(greeting("before", text="hi", copies=1))
            one.hear("reconciled", "before")
            assert one.end() == 0, "it steps down"
            other.hear("leading")
            kubectl("delete", "greeting", "before", "--timeout=30s")
            other.hear("farewell", "before")
            assert other.unread == [], "it did nothing before it led"


PROMISES = (
    "it ends in the same state when writes are done but the answer is lost",
    "killed right before and right after each of its writes, it ends in the same state",
    "objects that go while it is not running are cleaned up after",
    "objects it does not understand do not keep it from the others: new fields, odd values",
    "it writes nothing once somebody else holds its lease, and goes on when it has it back",
)


async def test_it_is_as_good_as_we_ask_of_controllers(tmp_path: Path) -> None:
    bench = Bench(
        command=[built("manager")],
        fresh_cluster=fresh_cluster,
        folder=tmp_path,
        definitions=[DEFINITION],
        objects=[greeting("hello", text="hi", copies=2)],
        settle_seconds=0.8,
    )
    works = await promises.finding("given objects it does its work, and then rests", bench)
    found = [works, *[await promises.finding(each, bench) for each in PROMISES]]
    assert [each for each in found if each.outcome != "ok"] == []


def test_it_goes_on_after_a_restart(tmp_path: Path) -> None:
    port = str(free_port())
    with ExitStack() as stack:
        with running_cluster(tmp_path, "--port", port) as kubeconfig:
            kubectl = defined(kubeconfig, tmp_path / "home")
            manager = stack.enter_context(running_manager(kubeconfig, tmp_path / "manager.log"))
            manager.hear("leading")
            kubectl.create(greeting("before", text="hi", copies=2))
            manager.hear("reconciled", "before")
        with running_cluster(tmp_path, "--port", port):
            kubectl.create(greeting("after", text="hi", copies=1))
            manager.hear("reconciled", "after")
            kubectl("delete", "greeting", "before", "--timeout=30s")
            assert manager.process.poll() is None
            assert manager.end() == 0, (tmp_path / "manager.log").read_text()
