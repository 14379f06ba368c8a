"""What makes the containers of a pod invalid: regular, init and ephemeral ones, alone and together.

Errors are added to the list each function is given; paths are built only where something is wrong, or once a container.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_found,
    not_supported,
    required,
    too_many,
)
from hardpoint.machinery.validation import probes
from hardpoint.machinery.validation.containers_env import env, env_from
from hardpoint.machinery.validation.containers_security import container_context
from hardpoint.machinery.validation.resources import container_resources
from hardpoint.machinery.validation.volumes_mounts import Volumes, devices, mounts

Json = dict[str, Any]
Errors = list[FieldError]

PROTOCOLS = ("SCTP", "TCP", "UDP")
PULL_POLICIES = ("Always", "IfNotPresent", "Never")
RESTART_RULES_MAX = 20
EXIT_CODES_MAX = 255

_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS = ("Restart", "RestartAllContainers")
_ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always"
_NOT_EPHEMERAL = "cannot be set for an Ephemeral Container"
# In the order of the fields in upstream's type, which is the order they are told in.
_EPHEMERAL_FORBIDDEN = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What containers need to know of their pod."""

    volumes: Volumes
    claim_names: Collection[str]
    grace_seconds: int | None
    restart_policy: str
    host_users: bool


def containers(errors: Errors, path: str, given: list[Json], pod: Surroundings) -> None:
    """The regular containers, of which there must be one."""
    if not given:
        errors.append(required(path))
        return
    seen: set[str] = set()
    for index, container in enumerate(given):
        place = f"{path}[{index}]"
        _common(errors, place, container, pod)
        name = container.get("name", "")
        if name in seen:
            errors.append(duplicate(f"{place}.name", name))
        seen.add(name)
        _life(errors, place, container, pod)
        if "restartPolicy" in container or "restartPolicyRules" in container:
            _restart_policy(errors, place, container)
    _host_ports(errors, path, given)


def init_containers(errors: Errors, path: str, given: list[Json], regular: list[Json], pod: Surroundings) -> None:
    """Containers that run before the regular ones; those with restartPolicy Always run beside them."""
    seen = {container.get("name", "") for container in regular}
    for index, container in enumerate(given):
        place = f"{path}[{index}]"
        _common(errors, place, container, pod)
        if "restartPolicy" in container or "restartPolicyRules" in container:
            _restart_policy(errors, place, container)
        name = container.get("name", "")
        if name in seen:
            errors.append(duplicate(f"{place}.name", name))
        elif name:
            seen.add(name)
        _host_ports(errors, path, [container])
        is_sidecar = container.get("restartPolicy") == "Always"
        if is_sidecar:
            _life(errors, place, container, pod)
            continue
        for field in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if field in container:
                errors.append(forbidden(f"{place}.{field}", _ONLY_SIDECARS))
        for number, policy in enumerate(container.get("resizePolicy") or ()):
            if policy.get("restartPolicy") == "RestartContainer":
                told = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                errors.append(invalid(f"{place}.resizePolicy[{number}].restartPolicy", "RestartContainer", told))


