"""Roles and bindings brought up to what they should be, without taking anything away that somebody added.

This is what `kubectl auth reconcile` does, and what an API server does with its own roles when it starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hardpoint.machinery.policyrules import missing

Json = dict[str, Any]

AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate"


def is_protected(existing: Json) -> bool:
    """Whether somebody asked for an object to be left alone."""
    return (existing["metadata"].get("annotations") or {}).get(AUTO_UPDATE) == "false"


def refers_elsewhere(existing: Json, expected: Json) -> bool:
    """Whether a binding is of another role. That cannot change: it must be made anew."""
    return existing.get("roleRef") != expected.get("roleRef")


def reconciled(existing: Json, expected: Json) -> Json:
    """The existing object with all that is expected of it; equal to it if nothing is missing. It shares its parts."""
    new = {**existing, "metadata": dict(existing["metadata"])}
    for field in ("labels", "annotations"):
        merged = {**(expected["metadata"].get(field) or {}), **(existing["metadata"].get(field) or {})}
        if merged:
            new["metadata"][field] = merged
    if "roleRef" in expected:
        _add_subjects(new, expected)
    else:
        _add_rules(new, expected)
        _add_selectors(new, expected)
    return new


def _add_subjects(new: Json, expected: Json) -> None:
    subjects = new.get("subjects") or []
    absent = [subject for subject in expected.get("subjects") or () if subject not in subjects]
    if absent:
        new["subjects"] = [*subjects, *absent]


def _add_rules(new: Json, expected: Json) -> None:
    rules = new.get("rules") or []
    wanted = expected.get("rules") or []
    # Nearly always they are the same, and comparing what they allow takes longer.
    absent = missing(rules, wanted) if wanted != rules else []
    if absent:
        new["rules"] = [*rules, *absent]


def _add_selectors(new: Json, expected: Json) -> None:
    """A role is aggregated if it should be, by all selectors it should have, and not if it should not."""
    if "aggregationRule" not in expected:
        new.pop("aggregationRule", None)
        return
    selectors = _selectors(new)
    absent = [selector for selector in _selectors(expected) if selector not in selectors]
    if absent:
        new["aggregationRule"] = {"clusterRoleSelectors": [*selectors, *absent]}


def _selectors(role: Mapping[str, Any]) -> list[Json]:
    return list((role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ())
