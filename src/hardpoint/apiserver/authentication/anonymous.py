"""Those who show no credential: everybody's `system:anonymous`, on all paths, on some, or on none.

What the anonymous user may do is the authorizer's decision; by default that is to ask for health and version.
"""

from __future__ import annotations

from typing import NamedTuple

from hardpoint.apiserver.authentication.contract import ANONYMOUS
from hardpoint.machinery.messages import Request, User


class Anonymous(NamedTuple):
    """Who may come without a credential. Without `paths` that is whoever asks for anything."""

    enabled: bool = True
    paths: frozenset[str] = frozenset()

    def identify(self, request: Request) -> User | None:
        if self.enabled and (not self.paths or request.path in self.paths):
            return ANONYMOUS
        return None
