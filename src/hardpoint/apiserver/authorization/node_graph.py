"""Which nodes have to do with an object, because of the pods that are bound to them.

    graph.set_pod(pod)
    graph.relates("secrets", "default", "password", to="node-1")

The relations lead from a node to its pods, from a pod to the objects it names, from a claim to its volume, and from a
volume to the Secrets that mount it. For what a pod names directly the nodes are counted, so that a question is one
look-up however many pods share a ConfigMap; volumes are few and followed when somebody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from hardpoint.machinery import references
from hardpoint.machinery.references import CLAIMS, SECRETS
from hardpoint.machinery.validation.podspec_annotations import MIRROR

Json = Mapping[str, Any]
Key = tuple[str, str, str]
"""Resource, namespace and name. Not joined to a text: in a URL each of them may hold any character."""

PODS, VOLUMES = "pods", "persistentvolumes"


class _Used:
    """An object that pods refer to, whether it exists or not."""

    __slots__ = ("key", "pods")

    def __init__(self, key: Key) -> None:
        self.key = key
        self.pods: dict[str, int] = {}
        """How many pods refer to it, by node."""


class _Bound(NamedTuple):
    """A pod on a node, and what it refers to."""

    node: str
    uses: tuple[_Used, ...]


class _Mounted(NamedTuple):
    """A volume that belongs to a claim, and the Secrets needed to mount it."""

    claim: Key
    secrets: frozenset[Key]


class NodeGraph:
    """Told of every object as it is now, in any order; forgets what it is told is gone."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._pods: dict[tuple[str, str], _Bound] = {}
        self._used: dict[Key, _Used] = {}
        self._volumes: dict[str, _Mounted] = {}
        self._volumes_by_secret: dict[Key, set[str]] = {}
        self._owned: dict[Key, str] = {}
        """The one node of each object that names its node itself."""

    def __len__(self) -> int:
        """How many pods are on nodes."""
        return len(self._pods)

    def has_pod(self, namespace: str, name: str) -> bool:
        """Whether this pod is on a node."""
        return (namespace, name) in self._pods

    def relates(self, resource: str, namespace: str, name: str, *, to: str) -> bool:
        """Whether a node has to do with an object."""
        if resource == PODS:
            pod = self._pods.get((namespace, name))
            return pod is not None and pod.node == to
        if resource == VOLUMES:
            return not namespace and self._mounts(name, to)
        key = (resource, namespace, name)
        if self._uses(key, to):
            return True
        if resource == SECRETS:
            return any(self._mounts(volume, to) for volume in self._volumes_by_secret.get(key, ()))
        return self._owned.get(key) == to

    def _uses(self, key: Key, node: str) -> bool:
        used = self._used.get(key)
        return used is not None and node in used.pods

    def _mounts(self, volume: str, node: str) -> bool:
        mounted = self._volumes.get(volume)
        return mounted is not None and self._uses(mounted.claim, node)

    def set_pod(self, pod: Json) -> None:
        metadata = pod["metadata"]
        namespace, name, node = metadata["namespace"], metadata["name"], pod["spec"].get("nodeName")
        if not node:
            self.remove_pod(namespace, name)
            return
        # A node makes its mirror pods itself: what those name must not be opened to it.
        is_mirror = MIRROR in (metadata.get("annotations") or ())
        named = set() if is_mirror else {(kind, namespace, other) for kind, other in references.of_pod(pod)}
        before = self._pods.get((namespace, name))
        if before is not None:
            if before.node == node and {used.key for used in before.uses} == named:
                return
            self.remove_pod(namespace, name)
        uses = tuple(self._used.get(key) or self._used.setdefault(key, _Used(key)) for key in named)
        self._pods[namespace, name] = _Bound(node, uses)
        for used in uses:
            used.pods[node] = used.pods.get(node, 0) + 1

    def remove_pod(self, namespace: str, name: str) -> None:
        bound = self._pods.pop((namespace, name), None)
        if bound is None:
            return
        for used in bound.uses:
            used.pods[bound.node] -= 1
            if not used.pods[bound.node]:
                del used.pods[bound.node]
            if not used.pods:
                del self._used[used.key]

    def set_volume(self, volume: Json) -> None:
        name, claim = volume["metadata"]["name"], volume["spec"].get("claimRef")
        self.remove_volume(name)
        if claim is None:
            return
        secrets = frozenset((SECRETS, namespace, secret) for namespace, secret in references.of_volume(volume))
        self._volumes[name] = _Mounted((CLAIMS, claim.get("namespace", ""), claim.get("name", "")), secrets)
        for secret in secrets:
            self._volumes_by_secret.setdefault(secret, set()).add(name)

    def remove_volume(self, name: str) -> None:
        mounted = self._volumes.pop(name, None)
        for secret in mounted.secrets if mounted is not None else ():
            volumes = self._volumes_by_secret[secret]
            volumes.discard(name)
            if not volumes:
                del self._volumes_by_secret[secret]

    def set_owner(self, resource: str, namespace: str, name: str, node: str) -> None:
        """An object that names its node itself; "" if it names none, or is gone."""
        if node:
            self._owned[resource, namespace, name] = node
        else:
            self._owned.pop((resource, namespace, name), None)
