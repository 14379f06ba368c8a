"""What makes a Service invalid, and the entry for Endpoints and EndpointSlices, whose rules are in `endpoints`.

What is allocated (cluster IPs, node ports, the health check's port) is checked here only for its form; whether it is
free is the allocator's business.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
)
from hardpoint.machinery.validation import balancers, endpoints, rules, services_families
from hardpoint.machinery.validation.labelselectors import labels

Json = dict[str, Any]
Errors = list[FieldError]

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
AFFINITIES = ("ClientIP", "None")
TRAFFIC_POLICIES = ("Cluster", "Local")
DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
AFFINITY_SECONDS_MAX = 86400
HINTS = "service.kubernetes.io/topology-aware-hints"
TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
SOURCE_RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
LOAD_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"


def _on_create(obj: Json) -> Errors:
    errors: Errors = []
    _service(errors, obj, None)
    return errors


def _on_update(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    services_families.changes(errors, obj["spec"], old["spec"])
    new_class, old_class = obj["spec"].get("loadBalancerClass"), old["spec"].get("loadBalancerClass")
    if obj["spec"]["type"] == old["spec"].get("type") == "LoadBalancer":
        if new_class != old_class:
            errors.append(invalid("spec.loadBalancerClass", new_class, "may not change once set"))
        if new_class is not None:
            errors += invalids("spec.loadBalancerClass", new_class, names.qualified_name(new_class))
    if _needs_health_check(obj["spec"]) and _needs_health_check(old["spec"]):
        port = "healthCheckNodePort"
        if obj["spec"].get(port) != old["spec"].get(port):
            errors.append(forbidden(f"spec.{port}", rules.IMMUTABLE))
    _service(errors, obj, old)
    return errors


def _service(errors: Errors, obj: Json, old: Json | None) -> None:
    spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
    old_spec = old["spec"] if old else {}
    if (
        TOPOLOGY_MODE in annotations
        and annotations.get(HINTS, annotations[TOPOLOGY_MODE]) != annotations[TOPOLOGY_MODE]
    ):
        detail = f"must match annotations[{HINTS}] when both are specified"
        errors.append(invalid(at("metadata.annotations", key=TOPOLOGY_MODE), annotations[TOPOLOGY_MODE], detail))
    ports = spec.get("ports") or []
    is_headless = services_families.is_headless(spec)
    if not ports and not is_headless and spec["type"] != "ExternalName":
        errors.append(required("spec.ports"))
    _type_needs(errors, spec, is_headless=is_headless)
    _ports(errors, ports)
    if spec.get("selector"):
        labels(errors, "spec.selector", spec["selector"])
    _session_affinity(errors, spec)
    services_families.cluster_ips(errors, spec, old_spec)
    for index, ip in enumerate(spec.get("externalIPs") or ()):
        place = at("spec.externalIPs", index)
        if ip not in (old_spec.get("externalIPs") or ()) and (wrong := addresses.legacy_ip(ip)):
            errors += invalids(place, ip, wrong)
        else:
            errors += endpoints.endpoint_ip(place, ip)
    errors += rules.choice("spec.type", spec["type"], TYPES)
    _port_numbers(errors, spec["type"], ports)
    _load_balancer(errors, obj, old)
    _traffic(errors, spec)


def _type_needs(errors: Errors, spec: Json, *, is_headless: bool) -> None:
    kind = spec["type"]
    if kind in ("LoadBalancer", "NodePort") and is_headless:
        errors.append(invalid("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services"))
    if kind != "ExternalName":
        return
    for field in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(field):
            errors.append(forbidden(f"spec.{field}", "may not be set for ExternalName services"))
    name = spec.get("externalName", "").removesuffix(".")
    if name:
        errors += invalids("spec.externalName", name, names.dns_subdomain(name))
    else:
        errors.append(required("spec.externalName"))


def _ports(errors: Errors, ports: list[Json]) -> None:
    seen = set()
    for index, port in enumerate(ports):
        path = at("spec.ports", index)
        name = port.get("name", "")
        if name:
            errors += invalids(f"{path}.name", name, names.dns_label(name))
            if name in seen:
                errors.append(duplicate(f"{path}.name", name))
            seen.add(name)
        elif len(ports) > 1:
            errors.append(required(f"{path}.name"))
        errors += invalids(f"{path}.port", port["port"], names.port_number(port["port"]))
        errors += rules.choice(f"{path}.protocol", port["protocol"], endpoints.PROTOCOLS)
        errors += port_or_name(f"{path}.targetPort", port["targetPort"])
        if "appProtocol" in port:
            errors += invalids(f"{path}.appProtocol", port["appProtocol"], names.qualified_name(port["appProtocol"]))


def port_or_name(path: str, value: int | str) -> Errors:
    rule = names.port_name(value) if isinstance(value, str) else names.port_number(value)
    return invalids(path, value, rule)


def _session_affinity(errors: Errors, spec: Json) -> None:
    affinity = spec["sessionAffinity"]
    errors += rules.choice("spec.sessionAffinity", affinity, AFFINITIES)
    if affinity != "ClientIP":
        return
    seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
    if not 0 < seconds <= AFFINITY_SECONDS_MAX:
        detail = f"must be greater than 0 and less than {AFFINITY_SECONDS_MAX}"
        errors.append(invalid("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, detail))


def _port_numbers(errors: Errors, kind: str, ports: list[Json]) -> None:
    if kind == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                detail = "may not be used when `type` is 'ClusterIP'"
                errors.append(forbidden(f"{at('spec.ports', index)}.nodePort", detail))
    node_ports, seen = set(), set()
    for index, port in enumerate(ports):
        number = port.get("nodePort", 0)
        if number and (port["protocol"], number) in node_ports:
            errors.append(duplicate(f"{at('spec.ports', index)}.nodePort", number))
        node_ports.add((port["protocol"], number))
    for index, port in enumerate(ports):
        key = (port["protocol"], port["port"])
        if key in seen:
            shown = rules.as_go_struct(
                Name="", Protocol=port["protocol"], AppProtocol=None, Port=port["port"], TargetPort=0, NodePort=0
            )
            errors.append(FieldError("FieldValueDuplicate", at("spec.ports", index), shown, ""))
        seen.add(key)


def _load_balancer(errors: Errors, obj: Json, old: Json | None) -> None:
    spec = obj["spec"]
    is_balancer = spec["type"] == "LoadBalancer"
    annotation = (obj["metadata"].get("annotations") or {}).get(SOURCE_RANGES)
    if ranges := spec.get("loadBalancerSourceRanges"):
        path = "spec.LoadBalancerSourceRanges"
        if not is_balancer:
            errors.append(forbidden(path, LOAD_BALANCER_ONLY))
        old_ranges = (old["spec"].get("loadBalancerSourceRanges") if old else None) or ()
        before = {value.strip() for value in old_ranges}
        for index, value in enumerate(ranges):
            if value.strip() not in before:
                errors += invalids(at(path, index), value.strip(), addresses.legacy_cidr(value.strip()))
    elif annotation is not None:
        path = at("metadata.annotations", key=SOURCE_RANGES)
        if not is_balancer:
            errors.append(forbidden(path, LOAD_BALANCER_ONLY))
        if old is None or (old["metadata"].get("annotations") or {}).get(SOURCE_RANGES) != annotation:
            for value in annotation.strip().split(",") if annotation.strip() else ():
                errors += invalids(path, value.strip(), addresses.legacy_cidr(value.strip()))
    if "allocateLoadBalancerNodePorts" in spec and not is_balancer:
        errors.append(forbidden("spec.allocateLoadBalancerNodePorts", LOAD_BALANCER_ONLY))
    balancer_class = spec.get("loadBalancerClass")
    if balancer_class is not None and is_balancer:
        errors += invalids("spec.loadBalancerClass", balancer_class, names.qualified_name(balancer_class))
    elif balancer_class is not None:
        errors.append(forbidden("spec.loadBalancerClass", LOAD_BALANCER_ONLY))


def is_externally_accessible(spec: Json) -> bool:
    if spec.get("type") in ("LoadBalancer", "NodePort"):
        return True
    return spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs"))


def _needs_health_check(spec: Json) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _traffic(errors: Errors, spec: Json) -> None:
    external = spec.get("externalTrafficPolicy", "")
    path = "spec.externalTrafficPolicy"
    if is_externally_accessible(spec):
        errors += rules.required_choice(path, external, TRAFFIC_POLICIES)
    elif external:
        errors.append(invalid(path, external, "may only be set for externally-accessible services"))
    health = spec.get("healthCheckNodePort", 0)
    if health and not _needs_health_check(spec):
        detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        errors.append(invalid("spec.healthCheckNodePort", health, detail))
    elif health:
        errors += invalids("spec.healthCheckNodePort", health, names.port_number(health))
    if "internalTrafficPolicy" in spec:
        errors += rules.choice("spec.internalTrafficPolicy", spec["internalTrafficPolicy"], TRAFFIC_POLICIES)
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in DISTRIBUTIONS:
        errors.append(not_supported("spec.trafficDistribution", distribution, DISTRIBUTIONS))


CREATE = {"Service": _on_create, **endpoints.CREATE}
UPDATE = {"Service": _on_update, **endpoints.UPDATE}
SUBRESOURCES = {"Service": {"status": balancers.of_service}}
