"""What makes a Lease invalid."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid, invalids, not_supported
from hardpoint.machinery.validation import rules

Json = dict[str, Any]
Errors = list[FieldError]

STRATEGIES = ("OldestEmulationVersion",)


def _lease(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    if transitions is not None:
        errors += rules.not_negative("spec.leaseTransitions", transitions)
    strategy = spec.get("strategy")
    if strategy is not None:
        _strategy(errors, "spec.strategy.strategy", strategy)
    if spec.get("preferredHolder") and not strategy:
        errors.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
    return errors


def _strategy(errors: Errors, path: str, strategy: str) -> None:
    if "/" in strategy:
        errors += invalids(path, strategy, names.qualified_name(strategy))
    elif strategy not in STRATEGIES:
        errors.append(not_supported(path, strategy, STRATEGIES))


CREATE = {"Lease": _lease}
UPDATE = CREATE
