"""Defaults of what leads to pods by name or address: Service, Endpoints, EndpointSlice.

Cluster IPs, IP families and node ports are allocated by the API server, not defaulted here.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

CLIENT_IP_TIMEOUT_SECONDS = 10800
IN_CLUSTER_TYPES = frozenset({"ClusterIP", "NodePort", "LoadBalancer"})


def _service(obj: Json) -> None:
    spec = obj["spec"]
    _session_affinity(spec)
    if not spec.get("type"):
        spec["type"] = "ClusterIP"
    for port in spec.get("ports", ()):
        _service_port(port)
    if not spec.get("externalTrafficPolicy") and _is_externally_accessible(spec):
        spec["externalTrafficPolicy"] = "Cluster"
    if spec["type"] in IN_CLUSTER_TYPES:
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in obj.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def _session_affinity(spec: Json) -> None:
    if not spec.get("sessionAffinity"):
        spec["sessionAffinity"] = "None"
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    if spec["sessionAffinity"] == "ClientIP":
        client_ip = spec.get("sessionAffinityConfig", {}).get("clientIP", {})
        if "timeoutSeconds" not in client_ip:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": CLIENT_IP_TIMEOUT_SECONDS}}


def _service_port(port: Json) -> None:
    if not port.get("protocol"):
        port["protocol"] = "TCP"
    if not port.get("targetPort"):
        port["targetPort"] = port["port"]


def _is_externally_accessible(spec: Json) -> bool:
    if spec["type"] in ("LoadBalancer", "NodePort"):
        return True
    return spec["type"] == "ClusterIP" and bool(spec.get("externalIPs"))


def _endpoints(obj: Json) -> None:
    for subset in obj.get("subsets", ()):
        for port in subset.get("ports", ()):
            if not port.get("protocol"):
                port["protocol"] = "TCP"


def _endpoint_slice(obj: Json) -> None:
    for port in obj.get("ports") or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


DEFAULTS = {"Service": _service, "Endpoints": _endpoints, "EndpointSlice": _endpoint_slice}
