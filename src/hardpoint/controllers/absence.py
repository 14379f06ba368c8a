"""When an object counts as absent: not when something else could not be found on the way to it."""

from __future__ import annotations

from hardpoint.controllers.ownership import Node, Reference
from hardpoint.machinery.errors import ApiError

REMEMBERED_MAX = 500


def object_is_absent(refused: ApiError, name: str) -> bool:
    """Whether the server said that it has no such object.

    A path that is not served is also a 404, but names nothing: a definition may have gone, or a server be starting.
    """
    return refused.code == 404 and (refused.details or {}).get("name") == name


class Absent:
    """The owners last found absent or seen to go, so that each of many dependents need not ask.

    Nothing has to be forgotten, for a uid never comes back; only the newest are kept.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], None] = {}

    def add(self, owner: Reference, namespace: str) -> None:
        """Nobody in this namespace has such an owner; "" is for owners of kinds without namespaces."""
        self._remember(owner.uid, owner.api_version, owner.kind, owner.name, namespace)

    def add_gone(self, node: Node) -> None:
        """Whoever named this object as it was is without that owner."""
        self._remember(node.uid, node.resource.api_version, node.resource.kind, node.name, node.namespace)

    def holds(self, owner: Reference, namespace: str) -> bool:
        """Whether `owner` is known to be absent for a dependent in `namespace`."""
        named = (owner.uid, owner.api_version, owner.kind, owner.name)
        return (*named, namespace) in self._known or (*named, "") in self._known

    def _remember(self, *owner: str) -> None:
        self._known[owner] = None
        if len(self._known) > REMEMBERED_MAX:
            del self._known[next(iter(self._known))]
