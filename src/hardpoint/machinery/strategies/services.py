"""How Services are completed from what they were, and what is unwise in them and in Endpoints."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import addresses
from hardpoint.machinery.fielderrors import at

Json = dict[str, Any]

HINTS = "service.kubernetes.io/topology-aware-hints"
TOPOLOGY_MODE = "service.kubernetes.io/topology-mode"
MANAGED_BY = "endpoints.kubernetes.io/managed-by"


def _create(obj: Json) -> None:
    spec = obj["spec"]
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    _drop_policy_of_names(spec)


def _update(obj: Json, old: Json) -> None:
    """A client that knows only some of the linked fields means the others to follow, or to stay."""
    spec, old_spec = obj["spec"], old["spec"]
    _keep_allocated(spec, old_spec)
    _follow_cluster_ip(spec, old_spec)
    _drop_what_the_type_lost(spec, old_spec)
    _drop_policy_of_names(spec)
    if spec.get("type") != "LoadBalancer":
        obj.setdefault("status", {})["loadBalancer"] = {}


def _follow_cluster_ip(spec: Json, old_spec: Json) -> None:
    ip, old_ip = spec.get("clusterIP", ""), old_spec.get("clusterIP", "")
    ips, old_ips = spec.get("clusterIPs") or [], old_spec.get("clusterIPs") or []
    if old_ips and not ips and ip == old_ip:
        spec["clusterIPs"] = list(old_ips)
    elif ip != old_ip and ips == old_ips:
        if ip:
            spec["clusterIPs"] = [ip]
        else:
            spec.pop("clusterIPs", None)


def _keep_allocated(spec: Json, old_spec: Json) -> None:
    if _needs_cluster_ip(spec) and _needs_cluster_ip(old_spec):
        for field in ("clusterIP", "clusterIPs"):
            if not spec.get(field) and old_spec.get(field):
                spec[field] = old_spec[field]
    if _needs_node_port(spec) and _needs_node_port(old_spec):
        ports, old_ports = spec.get("ports") or [], old_spec.get("ports") or []
        used = _node_ports(ports) & _node_ports(old_ports)
        known = {port.get("name", ""): port.get("nodePort", 0) for port in old_ports}
        for port in ports:
            before = known.get(port.get("name", ""), 0)
            if not port.get("nodePort") and before and before not in used:
                port["nodePort"] = before
    field = "healthCheckNodePort"
    if _needs_health_check(spec) and _needs_health_check(old_spec) and not spec.get(field) and old_spec.get(field):
        spec[field] = old_spec[field]


def _drop_what_the_type_lost(spec: Json, old_spec: Json) -> None:
    """Where the new type has no use for a field that the client left as it was."""
    if _needs_cluster_ip(old_spec) and not _needs_cluster_ip(spec):
        if all(spec.get(field) == old_spec.get(field) for field in ("clusterIP", "clusterIPs")):
            spec.pop("clusterIP", None)
            spec.pop("clusterIPs", None)
        for field in ("ipFamilies", "ipFamilyPolicy"):
            _drop_unchanged(spec, old_spec, field)
    ports = spec.get("ports") or []
    has_no_new_ports = _node_ports(ports) <= _node_ports(old_spec.get("ports") or [])
    if _needs_node_port(old_spec) and not _needs_node_port(spec) and has_no_new_ports:
        for port in ports:
            port.pop("nodePort", None)
    if _needs_health_check(old_spec) and not _needs_health_check(spec):
        _drop_unchanged(spec, old_spec, "healthCheckNodePort")
    if old_spec.get("type") == "LoadBalancer" and spec.get("type") != "LoadBalancer":
        for field in ("allocateLoadBalancerNodePorts", "loadBalancerClass"):
            _drop_unchanged(spec, old_spec, field)
    if _is_externally_accessible(old_spec) and not _is_externally_accessible(spec):
        _drop_unchanged(spec, old_spec, "externalTrafficPolicy")


def _drop_policy_of_names(spec: Json) -> None:
    """Nothing is routed to an external name."""
    if not _needs_cluster_ip(spec):
        spec.pop("internalTrafficPolicy", None)


def _drop_unchanged(spec: Json, old_spec: Json, field: str) -> None:
    if spec.get(field) == old_spec.get(field):
        spec.pop(field, None)


def _needs_cluster_ip(spec: Json) -> bool:
    return bool(spec.get("type") != "ExternalName")


def _needs_node_port(spec: Json) -> bool:
    return spec.get("type") in ("NodePort", "LoadBalancer")


def _needs_health_check(spec: Json) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _is_externally_accessible(spec: Json) -> bool:
    return _needs_node_port(spec) or (spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs")))


def _node_ports(ports: list[Json]) -> set[int]:
    return {port["nodePort"] for port in ports if port.get("nodePort")}


def _warn_service(obj: Json, old: Json | None = None) -> list[str]:
    spec = obj["spec"]
    told: list[str] = []
    if HINTS in (obj["metadata"].get("annotations") or {}):
        told.append(f"annotation {HINTS} is deprecated, please use {TOPOLOGY_MODE} instead")
    ips, external = spec.get("clusterIPs") or [], spec.get("externalIPs") or []
    is_headless = ips == ["None"]
    is_name = spec["type"] == "ExternalName"
    if not is_headless:
        for index, ip in enumerate(ips):
            told += addresses.ip_warnings(at("spec.clusterIPs", index), ip)
    else:
        told += _ignored_when_headless(spec)
    for index, ip in enumerate(external):
        told += addresses.ip_warnings(at("spec.externalIPs", index), ip)
    if external and not is_headless and not is_name:
        told.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if spec.get("loadBalancerIP"):
        told += addresses.ip_warnings("spec.loadBalancerIP", spec["loadBalancerIP"])
    for index, cidr in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        told += addresses.cidr_warnings(at("spec.loadBalancerSourceRanges", index), cidr)
    if is_name and external:
        told.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if not is_name and spec.get("externalName"):
        told.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        told.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return told


def _ignored_when_headless(spec: Json) -> list[str]:
    ignored = [field for field in ("loadBalancerIP", "externalIPs") if spec.get(field)]
    if spec.get("sessionAffinity") != "None":
        ignored.append("SessionAffinity")
    return [f"spec.{field} is ignored for headless services" for field in ignored]


def _warn_endpoints(obj: Json, old: Json | None = None) -> list[str]:
    if (obj["metadata"].get("labels") or {}).get(MANAGED_BY) == "endpoint-controller":
        return []
    told: list[str] = []
    for index, subset in enumerate(obj.get("subsets") or ()):
        for field in ("addresses", "notReadyAddresses"):
            for position, address in enumerate(subset.get(field) or ()):
                told += addresses.ip_warnings(f"subsets[{index}].{field}[{position}].ip", address.get("ip", ""))
    return told


def _slice(obj: Json, old: Json | None = None) -> None:
    """The old topology is not written by v1, but what is there stays as long as the endpoints do."""
    if old is None or old.get("endpoints") != obj["endpoints"]:
        for endpoint in obj["endpoints"] or ():
            endpoint.pop("deprecatedTopology", None)


def _warn_slice(obj: Json, old: Json | None = None) -> list[str]:
    if obj.get("addressType") == "FQDN" and (old is None or old.get("addressType") != "FQDN"):
        return ["spec.addressType: FQDN endpoints are deprecated"]
    return []


CREATE = {"Service": _create, "EndpointSlice": _slice}
UPDATE = {"Service": _update, "EndpointSlice": _slice}
WARN_CREATE = {"Service": _warn_service, "Endpoints": _warn_endpoints, "EndpointSlice": _warn_slice}
WARN_UPDATE = WARN_CREATE
