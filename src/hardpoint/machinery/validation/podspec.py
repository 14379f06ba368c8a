"""What makes the spec of a pod invalid, in a pod or in a template, told in the order kube-apiserver tells it."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_found,
    not_supported,
    required,
    too_long,
)
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.affinity import affinity, tolerations, topology_spread
from hardpoint.machinery.validation.containers import (
    Surroundings,
    containers,
    ephemeral_containers,
    init_containers,
)
from hardpoint.machinery.validation.containers_security import pod_context, windows_host_process
from hardpoint.machinery.validation.labelselectors import labels
from hardpoint.machinery.validation.metadata import check_annotations
from hardpoint.machinery.validation.podspec_annotations import (
    MIRROR,
    container_contexts,
    pod_annotations,
    profiles_match,
)
from hardpoint.machinery.validation.podspec_os import operating_system
from hardpoint.machinery.validation.podspec_resources import pod_resources
from hardpoint.machinery.validation.resources import container_resource_name, requirements
from hardpoint.machinery.validation.volumes import volumes

Json = dict[str, Any]
Errors = list[FieldError]

DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
RESTART_POLICIES = ("Always", "OnFailure", "Never")
HOSTNAME_LENGTH_MAX = 64
NAMESERVERS_MAX = 3
SEARCHES_MAX = 32
SEARCHES_LENGTH_MAX = 2048


def pod_template(errors: Errors, path: str, template: Json) -> None:
    """A whole PodTemplateSpec."""
    spec = template.get("spec") or {}
    _template_metadata(errors, path, template)
    pod_spec(errors, f"{path}.spec", spec)
    if annotations := (template.get("metadata") or {}).get("annotations"):
        profiles_match(errors, f"{path}.spec", annotations, spec)
    if spec.get("ephemeralContainers"):
        told = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(f"{path}.spec.ephemeralContainers", told))


def _template_metadata(errors: Errors, path: str, template: Json) -> None:
    """Labels and annotations of a template. Upstream tells them without `metadata` in their path."""
    metadata = template.get("metadata") or {}
    if values := metadata.get("labels"):
        labels(errors, f"{path}.labels", values)
    if annotations := metadata.get("annotations"):
        check_annotations(errors, f"{path}.annotations", annotations)
        pod_annotations(errors, f"{path}.annotations", annotations, template.get("spec") or {})


def pod_spec(errors: Errors, path: str, spec: Json, metadata: Json | None = None) -> None:
    """`metadata` is the pod's own, None in a template."""
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is None:
        errors.append(required(f"{path}.terminationGracePeriodSeconds"))
    pod = _contents(errors, path, spec, metadata)
    if spec.get("resources") is not None:
        pod_resources(errors, f"{path}.resources", spec, pod.claim_names)
    if spec.get("hostNetwork"):
        _host_network(errors, f"{path}.containers", spec, must_be_set=metadata is not None)
    _choices(errors, path, spec)
    if wanted := spec.get("nodeSelector"):
        labels(errors, f"{path}.nodeSelector", wanted)
    if context := spec.get("securityContext"):
        pod_context(errors, f"{path}.securityContext", context, spec)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        told = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(invalid(f"{path}.shareProcessNamespace", True, told))
    if wish := spec.get("affinity"):
        affinity(errors, f"{path}.affinity", wish)
    _dns(errors, f"{path}.dnsConfig", spec.get("dnsConfig"), spec.get("dnsPolicy", ""))
    _gates(errors, path, spec)
    if constraints := spec.get("topologySpreadConstraints"):
        topology_spread(errors, f"{path}.topologySpreadConstraints", constraints)
    _host(errors, path, spec)
    _identity(errors, path, spec)
    if wanted := spec.get("tolerations"):
        tolerations(errors, f"{path}.tolerations", wanted)
    _scheduling(errors, path, spec)
    if spec.get("os") is not None:
        operating_system(errors, path, spec)
    _env_files(errors, path, spec)


def _contents(errors: Errors, path: str, spec: Json, metadata: Json | None) -> Surroundings:
    """Volumes, claims and containers, which refer to each other."""
    about = metadata or {}
    valid = volumes(errors, f"{path}.volumes", spec.get("volumes") or [], about.get("name", ""))
    claims = spec.get("resourceClaims") or []
    if claims:
        _resource_claims(errors, f"{path}.resourceClaims", claims, about)
    pod = Surroundings(
        volumes=valid,
        claim_names=frozenset(claim["name"] for claim in claims if claim.get("name")),
        grace_seconds=spec.get("terminationGracePeriodSeconds"),
        restart_policy=spec.get("restartPolicy", ""),
        host_users=spec.get("hostUsers", True),
    )
    regular, first = spec.get("containers") or [], spec.get("initContainers") or []
    containers(errors, f"{path}.containers", regular, pod)
    if first:
        init_containers(errors, f"{path}.initContainers", first, regular, pod)
    if later := spec.get("ephemeralContainers"):
        ephemeral_containers(errors, f"{path}.ephemeralContainers", later, [*regular, *first], pod)
    return pod


