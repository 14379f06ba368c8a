"""What a pod and its containers ask for together: within what the pod says as a whole, and how surely they get it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid
from hardpoint.machinery.quantity import ZERO, Quantity, parse
from hardpoint.machinery.validation.resources import is_huge_page, pod_resource_name, requirements

Json = dict[str, Any]
Errors = list[FieldError]
Part = Literal["requests", "limits"]
Qos = Literal["Guaranteed", "Burstable", "BestEffort"]

_COMPUTE = ("cpu", "memory")


def pod_resources(errors: Errors, path: str, spec: Json, claim_names: Collection[str]) -> None:
    """`resources` of a pod's spec; `path` is theirs."""
    wanted = spec["resources"]
    if (spec.get("os") or {}).get("name") == "windows":
        errors.append(forbidden(path, "may not be set for a windows pod"))
        return
    if wanted.get("claims") is not None:
        errors.append(forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level"))
    requirements(errors, path, wanted, pod_resource_name, claim_names)
    _covers_containers(errors, path, spec, wanted)


def aggregate(spec: Json, part: Part) -> dict[str, Quantity]:
    """What the containers need together: the regular ones and sidecars, or more if an init container needs more."""
    running: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        _add(running, _amounts(container, part))
    peak: dict[str, Quantity] = {}
    sidecars: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        amounts = _amounts(container, part)
        if container.get("restartPolicy") == "Always":
            _add(running, amounts)
            _add(sidecars, amounts)
            amounts = sidecars
        else:
            amounts = {name: amount + sidecars.get(name, ZERO) for name, amount in amounts.items()}
        _raise(peak, amounts)
    _raise(running, peak)
    return running


def is_for_pods(name: str) -> bool:
    """Whether a pod may ask for the resource as a whole."""
    return name in _COMPUTE or is_huge_page(name)


def quality_of_service(spec: Json) -> Qos:
    """Guaranteed where everything is limited to what was asked for, BestEffort where nothing was asked for."""
    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}
    all_limited = True
    for wanted in _demands(spec):
        _count(requests, wanted.get("requests") or {})
        all_limited &= len(_count(limits, wanted.get("limits") or {})) == len(_COMPUTE)
    if not requests and not limits:
        return "BestEffort"
    if all_limited and requests == limits:
        return "Guaranteed"
    return "Burstable"


def _amounts(container: Json, part: Part) -> dict[str, Quantity]:
    amounts: Mapping[str, str] = (container.get("resources") or {}).get(part) or {}
    return {name: parse(amount) for name, amount in amounts.items()}


def _add(total: dict[str, Quantity], amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount


def _raise(total: dict[str, Quantity], amounts: Mapping[str, Quantity]) -> None:
    for name, amount in amounts.items():
        if name not in total or total[name] < amount:
            total[name] = amount


def _covers_containers(errors: Errors, path: str, spec: Json, wanted: Json) -> None:
    requests, limits = wanted.get("requests") or {}, wanted.get("limits") or {}
    for name, amount in aggregate(spec, "requests").items():
        if name in requests and amount > parse(requests[name]):
            told = f"must be greater than or equal to aggregate container requests of {amount}"
            errors.append(invalid(f"{path}.requests[{name}]", requests[name], told))
    for name, amount in aggregate(spec, "limits").items():
        if is_huge_page(name) and name in limits and amount > parse(limits[name]):
            told = f"must be greater than or equal to aggregate container limits of {amount}"
            errors.append(invalid(f"{path}.limits[{name}]", limits[name], told))
    for index, container in enumerate(spec.get("containers") or ()):
        for name, amount in _amounts(container, "limits").items():
            if name in limits and amount > parse(limits[name]):
                told = f"must be less than or equal to pod limits of {limits[name]}"
                errors.append(invalid(f"{path}.containers[{index}][{name}].limits", str(amount), told))


def _demands(spec: Json) -> list[Json]:
    """The pod's own demand where it has one, else its containers'."""
    of_pod = spec.get("resources")
    if of_pod and any(is_for_pods(name) for part in ("requests", "limits") for name in of_pod.get(part) or ()):
        return [of_pod]
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    return [container.get("resources") or {} for container in containers]


def _count(total: dict[str, Quantity], amounts: Mapping[str, str]) -> list[str]:
    """Add what counts, and say what that was."""
    counted = []
    for name in _COMPUTE:
        if name in amounts and (amount := parse(amounts[name])).sign > 0:
            total[name] = total.get(name, ZERO) + amount
            counted.append(name)
    return counted
