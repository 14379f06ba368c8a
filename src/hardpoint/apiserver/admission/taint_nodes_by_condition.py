"""A new node is not ready until somebody has seen that it is, so nothing is scheduled to it before."""

from __future__ import annotations

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader

NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        if attributes.kind.resource != "nodes" or attributes.subresource or attributes.operation != "CREATE":
            return
        assert attributes.object is not None
        taints = attributes.object["spec"].setdefault("taints", [])
        if not any(NOT_READY.items() <= taint.items() for taint in taints):
            taints.append(dict(NOT_READY))


_conforms: type[Mutates] = TaintNodesByCondition
