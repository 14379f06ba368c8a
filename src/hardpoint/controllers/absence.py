"""When an object counts as absent: not when something else could not be found on the way to it."""

from __future__ import annotations

from hardpoint.controllers.ownership import Reference
from hardpoint.machinery.errors import ApiError

REMEMBERED_MAX = 500


def object_is_absent(refused: ApiError, name: str) -> bool:
    """Whether the server said that it has no such object.

    A path that is not served is also a 404, but names nothing: a definition may have gone, or a server be starting.
    """
    return refused.code == 404 and (refused.details or {}).get("name") == name


class Absent:
    """The owners last found absent, so that each of many dependents need not ask. A uid never comes back."""

    def __init__(self) -> None:
        self._known: dict[tuple[Reference, str], None] = {}

    def add(self, owner: Reference, namespace: str) -> None:
        self._known[owner, namespace] = None
        if len(self._known) > REMEMBERED_MAX:
            del self._known[next(iter(self._known))]

    def holds(self, owner: Reference, namespace: str) -> bool:
        return (owner, namespace) in self._known
