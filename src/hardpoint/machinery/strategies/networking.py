"""What is unwise in an Ingress or a NetworkPolicy."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.addresses import cidr_warnings

Json = dict[str, Any]

CLASS_ANNOTATION = "kubernetes.io/ingress.class"
DIRECTIONS = (("ingress", "from"), ("egress", "to"))


def _warn_ingress(obj: Json) -> list[str]:
    if CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {}) and "ingressClassName" not in obj["spec"]:
        return [f"annotation \"{CLASS_ANNOTATION}\" is deprecated, please use 'spec.ingressClassName' instead"]
    return []


def _warn_policy(obj: Json, old: Json | None = None) -> list[str]:
    told: list[str] = []
    for direction, peers in DIRECTIONS:
        for index, rule in enumerate(obj["spec"].get(direction) or ()):
            for position, peer in enumerate(rule.get(peers) or ()):
                block = peer.get("ipBlock") or {}
                path = f"spec.{direction}[{index}].{peers}[{position}].ipBlock"
                told += cidr_warnings(f"{path}.cidr", block.get("cidr", ""))
                for number, part in enumerate(block.get("except") or ()):
                    told += cidr_warnings(f"{path}.except[{number}]", part)
    return told


WARN_CREATE = {"Ingress": _warn_ingress, "NetworkPolicy": _warn_policy}
WARN_UPDATE = {"NetworkPolicy": _warn_policy}