def ephemeral_containers(errors: Errors, path: str, given: list[Json], others: list[Json], pod: Surroundings) -> None:
    """Containers added to look into a running pod; they promise nothing, so they may ask for nothing."""
    targets = {container.get("name", "") for container in others}
    seen = set(targets)
    for index, container in enumerate(given):
        place = f"{path}[{index}]"
        _common(errors, place, container, pod)
        image_without_padding(errors, place, container)
        name, target = container.get("name", ""), container.get("targetContainerName", "")
        if name in seen:
            errors.append(duplicate(f"{place}.name", name))
        seen.add(name)
        if target and target not in targets:
            errors.append(not_found(f"{place}.targetContainerName", target))
        errors += [
            forbidden(f"{place}.{field}", _NOT_EPHEMERAL) for field in _EPHEMERAL_FORBIDDEN if container.get(field)
        ]
        for number, mount in enumerate(container.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    errors.append(forbidden(f"{place}.volumeMounts[{number}].{field}", _NOT_EPHEMERAL))


def image_without_padding(errors: Errors, path: str, container: Json) -> None:
    """Templates may keep the spaces around an image's name; pods may not."""
    image = container.get("image", "")
    if image.strip() != image:
        errors.append(invalid(f"{path}.image", image, "must not have leading or trailing whitespace"))


def pull_policy(errors: Errors, path: str, policy: str) -> None:
    if not policy:
        errors.append(required(path))
    elif policy not in PULL_POLICIES:
        errors.append(not_supported(path, policy, PULL_POLICIES))


def _common(errors: Errors, path: str, container: Json, pod: Surroundings) -> None:
    name = container.get("name", "")
    if not name:
        errors.append(required(f"{path}.name"))
    elif wrong := names.dns_label(name):
        errors += invalids(f"{path}.name", name, wrong)
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy", "")
    if policy not in _MESSAGE_POLICIES:
        place = f"{path}.terminationMessagePolicy"
        errors.append(not_supported(place, policy, _MESSAGE_POLICIES) if policy else required(place))
    if ports := container.get("ports"):
        _ports(errors, f"{path}.ports", ports)
    if variables := container.get("env"):
        env(errors, f"{path}.env", variables)
    if sources := container.get("envFrom"):
        env_from(errors, f"{path}.envFrom", sources)
    mounts(errors, path, container, pod.volumes)
    if "volumeDevices" in container:
        devices(errors, path, container, pod.volumes)
    pull_policy(errors, f"{path}.imagePullPolicy", container.get("imagePullPolicy", ""))
    if wanted := container.get("resources"):
        container_resources(errors, f"{path}.resources", wanted, pod.claim_names)
    if policies := container.get("resizePolicy"):
        _resize_policy(errors, f"{path}.resizePolicy", policies, pod.restart_policy)
    context = container.get("securityContext")
    if context is not None:
        container_context(errors, f"{path}.securityContext", context, host_users=pod.host_users)


def _life(errors: Errors, path: str, container: Json, pod: Surroundings) -> None:
    hooks = container.get("lifecycle")
    if hooks is not None:
        probes.lifecycle(errors, f"{path}.lifecycle", hooks, pod.grace_seconds)
    probes.probes(errors, path, container, pod.grace_seconds)


def _ports(errors: Errors, path: str, ports: list[Json]) -> None:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        name, number = port.get("name", ""), port.get("containerPort", 0)
        if name:
            if wrong := names.port_name(name):
                errors += invalids(f"{path}[{index}].name", name, wrong)
            elif name in seen:
                errors.append(duplicate(f"{path}[{index}].name", name))
            seen.add(name)
        if not number:
            errors.append(required(f"{path}[{index}].containerPort"))
        elif wrong := names.port_number(number):
            errors += invalids(f"{path}[{index}].containerPort", number, wrong)
        on_host = port.get("hostPort", 0)
        if on_host and (wrong := names.port_number(on_host)):
            errors += invalids(f"{path}[{index}].hostPort", on_host, wrong)
        protocol = port.get("protocol", "")
        if protocol not in PROTOCOLS:
            place = f"{path}[{index}].protocol"
            errors.append(not_supported(place, protocol, PROTOCOLS) if protocol else required(place))


def _host_ports(errors: Errors, path: str, given: list[Json]) -> None:
    """No two of these containers may take the same port of the host. The path counts the containers given."""
    seen: set[str] = set()
    for index, container in enumerate(given):
        for number, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            taken = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if taken in seen:
                errors.append(duplicate(f"{path}[{index}].ports[{number}].hostPort", taken))
            seen.add(taken)


def _resize_policy(errors: Errors, path: str, policies: list[Json], pod_restart_policy: str) -> None:
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in seen:
            errors.append(duplicate(f"{path}[{index}]", name))
        seen.add(name)
        for value, supported in ((name, ("cpu", "memory")), (restart, ("NotRequired", "RestartContainer"))):
            if value not in supported:
                errors.append(not_supported(path, value, supported) if value else required(path))
        if pod_restart_policy == "Never" and restart != "NotRequired":
            told = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            errors.append(invalid(path, restart, told))


def _restart_policy(errors: Errors, path: str, container: Json) -> None:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    if policy is None:
        if rules:
            told = "must specify restartPolicy when restart rules are used"
            errors.append(required(f"{path}.restartPolicy", told))
    elif policy not in _RESTART_POLICIES:
        errors.append(not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES))
    if len(rules) > RESTART_RULES_MAX:
        errors.append(too_many(f"{path}.restartPolicyRules", len(rules), RESTART_RULES_MAX))
    for index, rule in enumerate(rules):
        _restart_rule(errors, f"{path}.restartPolicyRules[{index}]", rule)


def _restart_rule(errors: Errors, path: str, rule: Json) -> None:
    action, codes = rule.get("action", ""), rule.get("exitCodes")
    if action not in _RESTART_ACTIONS:
        errors.append(not_supported(f"{path}.action", action, _RESTART_ACTIONS))
    if codes is None:
        errors.append(required(f"{path}.exitCodes", "must be specified"))
        return
    operator, values = codes.get("operator", ""), codes.get("values") or ()
    if operator not in ("In", "NotIn"):
        errors.append(not_supported(f"{path}.exitCodes.operator", operator, ("In", "NotIn")))
    if len(values) > EXIT_CODES_MAX:
        errors.append(too_many(f"{path}.exitCodes.values", len(values), EXIT_CODES_MAX))