def _resource_claims(errors: Errors, path: str, claims: list[Json], metadata: Json) -> None:
    if MIRROR in (metadata.get("annotations") or {}):
        errors += [forbidden("", "static pods do not support resource claims")] * len(claims)
        return
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        place, name = f"{path}[{index}]", claim.get("name", "")
        if not name:
            errors.append(required(f"{place}.name"))
        elif name in seen:
            errors.append(duplicate(f"{place}.name", name))
        elif wrong := names.dns_label(name):
            errors += invalids(f"{place}.name", name, wrong)
        seen.add(name)
        _claim_source(errors, place, claim)


def _claim_source(errors: Errors, path: str, claim: Json) -> None:
    given = [field for field in ("resourceClaimName", "resourceClaimTemplateName") if field in claim]
    if len(given) == 2:
        told = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
        errors.append(FieldError("FieldValueInvalid", path, _claim_as_go(claim), told))
    elif not given:
        told = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        errors.append(FieldError("FieldValueInvalid", path, _claim_as_go(claim), told))
    for field in given:
        if wrong := names.dns_subdomain(claim[field]):
            errors += invalids(f"{path}.{field}", claim[field], wrong)


def _claim_as_go(claim: Json) -> str:
    return rules.as_go_struct(
        Name=claim.get("name", ""),
        ResourceClaimName=claim.get("resourceClaimName"),
        ResourceClaimTemplateName=claim.get("resourceClaimTemplateName"),
    )


def _host_network(errors: Errors, path: str, spec: Json, *, must_be_set: bool) -> None:
    """On the host's network a container's port is the host's port."""
    for index, container in enumerate(spec.get("containers") or ()):
        for number, port in enumerate(container.get("ports") or ()):
            on_host = port.get("hostPort", 0)
            if (must_be_set or on_host) and on_host != port.get("containerPort", 0):
                told = "must match `containerPort` when `hostNetwork` is true"
                errors.append(invalid(f"{path}[{index}].ports[{number}].hostPort", on_host, told))


def _choices(errors: Errors, path: str, spec: Json) -> None:
    for field, supported in (("restartPolicy", RESTART_POLICIES), ("dnsPolicy", DNS_POLICIES)):
        value = spec.get(field, "")
        if value not in supported:
            place = f"{path}.{field}"
            errors.append(not_supported(place, value, supported) if value else required(place))


def _dns(errors: Errors, path: str, config: Json | None, policy: str) -> None:
    if policy == "None":
        if config is None:
            errors.append(required(path, "must provide `dnsConfig` when `dnsPolicy` is None"))
            return
        if not config.get("nameservers"):
            told = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            errors.append(required(f"{path}.nameservers", told))
            return
    if config:
        _dns_config(errors, path, config)


def _dns_config(errors: Errors, path: str, config: Json) -> None:
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > NAMESERVERS_MAX:
        told = f"must not have more than {NAMESERVERS_MAX} nameservers"
        errors.append(invalid(f"{path}.nameservers", servers, told))
    for index, server in enumerate(servers):
        if wrong := addresses.legacy_ip(server):
            errors += invalids(f"{path}.nameservers[{index}]", server, wrong)
    if len(searches) > SEARCHES_MAX:
        errors.append(invalid(f"{path}.searches", searches, f"must not have more than {SEARCHES_MAX} search paths"))
    if names.length(" ".join(searches)) > SEARCHES_LENGTH_MAX:
        told = f"must not have more than {SEARCHES_LENGTH_MAX} characters (including spaces) in the search list"
        errors.append(invalid(f"{path}.searches", searches, told))
    for index, search in enumerate(searches):
        domain = search.removesuffix(".")
        if search != "." and (wrong := names.dns_subdomain_underscored(domain)):
            errors += invalids(f"{path}.searches[{index}]", domain, wrong)
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(required(f"{path}.options[{index}]", "must not be empty"))


