"""What a pod that asks for resources as a whole leaves to its containers to say."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.quantity import parse
from hardpoint.machinery.validation.podspec_resources import aggregate, is_for_pods
from hardpoint.machinery.validation.resources import is_huge_page, may_overcommit

Json = dict[str, Any]


def complete_totals(spec: Json) -> None:
    """Where a pod asks for resources as a whole, what it leaves out follows from its containers."""
    wanted = spec.get("resources")
    if not wanted or not (wanted.get("requests") or wanted.get("limits")):
        return
    requests, limits = dict(wanted.get("requests") or {}), dict(wanted.get("limits") or {})
    of_requests, of_limits = aggregate(spec, "requests"), aggregate(spec, "limits")
    for name, amount in of_limits.items():
        if is_huge_page(name) and name not in requests:
            limits.setdefault(name, str(amount))
    for name, amount in of_requests.items():
        if is_for_pods(name) and may_overcommit(name):
            requests.setdefault(name, str(amount))
    for name, text in limits.items():
        if is_for_pods(name):
            requests.setdefault(name, text)
    for name, text in requests.items():
        if is_for_pods(name) and name not in limits and name in of_limits and _limited_everywhere(spec, name):
            limits[name] = str(max(parse(text), of_limits[name]))
    wanted.update({part: amounts for part, amounts in (("requests", requests), ("limits", limits)) if amounts})


def _limited_everywhere(spec: Json, name: str) -> bool:
    return all(
        name in ((container.get("resources") or {}).get("limits") or {})
        for group in ("initContainers", "containers", "ephemeralContainers")
        for container in spec.get(group) or ()
    )
