"""Which users are nodes: `system:node:<name>` in the group `system:nodes`, and nobody else."""

from __future__ import annotations

from hardpoint.machinery.messages import User

PREFIX = "system:node:"
NODES = "system:nodes"


def node_of(user: User) -> str | None:
    """The name of the node this user is: None for everybody else, and "" for one that does not say which."""
    if not user.name.startswith(PREFIX) or NODES not in user.groups:
        return None
    return user.name.removeprefix(PREFIX)