def _gates(errors: Errors, path: str, spec: Json) -> None:
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        condition = gate.get("conditionType", "")
        if wrong := names.qualified_name(condition):
            errors += invalids(f"{path}.readinessGates[{index}].conditionType", condition, wrong)
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        name = gate.get("name", "")
        if wrong := names.qualified_name(name):
            errors += invalids(f"{path}.schedulingGates[{index}]", name, wrong)
        if name in seen:
            errors.append(duplicate(f"{path}.schedulingGates[{index}]", name))
        seen.add(name)


def _host(errors: Errors, path: str, spec: Json) -> None:
    """What the pod shares with its host, and what it is called there."""
    contexts = [
        (place.removesuffix(".securityContext"), context) for _, place, context in container_contexts(spec, path)
    ]
    windows_host_process(errors, path, spec, contexts)
    if spec.get("hostUsers") is False:
        _own_users(errors, path, spec)
    name = spec.get("hostnameOverride")
    if name is None:
        return
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(field):
            told = f"may not be specified when {field} is true"
            errors.append(forbidden(f"{path}.hostnameOverride", told))
    if names.length(name) > HOSTNAME_LENGTH_MAX:
        errors.append(too_long(f"{path}.hostnameOverride", HOSTNAME_LENGTH_MAX))
    if wrong := names.dns_subdomain(name):
        errors += invalids(f"{path}.hostnameOverride", name, wrong)


def _own_users(errors: Errors, path: str, spec: Json) -> None:
    told = "when `hostUsers` is false"
    for field, told_as in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(field):
            errors.append(forbidden(f"{path}.{told_as}", told))
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            if container.get("volumeDevices"):
                errors.append(forbidden(f"{path}.{group}[{index}].volumeDevices", told))


def _identity(errors: Errors, path: str, spec: Json) -> None:
    account, old_name = spec.get("serviceAccountName", ""), spec.get("serviceAccount", "")
    if account and (wrong := names.dns_subdomain(account)):
        errors += invalids(f"{path}.serviceAccountName", account, wrong)
    if old_name != account:
        told = f'must be the same as serviceAccountName: "{account}"'
        errors.append(invalid(f"{path}.deprecatedServiceAccount", old_name, told))
    node = spec.get("nodeName", "")
    if node and (wrong := names.dns_subdomain(node)):
        errors += invalids(f"{path}.nodeName", node, wrong)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and (wrong := names.in_range(deadline, 1, names.INT32_MAX)):
        errors += invalids(f"{path}.activeDeadlineSeconds", deadline, wrong)
    for field in ("hostname", "subdomain"):
        name = spec.get(field, "")
        if name and (wrong := names.dns_label(name)):
            errors += invalids(f"{path}.{field}", name, wrong)


def _scheduling(errors: Errors, path: str, spec: Json) -> None:
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        _host_alias(errors, f"{path}.hostAliases[{index}]", alias)
    for field in ("priorityClassName", "runtimeClassName"):
        name = spec.get(field)
        if name is not None and (name or field == "runtimeClassName") and (wrong := names.dns_subdomain(name)):
            errors += invalids(f"{path}.{field}", name, wrong)
    policy = spec.get("preemptionPolicy")
    if policy is not None and policy not in PREEMPTION_POLICIES:
        place = f"{path}.preemptionPolicy"
        errors.append(not_supported(place, policy, PREEMPTION_POLICIES) if policy else required(place))
    if overhead := spec.get("overhead"):
        requirements(errors, f"{path}.overhead", {"limits": overhead}, container_resource_name, ())


def _host_alias(errors: Errors, path: str, alias: Json) -> None:
    address = alias.get("ip", "")
    if wrong := addresses.legacy_ip(address):
        errors += invalids(f"{path}.ip", address, wrong)
    for index, name in enumerate(alias.get("hostnames") or ()):
        if wrong := names.dns_subdomain(name):
            errors += invalids(f"{path}.hostnames[{index}]", name, wrong)


def _env_files(errors: Errors, path: str, spec: Json) -> None:
    """A variable read from a file names an empty directory of the pod."""
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            for number, variable in enumerate(container.get("env") or ()):
                source = variable.get("valueFrom")
                if source is None or "fileKeyRef" not in source:
                    continue
                name = source["fileKeyRef"].get("volumeName", "")
                place = f"{path}.{group}[{index}].env[{number}].valueFrom.fileKeyRef.volumeName"
                found = [volume for volume in spec.get("volumes") or () if volume.get("name", "") == name]
                if not found:
                    errors.append(not_found(place, name))
                elif "emptyDir" not in found[-1]:
                    errors.append(invalid(place, name, "referenced volume must be of type emptyDir"))
