"""kubectl waiting for things to happen: get -w, wait, rollout status, and delete in all its ways."""

from __future__ import annotations

import json
import select
from typing import TextIO

import pytest

from tests.interop.kubectl import Kubectl
from tests.interop.samples import Object, config_map, deployment, pod


def test_get_watches(kubectl: Kubectl) -> None:
    kubectl.create(pod("web"))
    with kubectl.running("get", "pods", "-w") as told:
        assert told.readline().split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
        assert told.readline().split()[:3] == ["web", "0/1", "Pending"]
        kubectl("patch", "pod", "web", "--subresource", "status", "-p", '{"status":{"phase":"Running"}}')
        assert told.readline().split()[:3] == ["web", "0/1", "Running"]
        kubectl.create(pod("db"))
        assert told.readline().split()[:3] == ["db", "0/1", "Pending"]


def test_get_watches_and_names_what_happened(kubectl: Kubectl) -> None:
    with kubectl.running("get", "configmaps", "-w", "--output-watch-events", "-l", "seen", "-o", "json") as told:
        kubectl.create(config_map("unseen"), config_map("motd", labels={"seen": "yes"}))
        assert _next_event(told) == ("ADDED", "motd")
        kubectl("label", "configmap", "motd", "more=yes")
        assert _next_event(told) == ("MODIFIED", "motd")
        kubectl("label", "configmap", "motd", "seen-")
        assert _next_event(told) == ("DELETED", "motd")


def test_get_watches_only_what_changes(kubectl: Kubectl) -> None:
    kubectl.create(config_map("old"))
    with kubectl.running("get", "configmaps", "--watch-only", "-o", "name") as told:
        assert _first_line_while_creating(kubectl, told).startswith("configmap/new-")


def test_wait_for_a_condition(kubectl: Kubectl) -> None:
    kubectl.create(pod("web"))
    ready = json.dumps({"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    with kubectl.running("wait", "pod/web", "--for", "condition=Ready", "--timeout", "30s") as told:
        kubectl("patch", "pod", "web", "--subresource", "status", "-p", ready)
        assert told.readline() == "pod/web condition met\n"


@pytest.mark.parametrize("until", ["jsonpath={.status.phase}=Pending", "jsonpath={.metadata.uid}"])
def test_wait_for_what_is_so_already(kubectl: Kubectl, until: str) -> None:
    kubectl.create(pod("web"))
    assert kubectl("wait", "pod/web", "--for", until, "--timeout", "10s").out == "pod/web condition met\n"


def test_wait_in_vain(kubectl: Kubectl) -> None:
    kubectl.create(pod("web"))
    said = kubectl.fails("wait", "pod/web", "--for", "condition=Ready", "--timeout", "100ms")
    assert said == "error: timed out waiting for the condition on pods/web"


def test_wait_for_the_end(kubectl: Kubectl) -> None:
    kubectl.create(config_map("motd"))
    before = _watches_of_config_maps(kubectl)
    with kubectl.running("wait", "configmap/motd", "--for", "delete", "--timeout", "30s") as told:
        # What is gone before the wait begins is an error to kubectl, not a condition that is met.
        while _watches_of_config_maps(kubectl) == before:
            assert not select.select([told], [], [], 0)[0], f"kubectl ended early: {told.read()}"
        kubectl("delete", "configmap", "motd")
        assert told.readline() == "configmap/motd condition met\n"


@pytest.mark.parametrize("mode", ["background", "foreground", "orphan"])
def test_delete_waits_for_finalizers(kubectl: Kubectl, mode: str) -> None:
    kubectl.create(_held(config_map("motd")))
    with kubectl.running("delete", "configmap", "motd", "--cascade", mode, "--timeout", "30s") as told:
        assert told.readline().startswith('configmap "motd" deleted')
        held = kubectl.json("get", "configmap", "motd")["metadata"]
        assert held["deletionTimestamp"]
        assert "example.com/hold" in held["finalizers"]
        kubectl("patch", "configmap", "motd", "--type", "merge", "-p", '{"metadata":{"finalizers":null}}')
        assert told.read() == ""
    assert "NotFound" in kubectl.fails("get", "configmap", "motd")


def test_delete_without_waiting(kubectl: Kubectl) -> None:
    kubectl.create(_held(config_map("motd")))
    kubectl("delete", "configmap", "motd", "--wait=false")
    assert kubectl.json("get", "configmap", "motd")["metadata"]["deletionTimestamp"]


def test_delete_by_selector_and_all(kubectl: Kubectl) -> None:
    kubectl.create(*(config_map(name, labels={"name": name}) for name in "abc"))
    kubectl("delete", "configmaps", "-l", "name in (a, b)")
    assert kubectl("get", "configmaps", "-l", "name", "-o", "name").lines == ["configmap/c"]
    kubectl("delete", "configmaps", "--all")
    assert kubectl("get", "configmaps", "-l", "name").out == ""


@pytest.mark.parametrize("how", [["--now"], ["--force", "--grace-period=0"], ["--grace-period=5"]])
def test_pods_without_a_node_are_deleted_at_once(kubectl: Kubectl, how: list[str]) -> None:
    kubectl.create(pod("web"))
    assert kubectl("delete", "pod", "web", *how).out.startswith('pod "web" ')
    assert "NotFound" in kubectl.fails("get", "pod", "web")


def test_deleting_what_is_not_there(kubectl: Kubectl) -> None:
    assert kubectl.fails("delete", "pod", "web") == 'Error from server (NotFound): pods "web" not found'
    assert kubectl("delete", "pod", "web", "--ignore-not-found").out == ""


def test_rollout_status_follows_the_status(kubectl: Kubectl) -> None:
    def report(ready: int) -> None:
        counts = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": ready, "availableReplicas": ready}
        patch = json.dumps({"status": {"observedGeneration": 1, **counts}})
        kubectl("patch", "deployment", "web", "--subresource", "status", "-p", patch)

    kubectl.create(deployment("web", replicas=2))
    with kubectl.running("rollout", "status", "deployment/web", "--timeout", "30s") as told:
        assert told.readline() == "Waiting for deployment spec update to be observed...\n"
        report(1)
        assert "1 of 2 updated replicas are available" in told.readline()
        report(2)
        assert told.readline() == 'deployment "web" successfully rolled out\n'


def _held(wanted: Object) -> Object:
    """The same object, which stays until somebody takes its finalizer away."""
    return {**wanted, "metadata": {**wanted["metadata"], "finalizers": ["example.com/hold"]}}


def _first_line_while_creating(kubectl: Kubectl, told: TextIO) -> str:
    """What a watch says first. It does not say when it has begun, so things are created until it is heard of."""
    for number in range(100):
        kubectl.create(config_map(f"new-{number}"))
        if select.select([told], [], [], 0.1)[0]:
            return told.readline()
    pytest.fail("the watch never said anything")


def _next_event(told: TextIO) -> tuple[str, str]:
    """The type and the name of the next thing that happened."""
    event = json.loads(told.readline())
    return event["type"], event["object"]["metadata"]["name"]


def _watches_of_config_maps(kubectl: Kubectl) -> list[str]:
    """The server's own count of watches in a namespace."""
    metrics = kubectl("get", "--raw", "/metrics").lines
    return [
        line
        for line in metrics
        if line.startswith("apiserver_longrunning_requests")
        and 'resource="configmaps"' in line
        and 'scope="namespace"' in line
    ]
