"""A node writes only what is its own: its Node object, its pods' status, its lease, its certificates and tokens.

The node authorizer decides by names; this plugin looks at what is written. It is what keeps a node that somebody took
over from drawing other pods to itself, or reading what they may read. Rules and texts are those of kube-apiserver's
plugin of the same name; what concerns pods and credentials is in files of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from hardpoint.apiserver.admission import node_restriction_pods as pods
from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader
from hardpoint.apiserver.admission.node_restriction_credentials import Credentials
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.apiserver.authorization.contract import Authorizer
from hardpoint.apiserver.authorization.node import LEASES
from hardpoint.apiserver.authorization.node_identity import node_of
from hardpoint.machinery.fielderrors import quote

Json = dict[str, Any]
Check = Callable[[str, Attributes, Reader], Awaitable[None]]
"""Returns if the node may write this, else raises."""

# What a kubelet may say about its own node, of all that is Kubernetes' own to say.
OWN_LABELS = frozenset(
    {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
OWN_LABEL_DOMAINS = ("kubelet.kubernetes.io", "node.kubernetes.io")
KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")
RESTRICTED_DOMAIN = "node-restriction.kubernetes.io"

_CLAIM_STATUS = ("allocatedResourceStatuses", "allocatedResources", "capacity", "conditions")


class NodeRestriction:
    """Asks `authorizer` where a node may have been granted more than its pods need."""

    def __init__(self, authorizer: Authorizer) -> None:
        credentials = Credentials(authorizer)
        self._checks: Mapping[str, Check] = {
            "pods": pods.check,
            "nodes": _node,
            "persistentvolumeclaims": _claim,
            "serviceaccounts": credentials.check_token,
            "certificatesigningrequests.certificates.k8s.io": credentials.check_signing_request,
            "podcertificaterequests.certificates.k8s.io": credentials.check_pod_certificate,
            "leases.coordination.k8s.io": _lease,
            "csinodes.storage.k8s.io": _csi_node,
            "resourceslices.resource.k8s.io": _slice,
        }

    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        """Refuse before anything else is asked, as upstream does; nothing is changed."""
        node = node_of(attributes.user)
        if node is None or attributes.operation == "CONNECT":
            return
        if not node:
            raise refused(attributes, f"could not determine node from user {quote(attributes.user.name)}")
        check = self._checks.get(attributes.kind.resource)
        if check is not None:
            await check(node, attributes, reader)


async def _node(node: str, attributes: Attributes, _: Reader) -> None:
    who = f"node {quote(node)}"
    if attributes.name != node:
        raise refused(attributes, f"{who} is not allowed to modify node {quote(attributes.name)}")
    obj, old = attributes.object, attributes.old
    if obj is None:
        return
    spec = obj.get("spec") or {}
    if attributes.operation == "CREATE":
        if "configSource" in spec:
            raise refused(attributes, f"{who} is not allowed to create pods with a non-nil configSource")
        if labels := forbidden_labels(_labels(obj), {}):
            raise refused(attributes, f"{who} is not allowed to set the following labels: {', '.join(labels)}")
        return
    assert old is not None, "an update has something to update"
    before = old.get("spec") or {}
    if "configSource" in spec and spec["configSource"] != before.get("configSource"):
        raise refused(attributes, f"{who} is not allowed to update configSource to a new non-nil configSource")
    if (spec.get("taints") or []) != (before.get("taints") or []):
        raise refused(attributes, f"{who} is not allowed to modify taints")
    if _owners(obj) != _owners(old):
        raise refused(attributes, f"{who} is not allowed to modify ownerReferences")
    if labels := forbidden_labels(_labels(obj), _labels(old)):
        raise refused(attributes, f"is not allowed to modify labels: {', '.join(labels)}")


def _labels(obj: Json) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def _owners(obj: Json) -> list[Json]:
    return obj["metadata"].get("ownerReferences") or []


def forbidden_labels(labels: Mapping[str, str], before: Mapping[str, str]) -> list[str]:
    """Which of the labels that differ a node may not change: they could draw pods to it that trust them."""
    changed = {key for key in labels.keys() | before.keys() if labels.get(key) != before.get(key)}
    return sorted(key for key in changed if not _is_free(key))


def _is_free(label: str) -> bool:
    domain, slash, _ = label.partition("/")
    if not slash:
        return True
    if _is_within(domain, (RESTRICTED_DOMAIN,)):
        return False
    if not _is_within(domain, KUBERNETES_DOMAINS):
        return True
    return label in OWN_LABELS or _is_within(domain, OWN_LABEL_DOMAINS)


def _is_within(domain: str, parents: tuple[str, ...]) -> bool:
    return any(domain == parent or domain.endswith(f".{parent}") for parent in parents)


async def _claim(node: str, attributes: Attributes, _: Reader) -> None:
    """How large a volume has become, and how growing it went."""
    if attributes.subresource != "status":
        raise refused(attributes, "may only update PVC status")
    if attributes.operation != "UPDATE" or attributes.object is None or attributes.old is None:
        raise refused(attributes, f"unexpected operation {quote(attributes.operation)}")
    different = _differences(_without_growth(attributes.object), _without_growth(attributes.old))
    if different:
        allowed = "is not allowed to update fields other than status.quantity and status.conditions"
        raise refused(attributes, f"node {quote(node)} {allowed}: {', '.join(different)}")


def _without_growth(claim: Json) -> Json:
    """A claim without what a node may change, and what changes by itself."""
    metadata = {
        name: value for name, value in claim["metadata"].items() if name not in ("resourceVersion", "managedFields")
    }
    status = {name: value for name, value in (claim.get("status") or {}).items() if name not in _CLAIM_STATUS}
    return {"metadata": metadata, "spec": claim.get("spec") or {}, "status": status}


def _differences(new: Json, old: Json) -> list[str]:
    """The fields, two levels deep, in which two objects differ."""
    return [
        f"{part}.{name}"
        for part in new
        for name in sorted(new[part].keys() | old[part].keys())
        if new[part].get(name) != old[part].get(name)
    ]


async def _lease(node: str, attributes: Attributes, _: Reader) -> None:
    if attributes.namespace != LEASES:
        raise refused(attributes, f"can only access leases in the {quote(LEASES)} system namespace")
    if attributes.name != node:
        raise refused(attributes, "can only access node lease with the same name as the requesting node")


async def _csi_node(node: str, attributes: Attributes, _: Reader) -> None:
    if attributes.name != node:
        raise refused(attributes, "can only access CSINode with the same name as the requesting node")
    if attributes.subresource == "status":
        raise refused(attributes, "CSIVolumeHealth feature gate is disabled")


async def _slice(node: str, attributes: Attributes, _: Reader) -> None:
    """What is new or goes must be its own; the authorizer knows whose the existing ones are."""
    seen = {"CREATE": attributes.object, "DELETE": attributes.old}.get(attributes.operation)
    if seen is not None and seen["spec"].get("nodeName") != node:
        verb = attributes.operation.lower()
        raise refused(attributes, f"can only {verb} ResourceSlice with the same NodeName as the requesting node")


_conforms: type[Mutates] = NodeRestriction
