"""A pod stays five minutes on a node that is not ready or cannot be reached, unless it says how long itself."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader

SECONDS = 300

_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class DefaultTolerationSeconds:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != "pods" or attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        given = spec.get("tolerations") or []
        tolerated = {
            toleration.get("key", "") for toleration in given if toleration.get("effect", "") in ("", "NoExecute")
        }
        if "" in tolerated:
            return
        added = [
            {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": SECONDS}
            for key in _TAINTS
            if key not in tolerated
        ]
        if added:
            spec["tolerations"] = [*given, *added]


_conforms: type[Mutates] = DefaultTolerationSeconds
