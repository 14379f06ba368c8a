"""What is said about a pod, from what its containers say."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hardpoint.machinery.printers import pods

NOW = datetime(2026, 1, 10, 12, 0, 0, tzinfo=UTC)
RUNNING = {"running": {"startedAt": "2026-01-10T11:00:00Z"}}
DONE = {"terminated": {"exitCode": 0, "reason": "Completed"}}
NOT_SCHEDULED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
READY = {"type": "Ready", "status": "True"}
INITIALIZED = {"type": "Initialized", "status": "True"}


def status(name: str, state: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "state": state, "ready": state is RUNNING, "restartCount": 0, **more}


def pod(
    *statuses: dict[str, Any],
    phase: str = "Running",
    containers: int = 1,
    init: list[dict[str, Any]] | None = None,
    init_containers: list[dict[str, Any]] | None = None,
    deleted: bool = False,
    **more: Any,
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "web", "creationTimestamp": "2026-01-10T11:00:00Z"}
    if deleted:
        metadata["deletionTimestamp"] = "2026-01-10T11:59:00Z"
    return {
        "metadata": metadata,
        "spec": {
            "containers": [{"name": f"c{index}"} for index in range(containers)],
            "initContainers": init_containers or [],
        },
        "status": {
            "phase": phase,
            "containerStatuses": list(statuses),
            "initContainerStatuses": init or [],
            **more,
        },
    }


TWO_INITS = [{"name": "i0"}, {"name": "i1"}]
SIDECAR = [{"name": "i0", "restartPolicy": "Always"}]


@pytest.mark.parametrize(
    ("obj", "ready", "shown"),
    [
        pytest.param(pod(phase="Pending"), "0/1", "Pending", id="nothing has started"),
        pytest.param(pod(status("c0", RUNNING)), "1/1", "Running", id="runs"),
        pytest.param(pod(status("c0", RUNNING), containers=2), "1/2", "Running", id="runs in part"),
        pytest.param(pod(status("c0", DONE), phase="Succeeded"), "0/1", "Completed", id="is done"),
        pytest.param(
            pod(status("c0", {"waiting": {"reason": "CrashLoopBackOff"}})), "0/1", "CrashLoopBackOff", id="waits"
        ),
        pytest.param(pod(status("c0", {"terminated": {"exitCode": 3}})), "0/1", "ExitCode:3", id="failed"),
        pytest.param(
            pod(status("c0", {"terminated": {"exitCode": 137, "signal": 9}})), "0/1", "Signal:9", id="was killed"
        ),
        pytest.param(
            pod(status("c0", RUNNING), status("c1", DONE), containers=2, conditions=[READY]),
            "1/2",
            "Running",
            id="one container is done, the pod is ready",
        ),
        pytest.param(
            pod(status("c0", DONE), status("c1", RUNNING), containers=2),
            "1/2",
            "NotReady",
            id="one container is done, the pod is not ready",
        ),
        pytest.param(
            pod(status("c0", DONE), status("c1", {"terminated": {"exitCode": 1, "reason": "Error"}}), containers=2),
            "0/2",
            "Error",
            id="a failure counts more than a success",
        ),
        pytest.param(pod(phase="Failed", reason="Evicted"), "0/1", "Evicted", id="a reason of its own"),
        pytest.param(pod(phase="Pending", conditions=[NOT_SCHEDULED]), "0/1", "SchedulingGated", id="is gated"),
        pytest.param(pod(status("c0", RUNNING), deleted=True), "1/1", "Terminating", id="is being deleted"),
        pytest.param(pod(phase="Failed", deleted=True), "0/1", "Failed", id="is being deleted, but is at its end"),
        pytest.param(pod(deleted=True, reason="NodeLost"), "0/1", "Unknown", id="its node is lost"),
        pytest.param(
            pod(init=[status("i0", RUNNING)], init_containers=TWO_INITS), "0/1", "Init:0/2", id="first init container"
        ),
        pytest.param(
            pod(init=[status("i0", DONE), status("i1", RUNNING)], init_containers=TWO_INITS),
            "0/1",
            "Init:1/2",
            id="second init container",
        ),
        pytest.param(
            pod(init=[status("i0", {"waiting": {"reason": "ErrImagePull"}})], init_containers=TWO_INITS),
            "0/1",
            "Init:ErrImagePull",
            id="an init container waits",
        ),
        pytest.param(
            pod(init=[status("i0", {"waiting": {"reason": "PodInitializing"}})], init_containers=TWO_INITS),
            "0/1",
            "Init:0/2",
            id="an init container waits for its turn",
        ),
        pytest.param(
            pod(init=[status("i0", {"terminated": {"exitCode": 2}})], init_containers=TWO_INITS),
            "0/1",
            "Init:ExitCode:2",
            id="an init container failed",
        ),
        pytest.param(
            pod(
                status("c0", RUNNING), init=[status("i0", RUNNING)], init_containers=TWO_INITS, conditions=[INITIALIZED]
            ),
            "1/1",
            "Init:0/2",
            id="initialized all the same",
        ),
        pytest.param(
            pod(status("c0", RUNNING), init=[status("i0", RUNNING, started=True)], init_containers=SIDECAR),
            "2/2",
            "Running",
            id="a sidecar counts",
        ),
        pytest.param(
            pod(init=[status("i0", RUNNING, started=False)], init_containers=SIDECAR),
            "0/2",
            "Init:0/1",
            id="a sidecar is starting",
        ),
    ],
)
def test_ready_and_status(obj: dict[str, Any], ready: str, shown: str) -> None:
    assert pods.cells(obj, NOW)[1:3] == [ready, shown]


def restarted(times: int, at: str = "") -> dict[str, Any]:
    return {"restartCount": times, "lastState": {"terminated": {"finishedAt": at}} if at else {}}


@pytest.mark.parametrize(
    ("obj", "shown"),
    [
        (pod(status("c0", RUNNING)), "0"),
        (pod(status("c0", RUNNING, **restarted(2))), "2"),
        (pod(status("c0", RUNNING, **restarted(2, "2026-01-10T11:55:00Z"))), "2 (5m ago)"),
        (
            pod(
                status("c0", RUNNING, **restarted(1, "2026-01-10T11:50:00Z")),
                status("c1", RUNNING, **restarted(3, "2026-01-10T11:59:00Z")),
            ),
            "4 (60s ago)",
        ),
        pytest.param(
            pod(status("c0", RUNNING), init=[status("i0", DONE, **restarted(5))], init_containers=TWO_INITS),
            "0",
            id="init containers no longer count",
        ),
        pytest.param(
            pod(init=[status("i0", RUNNING, **restarted(5))], init_containers=TWO_INITS),
            "5",
            id="init containers still count",
        ),
        pytest.param(
            pod(
                status("c0", RUNNING, **restarted(1)),
                init=[status("i0", RUNNING, started=True, **restarted(2))],
                init_containers=SIDECAR,
            ),
            "3",
            id="sidecars always count",
        ),
    ],
)
def test_restarts(obj: dict[str, Any], shown: str) -> None:
    assert pods.cells(obj, NOW)[3] == shown


def test_wide_cells() -> None:
    obj = pod(
        podIPs=[{"ip": "10.0.0.1"}, {"ip": "::1"}],
        nominatedNodeName="n2",
        conditions=[{"type": "gate", "status": "True"}],
    )
    obj["spec"]["nodeName"] = "n1"
    obj["spec"]["readinessGates"] = [{"conditionType": "gate"}, {"conditionType": "other"}]
    assert pods.cells(obj, NOW)[5:] == ["10.0.0.1", "n1", "n2", "1/2"]
    assert pods.cells(pod(), NOW)[5:] == ["<none>"] * 4
