"""What a node may do to pods: mirror its own, end its own, and say how they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Reader
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.machinery import errors, references
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.validation.podspec_annotations import MIRROR

Json = dict[str, Any]

# Volumes that need nothing of the API, and those that do with what they need.
# fmt: off
_FREE_VOLUMES = frozenset({
    "awsElasticBlockStore", "azureDisk", "cephfs", "cinder", "downwardAPI", "emptyDir", "fc", "flexVolume", "flocker",
    "gcePersistentDisk", "gitRepo", "hostPath", "image", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume",
    "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
})
# fmt: on
_NEEDY_VOLUMES: Mapping[str, str] = {
    "azureFile": "secrets (via azureFile volumes)",
    "configMap": "configmaps (via configmap volumes)",
    "csi": "csidrivers (via CSI volumes)",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "secret": "secrets (via secret volumes)",
}
_NEEDY_SOURCES: Mapping[str, str] = {
    "clusterTrustBundle": "clustertrustbundles",
    "configMap": "configmaps (via projected volumes)",
    "podCertificate": "podcertificates",
    "secret": "secrets (via projected volumes)",
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
}
# Parts of a pod's status that are the scheduler's to write, because the node may read what they name.
_NOT_THE_NODES: Mapping[str, str] = {
    "resourceClaimStatuses": "resource claim statues",
    "extendedResourceClaimStatus": "extended resource claim status",
    "nodeAllocatableResourceClaimStatuses": "node allocatable resource claim statuses",
}


async def check(node: str, attributes: Attributes, reader: Reader) -> None:
    """Return if the node may write this about a pod. Raises 403 or 404."""
    part = attributes.subresource
    if part == "status":
        _status(node, attributes)
    elif part == "eviction":
        await _eviction(node, attributes, reader)
    elif part:
        allowed = "only 'status' and 'eviction' are allowed"
        raise refused(attributes, f"unexpected pod subresource {quote(part)}, {allowed}")
    elif attributes.operation == "CREATE":
        await _create(node, attributes, reader)
    elif attributes.operation == "DELETE":
        if _node_of(attributes.old or {}) != node:
            raise refused(attributes, f"node {quote(node)} can only delete pods with spec.nodeName set to itself")
    else:
        operation = quote(attributes.operation)
        told = f"unexpected operation {operation}, node {quote(node)} can only create and delete mirror pods"
        raise refused(attributes, told)


def _node_of(pod: Json) -> str:
    name: str = (pod.get("spec") or {}).get("nodeName", "")
    return name


async def _create(node: str, attributes: Attributes, reader: Reader) -> None:
    pod = attributes.object
    assert pod is not None, "a create has an object"
    who = f"node {quote(node)}"
    if MIRROR not in (pod["metadata"].get("annotations") or {}):
        told = f"pod does not have {quote(MIRROR)} annotation, {who} can only create mirror pods"
        raise refused(attributes, told)
    if _node_of(pod) != node:
        raise refused(attributes, f"{who} can only create pods with spec.nodeName set to itself")
    await _check_owner(node, attributes, pod["metadata"].get("ownerReferences") or [], reader)
    if needed := next(_needs(attributes, pod), ""):
        raise refused(attributes, f"{who} can not create pods that reference {needed}")


async def _check_owner(node: str, attributes: Attributes, owners: list[Json], reader: Reader) -> None:
    """A mirror pod belongs to its node, so that it goes when the node does."""
    who = f"node {quote(node)}"
    if len(owners) > 1:
        raise refused(attributes, f"{who} can only create pods with a single owner reference set to itself")
    owner = owners[0] if owners else {}
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        raise refused(attributes, f"{who} can only create pods with an owner reference set to itself")
    if not owner.get("controller"):
        raise refused(attributes, f"{who} can only create pods with a controller owner reference set to itself")
    if owner.get("blockOwnerDeletion"):
        raise refused(attributes, f"{who} must not set blockOwnerDeletion on an owner reference")
    found = await reader.get("", "nodes", "", node)
    if found is None:
        raise errors.not_found("node", node)
    said, uid = owner.get("uid", ""), found["metadata"]["uid"]
    if said != uid:
        raise refused(attributes, f"node {node} UID mismatch: expected {said} got {uid}")


def _needs(attributes: Attributes, pod: Json) -> Iterator[str]:
    """What a pod would give its node access to."""
    spec = pod["spec"]
    named = {resource for resource, _ in references.of_pod(pod)}
    yield from (each for each in (references.ACCOUNTS, references.SECRETS, references.CONFIG_MAPS) if each in named)
    if spec.get("resourceClaims"):
        yield references.RESOURCE_CLAIMS
    for volume in spec.get("volumes") or ():
        yield from _volume_needs(attributes, volume)


def _volume_needs(attributes: Attributes, volume: Json) -> Iterator[str]:
    kinds = volume.keys() - {"name"} - _FREE_VOLUMES
    yield from (_NEEDY_VOLUMES[kind] for kind in sorted(kinds) if kind in _NEEDY_VOLUMES)
    unknown = "error checking mirror pod for API references: unknown"
    if kinds - _NEEDY_VOLUMES.keys() - {"projected"} or len(volume) < 2:
        raise refused(attributes, f"{unknown} volume type for volume  {quote(volume.get('name', ''))}")
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield from (_NEEDY_SOURCES[kind] for kind in source if kind in _NEEDY_SOURCES)
        if source.keys() != {"downwardAPI"}:
            raise refused(attributes, f"{unknown} source for projected volume {quote(volume['name'])}")


def _status(node: str, attributes: Attributes) -> None:
    who, new, old = f"node {quote(node)}", attributes.object, attributes.old
    if attributes.operation != "UPDATE" or new is None or old is None:
        raise refused(attributes, f"unexpected operation {quote(attributes.operation)}")
    if _node_of(old) != node:
        only = "can only update pod status for pods with spec.nodeName set to itself"
        raise refused(attributes, f"{who} {only}")
    if (new["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
        raise refused(attributes, f"{who} cannot update labels through pod status")
    for field, told in _NOT_THE_NODES.items():
        if (new.get("status") or {}).get(field) != (old.get("status") or {}).get(field):
            raise refused(attributes, f"{who} cannot update {told}")


async def _eviction(node: str, attributes: Attributes, reader: Reader) -> None:
    if attributes.operation != "CREATE":
        raise refused(attributes, f"unexpected operation {attributes.operation}")
    pod = await reader.get("", "pods", attributes.namespace, attributes.name)
    if pod is None:
        raise errors.not_found("pod", attributes.name)
    if _node_of(pod) != node:
        raise refused(attributes, f"node {node} can only evict pods with spec.nodeName set to itself")
