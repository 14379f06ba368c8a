"""Defaults of FlowSchema and PriorityLevelConfiguration."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

MATCHING_PRECEDENCE = 1000
NOMINAL_CONCURRENCY_SHARES = 30
QUEUING = {"queues": 64, "handSize": 8, "queueLengthLimit": 50}


def _flow_schema(obj: Json) -> None:
    spec = obj["spec"]
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = MATCHING_PRECEDENCE


def _priority_level(obj: Json) -> None:
    spec = obj["spec"]
    limited = spec.get("limited")
    if limited is not None:
        # Go writes this pointer even when it is nil.
        if limited.get("nominalConcurrencyShares") is None:
            limited["nominalConcurrencyShares"] = NOMINAL_CONCURRENCY_SHARES
        limited.setdefault("lendablePercent", 0)
        queuing = limited.get("limitResponse", {}).get("queuing")
        if queuing is not None:
            for field, value in QUEUING.items():
                queuing[field] = queuing.get(field) or value
    exempt = spec.get("exempt")
    if exempt is not None:
        exempt.setdefault("nominalConcurrencyShares", 0)
        exempt.setdefault("lendablePercent", 0)


DEFAULTS = {"FlowSchema": _flow_schema, "PriorityLevelConfiguration": _priority_level}
