"""What may be changed at the smaller endpoints of a pod: its status, its debugging containers, its resources.

Which fields an endpoint lets through is the server's business; here is what they may become.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid, invalids
from hardpoint.machinery.validation.metadata import immutable
from hardpoint.machinery.validation.pods_whole import whole_pod
from hardpoint.machinery.validation.podspec_annotations import MIRROR
from hardpoint.machinery.validation.podspec_resources import quality_of_service

Json = dict[str, Any]
Errors = list[FieldError]

_SYSTEM_CONDITIONS = ("PodScheduled", "Ready", "Initialized")
_ENDED = "may not be transitioned to non-terminated state"


def _status(pod: Json, old: Json) -> Errors:
    errors: Errors = []
    new, was, spec = pod.get("status") or {}, old.get("status") or {}, old.get("spec") or {}
    _conditions(errors, new.get("conditions") or ())
    _nominated(errors, new.get("nominatedNodeName", ""), was.get("nominatedNodeName", ""), spec.get("nodeName", ""))
    if new.get("observedGeneration", 0) < 0:
        told = "must be a non-negative integer"
        errors.append(invalid("status.observedGeneration", new["observedGeneration"], told))
    immutable(errors, "status.qosClass", new.get("qosClass", was.get("qosClass")), was.get("qosClass"))
    _ended(errors, "containerStatuses", new, was, _restarts(spec, "containers"))
    _ended(errors, "initContainerStatuses", new, was, _restarts(spec, "initContainers"))
    _ended(errors, "ephemeralContainerStatuses", new, was, lambda name, code: False)
    _addresses(errors, "podIP", new)
    _addresses(errors, "hostIP", new)
    return errors


def _conditions(errors: Errors, conditions: Sequence[Json]) -> None:
    for index, condition in enumerate(conditions):
        generation, kind = condition.get("observedGeneration", 0), condition.get("type", "")
        if generation < 0:
            told = "must be a non-negative integer"
            errors.append(invalid(f"status.conditions[{index}].observedGeneration", generation, told))
        if kind not in _SYSTEM_CONDITIONS and (wrong := names.qualified_name(kind)):
            errors += invalids(f"status.conditions[{index}].Type", kind, wrong)


def _nominated(errors: Errors, new: str, old: str, bound_to: str) -> None:
    """A node is nominated for a pod that still has none."""
    if not new or new == old:
        return
    if wrong := names.dns_subdomain(new):
        errors += invalids("status.nominatedNodeName", new, wrong)
    if bound_to:
        told = "may not be set on pods that are already bound to a node"
        errors.append(forbidden("status.nominatedNodeName", told))


Restarts = Callable[[str, int], bool]
"""Whether the container of this name may run again after it ended with this code."""


def _restarts(spec: Json, group: str) -> Restarts:
    containers = {container.get("name", ""): container for container in spec.get(group) or ()}
    everyone = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    if any(_has_rule_for_all(container) for container in everyone):
        return lambda name, code: True

    def may_restart(name: str, code: int) -> bool:
        container = containers.get(name)
        if container is None:
            return False
        if any(_applies(rule, code) for rule in container.get("restartPolicyRules") or ()):
            return True
        policy = container.get("restartPolicy", spec.get("restartPolicy"))
        return policy == "Always" or (policy == "OnFailure" and code != 0)

    return may_restart


def _has_rule_for_all(container: Json) -> bool:
    return any(rule.get("action") == "RestartAllContainers" for rule in container.get("restartPolicyRules") or ())


def _applies(rule: Json, code: int) -> bool:
    codes = rule.get("exitCodes") or {}
    is_listed = code in (codes.get("values") or ())
    return is_listed if codes.get("operator") == "In" else not is_listed


def _ended(errors: Errors, field: str, new: Json, old: Json, may_restart: Restarts) -> None:
    """A container that ended for good stays so."""
    now = {status.get("name", ""): status for status in new.get(field) or ()}
    for index, status in enumerate(old.get(field) or ()):
        ending, name = (status.get("state") or {}).get("terminated"), status.get("name", "")
        if ending is None or name not in now or "terminated" in (now[name].get("state") or {}):
            continue
        if not may_restart(name, ending.get("exitCode", 0)):
            errors.append(forbidden(f"status.{field}[{index}].state", _ENDED))


def _addresses(errors: Errors, field: str, status: Json) -> None:
    """The first address of the list is told alone too; a second one is of the other family."""
    path, single = f"status.{field}s", status.get(field, "")
    listed = [each.get("ip", "") for each in status.get(f"{field}s") or ()]
    if field == "hostIP":
        if not listed:
            return
        if listed[0] != single:
            errors.append(invalid(f"{path}[0].ip", listed[0], "must be equal to `hostIP`"))
    for index, address in enumerate(listed):
        if wrong := addresses.legacy_ip(address):
            errors += invalids(f"{path}[{index}]", address, wrong)
    if len(listed) > 2 or (len(listed) == 2 and addresses.is_ipv6(listed[0]) == addresses.is_ipv6(listed[1])):
        told = "may specify no more than one IP for each IP family"
        errors.append(invalid(path, [{"IP": address} for address in listed], told))
    if field == "podIP":
        _both_or_none(errors, path, single, listed)


def _both_or_none(errors: Errors, path: str, single: str, listed: list[str]) -> None:
    if bool(single) != bool(listed):
        shown = [{"IP": address} for address in listed] or None
        errors.append(invalid(path, shown, "podIP and podIPs must either both be set or both be unset"))
    elif listed and listed[0] != single:
        errors.append(invalid(f"{path}[0].ip", listed[0], "must be equal to `podIP`"))


def _ephemeral_containers(pod: Json, old: Json) -> Errors:
    """Containers to look into a pod are added, never changed or removed."""
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [forbidden("", "static pods do not support ephemeral containers")]
    errors: Errors = []
    whole_pod(errors, pod)
    path = "spec.ephemeralContainers"
    now = {container.get("name", ""): container for container in pod["spec"].get("ephemeralContainers") or ()}
    for container in old["spec"].get("ephemeralContainers") or ():
        name = container.get("name", "")
        if name not in now:
            errors.append(forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n'))
        elif now[name] != container:
            errors.append(forbidden(path, f'existing ephemeral containers "{name}" may not be changed\n'))
    return errors


def _resize(pod: Json, old: Json) -> Errors:
    """Amounts may change; what was asked for and limited stays asked for and limited."""
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [forbidden("", "static pods cannot be resized")]
    if (old["spec"].get("os") or {}).get("name") == "windows":
        return [forbidden("", "windows pods cannot be resized")]
    errors: Errors = []
    whole_pod(errors, pod)
    if quality_of_service(pod["spec"]) != quality_of_service(old["spec"]):
        quality = (pod.get("status") or {}).get("qosClass", "")
        errors.append(invalid("spec", quality, "Pod QOS Class may not change as a result of resizing"))
    before = len(errors)
    for group in ("containers", "initContainers"):
        _same_containers(errors, group, pod["spec"].get(group) or [], old["spec"].get(group) or [])
    if len(errors) > before:
        return errors
    for group in ("initContainers", "containers"):
        pairs = zip(pod["spec"].get(group) or (), old["spec"].get(group) or (), strict=True)
        for index, (container, was) in enumerate(pairs):
            place = f"spec.{group}[{index}].resources"
            _kept(errors, place, container.get("resources") or {}, was.get("resources") or {})
    return errors


def _same_containers(errors: Errors, group: str, containers: list[Json], old: list[Json]) -> None:
    if len(containers) != len(old):
        errors.append(forbidden(f"spec.{group}", f"{group} may not be added or removed on resize"))
        return
    for index, (container, was) in enumerate(zip(containers, old, strict=True)):
        if container.get("name") != was.get("name"):
            errors.append(
                forbidden(f"spec.{group}[{index}].name", f"{group} may not be renamed or reordered on resize")
            )


def _kept(errors: Errors, path: str, wanted: Json, before: Json) -> None:
    for part in ("requests", "limits"):
        if any(name not in (wanted.get(part) or {}) for name in before.get(part) or ()):
            errors.append(forbidden(f"{path}.{part}", f"resource {part} cannot be removed"))


POD: Mapping[str, Callable[[Json, Json], Errors]] = {
    "ephemeralcontainers": _ephemeral_containers,
    "resize": _resize,
    "status": _status,
}
