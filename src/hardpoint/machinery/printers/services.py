"""The rows of services, of the endpoints behind them, and of the rest of networking."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from hardpoint.machinery import selectors
from hardpoint.machinery.printers.cells import (
    NONE,
    UNKNOWN,
    UNSET,
    Cells,
    Json,
    age,
    annotation,
    at,
    name,
    pairs,
    shortened,
)

_SHOWN_MAX = 3
_DEFAULT_INGRESS_CLASS = "ingressclass.kubernetes.io/is-default-class"


def service(obj: Json, now: datetime) -> Cells:
    addresses = at(obj, "spec.clusterIPs", ())
    return [
        name(obj),
        at(obj, "spec.type", ""),
        addresses[0] if addresses else NONE,
        _external_address(obj),
        _service_ports(at(obj, "spec.ports", ())) or NONE,
        age(obj, now),
        pairs(at(obj, "spec.selector")),
    ]


def _external_address(obj: Json) -> str:
    kind = at(obj, "spec.type")
    external = list(at(obj, "spec.externalIPs", ()))
    if kind in ("ClusterIP", "NodePort"):
        return ",".join(external) or NONE
    if kind == "LoadBalancer":
        balanced = _balanced(obj)
        return ",".join(([balanced] if balanced else []) + external) or "<pending>"
    return at(obj, "spec.externalName", "") if kind == "ExternalName" else UNKNOWN


def _balanced(obj: Json) -> str:
    """Where a load balancer listens."""
    ingress = at(obj, "status.loadBalancer.ingress", ())
    found = {each.get("ip") or each.get("hostname") for each in ingress}
    return ",".join(sorted(each for each in found if each))


def _service_ports(ports: Sequence[Json]) -> str:
    return ",".join(_service_port(port) for port in ports)


def _service_port(port: Json) -> str:
    outside = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port', 0)}{outside}/{port.get('protocol', '')}"


def endpoints(obj: Json, now: datetime) -> Cells:
    subsets = obj.get("subsets")
    if not subsets:
        return [name(obj), NONE, age(obj, now)]
    shown = [text for subset in subsets for text in _subset(subset)]
    return [name(obj), shortened(shown, len(shown), _SHOWN_MAX), age(obj, now)]


def _subset(subset: Json) -> list[str]:
    addresses = [each.get("ip", "") for each in subset.get("addresses") or ()]
    ports = subset.get("ports")
    if not ports:
        return addresses
    return [_joined(address, port.get("port", 0)) for port in ports for address in addresses]


def _joined(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def endpoint_slice(obj: Json, now: datetime) -> Cells:
    ports = [_slice_port(port) for port in obj.get("ports") or ()]
    addresses = [address for each in obj.get("endpoints") or () for address in each.get("addresses") or ()]
    return [
        name(obj),
        obj.get("addressType", ""),
        shortened(ports, len(ports), _SHOWN_MAX) or UNSET,
        shortened(addresses, len(addresses), _SHOWN_MAX) or UNSET,
        age(obj, now),
    ]


def _slice_port(port: Json) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    return "*" if port.get("name") is None else str(port["name"])


def ingress(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        at(obj, "spec.ingressClassName", NONE),
        _hosts(at(obj, "spec.rules", ())),
        _balanced(obj),
        "80, 443" if at(obj, "spec.tls") else "80",
        age(obj, now),
    ]


def _hosts(rules: Sequence[Json]) -> str:
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == _SHOWN_MAX:
            # Upstream counts rules here, with or without a host.
            return f"{','.join(hosts)} + {len(rules) - _SHOWN_MAX} more..."
        if rule.get("host"):
            hosts.append(rule["host"])
    return ",".join(hosts) or "*"


def ingress_class(obj: Json, now: datetime) -> Cells:
    is_default = annotation(obj, _DEFAULT_INGRESS_CLASS) == "true"
    return [
        f"{name(obj)} (default)" if is_default else name(obj),
        at(obj, "spec.controller", ""),
        _parameters(at(obj, "spec.parameters")),
        age(obj, now),
    ]


def _parameters(reference: Json | None) -> str:
    if reference is None:
        return NONE
    group = reference.get("apiGroup")
    kind = reference.get("kind", "") if group is None else f"{reference.get('kind', '')}.{group}"
    return f"{kind}/{reference.get('name', '')}"


def network_policy(obj: Json, now: datetime) -> Cells:
    return [name(obj), selectors.printed(at(obj, "spec.podSelector", {})), age(obj, now)]


def service_cidr(obj: Json, now: datetime) -> Cells:
    return [name(obj), ",".join(at(obj, "spec.cidrs", ())), age(obj, now)]


def ip_address(obj: Json, now: datetime) -> Cells:
    """One cell more than there are columns, as upstream has it."""
    return [name(obj), _parent(at(obj, "spec.parentRef")), age(obj, now)]


def _parent(reference: Json | None) -> str:
    if reference is None:
        return NONE
    group = reference.get("group")
    resource = f"{reference.get('resource', '')}.{group}" if group else reference.get("resource", "")
    parts = (resource.lower(), reference.get("namespace"), reference.get("name", ""))
    return "/".join(part for part in parts if part)
