"""What an admission plugin is: it may change an object before validation, and may refuse it after.

In-tree plugins are a file each in this folder, in the order kube-apiserver runs them; see `plugins.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import User

Json = dict[str, Any]
Operation = Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]


@dataclass(slots=True)
class Attributes:
    """One write on its way to the store. A mutating plugin changes `object` in place."""

    kind: Kind
    operation: Operation
    namespace: str
    name: str
    """Empty on create with generateName."""
    object: Json | None
    """None on DELETE."""
    old: Json | None
    user: User
    subresource: str = ""
    dry_run: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    """Added to the answer as Warning headers."""


class Reader(Protocol):
    """What plugins may read of the cluster: the newest state, straight from the store."""

    async def get(self, group: str, plural: str, namespace: str, name: str) -> Json | None: ...

    async def list(self, group: str, plural: str, namespace: str = "") -> Sequence[Json]: ...


class Mutates(Protocol):
    """A plugin's first chance: change the object, or raise errors.forbidden(...)."""

    async def mutate(self, attributes: Attributes, reader: Reader) -> None: ...


class Validates(Protocol):
    """A plugin's second chance, when the object is final: return, or raise errors.forbidden(...)."""

    async def validate(self, attributes: Attributes, reader: Reader) -> None: ...


P = TypeVar("P", covariant=True)


class Asked(Generic[P]):
    """A plugin, and the resources it has to do with: `pods`, `ingresses.networking.k8s.io`; None are all.

    Most plugins know one kind, and most writes are of another: those are not worth a call.
    """

    def __init__(self, plugin: P, resources: Set[str] | None = None) -> None:
        self.plugin = plugin
        self._resources = resources

    def about(self, resource: str) -> bool:
        """Whether it is asked about a resource."""
        return self._resources is None or resource in self._resources
