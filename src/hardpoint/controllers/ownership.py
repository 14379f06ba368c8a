"""Who owns whom: a graph of everything seen, by uid, and what to look at when it changes.

Pure bookkeeping: nothing here asks a server. An owner that was referred to but not seen is known by its dependents
only; whether it exists is for the garbage collector to find out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hardpoint.client.resources import Resource

Json = dict[str, Any]

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"


@dataclass(frozen=True, slots=True)
class Reference:
    """What an object says of one of its owners."""

    uid: str
    api_version: str
    kind: str
    name: str
    blocks: bool
    """Whether an owner that goes in the foreground waits for this object."""

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Node:
    """An object, as far as ownership goes."""

    resource: Resource
    namespace: str
    name: str
    uid: str
    owners: tuple[Reference, ...]
    is_going: bool
    is_orphaning: bool
    """It goes once its dependents have forgotten it."""
    is_waiting: bool
    """It goes once those of its dependents are gone that block it."""

    def __str__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.resource.kind} {place}"


def node_of(resource: Resource, metadata: Json) -> Node:
    """The node of an object, from its metadata."""
    finalizers = metadata.get("finalizers") or ()
    is_going = bool(metadata.get("deletionTimestamp"))
    return Node(
        resource=resource,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        uid=metadata["uid"],
        owners=tuple(references(metadata)),
        is_going=is_going,
        is_orphaning=is_going and ORPHAN in finalizers,
        is_waiting=is_going and FOREGROUND in finalizers,
    )


def references(metadata: Json) -> Iterator[Reference]:
    """An object's owners, as its metadata names them. What a careless server left out is empty and found nowhere."""
    for owner in metadata.get("ownerReferences") or ():
        blocks = bool(owner.get("blockOwnerDeletion"))
        uid, api_version = owner.get("uid", ""), owner.get("apiVersion", "")
        yield Reference(uid, api_version, owner.get("kind", ""), owner.get("name", ""), blocks)


class Graph:
    """Everything seen. Each change returns the uids of those that have to be looked at because of it."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {}
        self._dependents: dict[str, set[str]] = {}

    def __len__(self) -> int:
        return len(self._nodes)

    def get(self, uid: str) -> Node | None:
        return self._nodes.get(uid)

    def dependents(self, uid: str) -> list[Node]:
        """Those that refer to `uid` as an owner, wherever they are."""
        return [self._nodes[dependent] for dependent in self._dependents.get(uid, ())]

    def is_blocked(self, node: Node) -> bool:
        """Whether `node`, going in the foreground, has to wait for a dependent; it does not wait for itself."""
        others = (self._nodes[uid] for uid in self._dependents.get(node.uid, ()) if uid != node.uid)
        return any(owner.uid == node.uid and owner.blocks for other in others for owner in other.owners)

    def has_owner(self, dependent: Node, owner: Reference) -> bool:
        """Whether an owner has been seen, is what the reference says, and may own this dependent."""
        seen = self._nodes.get(owner.uid)
        if seen is None or seen.namespace not in ("", dependent.namespace):
            return False
        group = seen.resource.api_version.rpartition("/")[0]
        return (group, seen.resource.kind, seen.name) == (owner.group, owner.kind, owner.name)

    def is_settled(self, node: Node) -> bool:
        """Whether all it refers to has been seen and does not go in the foreground: nothing is to be done then."""
        return all(self.has_owner(node, owner) and not self._is_waiting(owner.uid) for owner in node.owners)

    def put(self, node: Node) -> set[str]:
        """An object was added or modified."""
        before = self._nodes.get(node.uid)
        self._nodes[node.uid] = node
        old = before.owners if before is not None else ()
        looks: set[str] = set()
        if node.owners != old:
            self._link(node, old)
            still_blocked = {owner.uid for owner in node.owners if owner.blocks}
            looks.update(self._waiting(owner.uid for owner in old if owner.uid not in still_blocked))
            if not self.is_settled(node):
                looks.add(node.uid)
        if node.is_orphaning and not (before is not None and before.is_orphaning):
            looks.add(node.uid)
        if node.is_waiting and not (before is not None and before.is_waiting):
            looks.add(node.uid)
            looks.update(self._dependents.get(node.uid, ()))
        return looks

    def remove(self, uid: str) -> set[str]:
        """An object is gone."""
        node = self._nodes.pop(uid, None)
        if node is None:
            return set()
        self._unlink(uid, node.owners)
        return {*self._dependents.get(uid, ()), *self._waiting(owner.uid for owner in node.owners)}

    def forget(self, resource: Resource) -> None:
        """A resource is no longer followed. That says nothing of what its objects own."""
        for node in [node for node in self._nodes.values() if node.resource == resource]:
            del self._nodes[node.uid]
            self._unlink(node.uid, node.owners)

    def _link(self, node: Node, old: tuple[Reference, ...]) -> None:
        self._unlink(node.uid, old)
        for owner in node.owners:
            self._dependents.setdefault(owner.uid, set()).add(node.uid)

    def _unlink(self, uid: str, owners: tuple[Reference, ...]) -> None:
        for owner in owners:
            dependents = self._dependents.get(owner.uid)
            if dependents is not None:
                dependents.discard(uid)
                if not dependents:
                    del self._dependents[owner.uid]

    def _waiting(self, uids: Iterable[str]) -> Iterator[str]:
        return (uid for uid in uids if self._is_waiting(uid))

    def _is_waiting(self, uid: str) -> bool:
        node = self._nodes.get(uid)
        return node is not None and node.is_waiting
