"""What follows from the resources a pod asks for: its quality of service, and its totals where it asks as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from hardpoint.machinery.quantity import ZERO, Quantity, parse
from hardpoint.machinery.validation.podspec_resources import aggregate
from hardpoint.machinery.validation.resources import is_huge_page, may_overcommit

Json = dict[str, Any]
Qos = Literal["Guaranteed", "Burstable", "BestEffort"]

_COMPUTE = ("cpu", "memory")


def quality_of_service(spec: Json) -> Qos:
    """Guaranteed where everything is limited to what was asked for, BestEffort where nothing was asked for."""
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    all_limited = True
    for wanted in _demands(spec):
        _add(requests, wanted.get("requests") or {})
        all_limited &= len(_add(limits, wanted.get("limits") or {})) == len(_COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    if all_limited and requests == limits:
        return "Guaranteed"
    return "Burstable"


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
        if _is_for_pods(name) and may_overcommit(name):
            requests.setdefault(name, str(amount))
    for name, text in limits.items():
        if _is_for_pods(name):
            requests.setdefault(name, text)
    for name, text in requests.items():
        if _is_for_pods(name) and name not in limits and name in of_limits and _limited_everywhere(spec, name):
            limits[name] = str(max(parse(text), of_limits[name]))
    wanted.update({part: amounts for part, amounts in (("requests", requests), ("limits", limits)) if amounts})


def _demands(spec: Json) -> list[Json]:
    """The pod's own demand where it has one, else its containers'."""
    of_pod = spec.get("resources")
    if of_pod and any(_is_for_pods(name) for part in ("requests", "limits") for name in of_pod.get(part) or ()):
        return [of_pod]
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return [container.get("resources") or {} for container in containers]


def _add(total: dict[str, Quantity], amounts: Mapping[str, str]) -> list[str]:
    """Add what counts, and say what that was."""
    counted = []
    for name in _COMPUTE:
        if name in amounts and (amount := parse(amounts[name])).sign > 0:
            total[name] = total.get(name, ZERO) + amount
            counted.append(name)
    return counted


def _is_for_pods(name: str) -> bool:
    return name in _COMPUTE or is_huge_page(name)


def _limited_everywhere(spec: Json, name: str) -> bool:
    return all(
        name in ((container.get("resources") or {}).get("limits") or {})
        for group in ("initContainers", "containers", "ephemeralContainers")
        for container in spec.get(group) or ()
    )
