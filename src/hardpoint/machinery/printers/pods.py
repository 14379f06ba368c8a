"""The rows of pods: what `kubectl get pods` says about a pod's state follows from many fields at once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from hardpoint.machinery.printers.cells import NONE, Cells, Json, age, ago, condition, is_deleted, is_true, name

_TERMINAL = ("Succeeded", "Failed")
_NODE_LOST = "NodeLost"

CONDITIONS = {
    "Succeeded": [
        {
            "type": "Completed",
            "status": "True",
            "reason": "Succeeded",
            "message": "The pod has completed successfully.",
        }
    ],
    "Failed": [{"type": "Completed", "status": "True", "reason": "Failed", "message": "The pod failed."}],
}
"""The conditions of a row, by the pod's phase; other phases have none."""


@dataclass(slots=True)
class _State:
    """What the containers say, gathered one after the other."""

    reason: str
    ready: int = 0
    restarts: int = 0
    restarted_at: str = ""

    def count_restarts(self, status: Json) -> None:
        self.restarts += status.get("restartCount") or 0
        finished = ((status.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or ""
        # RFC 3339 in UTC sorts as text.
        self.restarted_at = max(self.restarted_at, finished)


def cells(pod: Json, now: datetime) -> Cells:
    spec: Json = pod.get("spec") or {}
    status: Json = pod.get("status") or {}
    init_containers = spec.get("initContainers") or ()
    sidecars = {each["name"] for each in init_containers if each.get("restartPolicy") == "Always"}
    state = _state(status, len(init_containers), sidecars)
    total = len(spec.get("containers") or ()) + len(sidecars)
    return [
        name(pod),
        f"{state.ready}/{total}",
        _deleted_reason(pod, status) or state.reason,
        _restarts(state, now),
        age(pod, now),
        _first_ip(status) or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _gates(spec, status),
    ]


def _state(status: Json, init_total: int, sidecars: set[str]) -> _State:
    conditions = status.get("conditions")
    state = _State(status.get("reason") or status.get("phase") or "")
    scheduled = condition(conditions, "PodScheduled")
    if scheduled and scheduled.get("reason") == "SchedulingGated":
        state.reason = "SchedulingGated"
    of_sidecars = _State("")
    initializing = _walk_init_containers(status, state, of_sidecars, init_total, sidecars)
    if not initializing or is_true(conditions, "Initialized"):
        state.restarts, state.restarted_at = of_sidecars.restarts, of_sidecars.restarted_at
        _walk_containers(status, state)
    return state


def _walk_init_containers(status: Json, state: _State, of_sidecars: _State, total: int, sidecars: set[str]) -> bool:
    """Up to the first init container that is not done. Says whether there is one."""
    for index, container in enumerate(status.get("initContainerStatuses") or ()):
        is_sidecar = container.get("name") in sidecars
        state.count_restarts(container)
        if is_sidecar:
            of_sidecars.count_restarts(container)
        current = container.get("state") or {}
        terminated = current.get("terminated")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if is_sidecar and container.get("started"):
            state.ready += bool(container.get("ready"))
            continue
        state.reason = "Init:" + _init_reason(current, f"{index}/{total}")
        return True
    return False


def _init_reason(current: Json, progress: str) -> str:
    if (terminated := current.get("terminated")) is not None:
        return _ending(terminated)
    waiting = (current.get("waiting") or {}).get("reason")
    return waiting if waiting and waiting != "PodInitializing" else progress


def _walk_containers(status: Json, state: _State) -> None:
    has_running = False
    error = ""
    for container in reversed(status.get("containerStatuses") or ()):
        state.count_restarts(container)
        current = container.get("state") or {}
        terminated = current.get("terminated")
        if waiting := (current.get("waiting") or {}).get("reason"):
            state.reason = waiting
        elif terminated is not None:
            state.reason = _ending(terminated)
            if terminated.get("exitCode"):
                error = state.reason
        elif container.get("ready") and current.get("running") is not None:
            has_running = True
            state.ready += 1
    if state.reason == "Completed":
        # A finished container beside running ones does not make a finished pod.
        if has_running and is_true(status.get("conditions"), "Ready"):
            state.reason = "Running"
        elif error:
            state.reason = error
        elif has_running:
            state.reason = "NotReady"


def _ending(terminated: Json) -> str:
    if reason := terminated.get("reason"):
        return str(reason)
    if signal := terminated.get("signal"):
        return f"Signal:{signal}"
    return f"ExitCode:{terminated.get('exitCode') or 0}"


def _deleted_reason(pod: Json, status: Json) -> str:
    if not is_deleted(pod):
        return ""
    if status.get("reason") == _NODE_LOST:
        return "Unknown"
    return "" if status.get("phase") in _TERMINAL else "Terminating"


def _restarts(state: _State, now: datetime) -> str:
    if state.restarts and state.restarted_at:
        return f"{state.restarts} ({ago(state.restarted_at, now)} ago)"
    return str(state.restarts)


def _first_ip(status: Json) -> Any:
    addresses = status.get("podIPs")
    return addresses[0].get("ip") if addresses else status.get("podIP")


def _gates(spec: Json, status: Json) -> str:
    gates = spec.get("readinessGates")
    if not gates:
        return NONE
    open_gates = sum(is_true(status.get("conditions"), gate.get("conditionType", "")) for gate in gates)
    return f"{open_gates}/{len(gates)}"
