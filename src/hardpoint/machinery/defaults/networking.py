"""Defaults of NetworkPolicy and IngressClass."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def _network_policy(obj: Json) -> None:
    spec = obj["spec"]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    for direction in ("ingress", "egress"):
        for rule in spec.get(direction, ()):
            for port in rule.get("ports", ()):
                port.setdefault("protocol", "TCP")


def _ingress_class(obj: Json) -> None:
    parameters = obj["spec"].get("parameters")
    # Go writes this pointer even when it is nil.
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


DEFAULTS = {"NetworkPolicy": _network_policy, "IngressClass": _ingress_class}
