"""What is legal in a pod's spec but unwise: old fields and labels, names and ports used twice, fractions of bytes.

Warnings come in the order kube-apiserver tells them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.quantity import parse
from hardpoint.machinery.strategies.podspec_overlaps import overlapping_paths
from hardpoint.machinery.validation.affinity import PREFERRED, REQUIRED
from hardpoint.machinery.validation.podspec_annotations import APP_ARMOR, SECCOMP_CONTAINER, SECCOMP_POD

Json = dict[str, Any]

DEPRECATED_NODE_LABELS: Mapping[str, str] = {
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
}

_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
# The volume's field to the field as it is told and what is told about it.
_VOLUMES = {
    "photonPersistentDisk": ("photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    "gitRepo": ("gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageos": ("storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}
_USE_SECCOMP_FIELD = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_USE_APP_ARMOR_FIELD = 'deprecated since v1.30; use the "appArmorProfile" field instead'
_NO_SELECTOR = "a null labelSelector results in matching no pod"


def pod_warnings(pod: Json) -> list[str]:
    """Warnings about a new pod."""
    spec, metadata = pod.get("spec") or {}, pod.get("metadata") or {}
    return [*_app_armor(spec, metadata), *_warnings("", spec, metadata)]


def template_warnings(path: str, template: Json) -> list[str]:
    """Warnings about the template of a pod, found at `path`."""
    spec, metadata = template.get("spec") or {}, template.get("metadata") or {}
    return list(_warnings(f"{path}.", spec, metadata, is_template=True))


def claim_spec_warnings(path: str, spec: Json) -> list[str]:
    """Warnings about a claim to a persistent volume."""
    resources = spec.get("resources") or {}
    return [
        warning
        for part in ("requests", "limits")
        for warning in _fractions(f"{path}.resources.{part}", resources.get(part) or {}, ("storage",))
    ]


def name_is_no_label(name: str) -> list[str]:
    """The warning of kinds that make the names of pods from their own."""
    wrong = names.dns_label(name)
    if not wrong:
        return []
    told = (
        "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended"
    )
    return [f"metadata.name: {told}: [{' '.join(wrong)}]"]


def _warnings(prefix: str, spec: Json, metadata: Json, *, is_template: bool = False) -> Iterator[str]:
    """`prefix` is put before `spec` and `metadata` in paths."""
    path, annotations = f"{prefix}spec", metadata.get("annotations") or {}
    about_annotation = f"{prefix}metadata.annotations"
    yield from _places(path, spec)
    for key, told in _ANNOTATIONS.items():
        if key in annotations:
            yield f"{about_annotation}[{key}]: {told}"
    volumes = spec.get("volumes") or ()
    yield from _volumes(f"{path}.volumes", volumes)
    yield from overlapping_paths(volumes)
    yield from _repeated(f"{path}.hostAliases", spec.get("hostAliases") or (), "ip")
    yield from _pull_secrets(f"{path}.imagePullSecrets", spec.get("imagePullSecrets") or ())
    yield from _fractions(f"{path}.overhead", spec.get("overhead") or {})
    if SECCOMP_POD in annotations and "seccompProfile" not in (spec.get("securityContext") or {}):
        yield f"{about_annotation}[{SECCOMP_POD}]: {_USE_SECCOMP_FIELD}"
    containers = list(_containers(path, spec))
    for place, container in containers:
        yield from _old_profiles(about_annotation, spec, container, annotations, is_template=is_template)
        yield from _container(place, container)
    yield from _ports(containers)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        told = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{path}.terminationGracePeriodSeconds: {told}"
    yield from _affinity(f"{path}.affinity", spec.get("affinity") or {})
    for index, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        yield from addresses.ip_warnings(f"{path}.dnsConfig.nameservers[{index}]", server)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        yield from addresses.ip_warnings(f"{path}.hostAliases[{index}].ip", alias.get("ip", ""))


def _containers(path: str, spec: Json) -> Iterator[tuple[str, Json]]:
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            yield f"{path}.{group}[{index}]", container


def _places(path: str, spec: Json) -> Iterator[str]:
    for key in spec.get("nodeSelector") or ():
        if told := DEPRECATED_NODE_LABELS.get(key):
            yield f"{path}.nodeSelector[{key}]: {told}"
    wish = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    place = f"{path}.affinity.nodeAffinity"
    for index, term in enumerate((wish.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        yield from _node_term(f"{place}.{REQUIRED}.nodeSelectorTerms[{index}]", term)
    for index, weighted in enumerate(wish.get(PREFERRED) or ()):
        term = weighted.get("preference") or {}
        yield from _node_term(f"{place}.{PREFERRED}[{index}].preference", term, check_values=True)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        place, key = f"{path}.topologySpreadConstraints[{index}]", constraint.get("topologyKey", "")
        if told := DEPRECATED_NODE_LABELS.get(key):
            yield f"{place}.topologyKey: {key} is {told}"
        if constraint.get("labelSelector") is None:
            yield f"{place}.labelSelector: {_NO_SELECTOR}"


def _node_term(path: str, term: Json, *, check_values: bool = False) -> Iterator[str]:
    for index, expression in enumerate(term.get("matchExpressions") or ()):
        place, key = f"{path}.matchExpressions[{index}]", expression.get("key", "")
        if told := DEPRECATED_NODE_LABELS.get(key):
            yield f"{place}.key: {key} is {told}"
        if check_values:
            for number, value in enumerate(expression.get("values") or ()):
                for problem in names.label_value(value):
                    yield f"{place}.values[{number}]: {value} is invalid, {problem}"


def _volumes(path: str, volumes: Sequence[Json]) -> Iterator[str]:
    for index, volume in enumerate(volumes):
        for told_as, told in (_VOLUMES[field] for field in volume if field in _VOLUMES):
            yield f"{path}[{index}].{told_as}: {told}"
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            place = f"{path}[{index}].ephemeral.volumeClaimTemplate.spec"
            yield from claim_spec_warnings(place, template.get("spec") or {})


def _repeated(path: str, items: Sequence[Json], field: str) -> Iterator[str]:
    seen = set()
    for index, item in enumerate(items):
        value = item.get(field, "")
        if value in seen:
            yield f'{path}[{index}].{field}: duplicate {field} "{value}"'
        seen.add(value)


def _pull_secrets(path: str, secrets: Sequence[Json]) -> Iterator[str]:
    yield from _repeated(path, secrets, "name")
    for index, secret in enumerate(secrets):
        if not secret.get("name"):
            yield f'{path}[{index}].name: invalid empty name ""'


def _fractions(
    path: str, amounts: Mapping[str, str], counted: Sequence[str] = ("memory", "ephemeral-storage")
) -> Iterator[str]:
    """Bytes cannot be divided."""
    for name in counted:
        amount = amounts.get(name)
        if amount is not None and amount[-1] in "mun" and parse(amount).milli_value() % 1000:
            yield f'{path}[{name}]: fractional byte value "{amount}" is invalid, must be an integer'


def _container(path: str, container: Json) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in ("memory", "ephemeral-storage"):
        for part in ("limits", "requests"):
            yield from _fractions(f"{path}.resources.{part}", resources.get(part) or {}, (name,))
    seen = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name", "")
        if name in seen and _hides(variable):
            yield f'{path}.env[{index}]: hides previous definition of "{name}", which may be dropped when using apply'
        seen.add(name)


def _hides(variable: Json) -> bool:
    """A second definition that builds on the first is fine."""
    reference, value = f"$({variable.get('name', '')})", variable.get("value", "")
    return "valueFrom" in variable or value == reference or reference not in value


def _old_profiles(
    path: str, spec: Json, container: Json, annotations: Mapping[str, str], *, is_template: bool
) -> Iterator[str]:
    if not annotations:
        return
    context, name = container.get("securityContext") or {}, container.get("name", "")
    key = SECCOMP_CONTAINER + name
    if key in annotations and "seccompProfile" not in context:
        yield f"{path}[{key}]: {_USE_SECCOMP_FIELD}"
    key = APP_ARMOR + name
    if is_template and key in annotations and "appArmorProfile" not in context:
        of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
        if of_pod is None or _as_annotation(of_pod) != annotations[key]:
            yield f"{path}[{key}]: {_USE_APP_ARMOR_FIELD}"


def _app_armor(spec: Json, metadata: Json) -> Iterator[str]:
    """In a pod the annotation has become the field by now, unless it made no sense or the pod says the same."""
    annotations = metadata.get("annotations")
    if not annotations or (spec.get("os") or {}).get("name") == "windows":
        return
    of_pod = (spec.get("securityContext") or {}).get("appArmorProfile")
    for _, container in _containers("spec", spec):
        key = APP_ARMOR + container.get("name", "")
        if key not in annotations:
            continue
        profile = (container.get("securityContext") or {}).get("appArmorProfile")
        meant = _as_annotation(profile if profile is not None else of_pod or {})
        if (profile is None) != (meant == annotations[key]):
            yield f"metadata.annotations[{key}]: {_USE_APP_ARMOR_FIELD}"


def _as_annotation(profile: Json) -> str | None:
    kind = profile.get("type")
    if kind == "Localhost":
        return f"localhost/{profile.get('localhostProfile', '')}"
    return {"Unconfined": "unconfined", "RuntimeDefault": "runtime/default"}.get(kind or "")


def _ports(containers: Sequence[tuple[str, Json]]) -> Iterator[str]:
    numbers: dict[tuple[int, str], list[tuple[str, Json]]] = {}
    for path, container in containers:
        for index, port in enumerate(container.get("ports") or ()):
            place = f"{path}.ports[{index}]"
            if port.get("hostIP") and not port.get("hostPort"):
                yield f"{place}: hostIP set without hostPort: {_as_struct(port)}"
            others = numbers.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
            for other_place, other in others:
                if (how := _clash(port, other)) is not None:
                    yield f"{place}: {how} port definition with {other_place}"
            others.append((place, port))
    named: dict[str, str] = {}
    for path, container in containers:
        for index, port in enumerate(container.get("ports") or ()):
            name, place = port.get("name", ""), f"{path}.ports[{index}]"
            if name and (first := named.setdefault(name, place)) != place:
                told = "services and probes that select ports by name will use"
                yield f'{place}: duplicate port name "{name}" with {first}, {told} {first}'


def _as_struct(port: Json) -> str:
    """A port as Go prints a struct."""
    fields = (("Name", ""), ("HostPort", 0), ("ContainerPort", 0), ("Protocol", ""), ("HostIP", ""))
    wire = {"Name": "name", "HostPort": "hostPort", "ContainerPort": "containerPort", "Protocol": "protocol"}
    shown = " ".join(f"{name}:{port.get(wire.get(name, 'hostIP'), zero)}" for name, zero in fields)
    return f"{{{shown}}}"


def _clash(port: Json, other: Json) -> str | None:
    """How two definitions of the same container port disturb each other."""
    address, other_address = port.get("hostIP", ""), other.get("hostIP", "")
    number, other_number = port.get("hostPort", 0), other.get("hostPort", 0)
    if address == other_address and number == other_number:
        return "duplicate"
    if not number or not other_number:
        return "overlapping"
    if number == other_number and bool(address) != bool(other_address):
        return "dangerously ambiguous"
    return None


def _affinity(path: str, affinity: Json) -> Iterator[str]:
    for name in ("podAffinity", "podAntiAffinity"):
        wish = affinity.get(name) or {}
        for index, term in enumerate(wish.get(REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}.{name}.{REQUIRED}[{index}].labelSelector: {_NO_SELECTOR}"
        for index, weighted in enumerate(wish.get(PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                yield f"{path}.{name}.{PREFERRED}[{index}].podAffinityTerm.labelSelector: {_NO_SELECTOR}"
