"""What makes the status of a workload invalid: counts that cannot be, and collisions that were counted and are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hardpoint.machinery.fielderrors import FieldError, invalid
from hardpoint.machinery.validation import rules

Json = dict[str, Any]
Errors = list[FieldError]
Check = Callable[[Json, Json], Errors]

_COLLISIONS = "collisionCount"
_OF_REPLICAS = "cannot be greater than status.replicas"


def _checked(counts: Sequence[str], parts: Sequence[str] = (), *, ready: str = "readyReplicas") -> Check:
    """No count is negative, none of the `parts` is more than the whole, and what is available is `ready` too.

    `ready` is how messages name the ready ones.
    """

    def check(obj: Json, old: Json) -> Errors:
        status, before = obj.get("status") or {}, old.get("status") or {}
        errors: Errors = []
        for name in counts:
            errors += rules.not_negative(f"status.{name}", status.get(name, 0))
        for name in parts:
            if (count := status.get(name, 0)) > status.get("replicas", 0):
                errors.append(invalid(f"status.{name}", count, _OF_REPLICAS))
        available = status.get("availableReplicas", 0)
        if parts and available > status.get("readyReplicas", 0):
            errors.append(invalid("status.availableReplicas", available, f"cannot be greater than {ready}"))
        if _COLLISIONS in counts and status.get(_COLLISIONS, -1) < before.get(_COLLISIONS, -1):
            errors.append(invalid(f"status.{_COLLISIONS}", status.get(_COLLISIONS, 0), "cannot be decremented"))
        return errors

    return check


_CONTROLLED = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
_CONTROLLED_PARTS = ("fullyLabeledReplicas", "readyReplicas", "availableReplicas")

SUBRESOURCES: Mapping[str, Mapping[str, Check]] = {
    "DaemonSet": {
        "status": _checked(
            (
                "currentNumberScheduled",
                "numberMisscheduled",
                "desiredNumberScheduled",
                "numberReady",
                "observedGeneration",
                "updatedNumberScheduled",
                "numberAvailable",
                "numberUnavailable",
                _COLLISIONS,
            )
        )
    },
    "Deployment": {
        "status": _checked(
            (
                "observedGeneration",
                "replicas",
                "updatedReplicas",
                "readyReplicas",
                "availableReplicas",
                "unavailableReplicas",
                "terminatingReplicas",
                _COLLISIONS,
            ),
            ("updatedReplicas", "readyReplicas", "availableReplicas"),
        )
    },
    "ReplicaSet": {"status": _checked((*_CONTROLLED, "terminatingReplicas"), _CONTROLLED_PARTS)},
    "ReplicationController": {"status": _checked(_CONTROLLED, _CONTROLLED_PARTS)},
    "StatefulSet": {
        "status": _checked(
            (
                "replicas",
                "readyReplicas",
                "currentReplicas",
                "updatedReplicas",
                "availableReplicas",
                "observedGeneration",
                _COLLISIONS,
            ),
            ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"),
            ready="status.readyReplicas",
        )
    },
}
