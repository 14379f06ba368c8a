"""What both sides of the authentication seam promise: somebody is asked whose bearer token it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hardpoint.machinery.messages import User


class Identified(NamedTuple):
    """Whose token it is, and for which of the audiences that were asked for it is good."""

    user: User
    audiences: tuple[str, ...] = ()


class RefusedCredential(Exception):
    """A credential of the right kind that is not good. The text is for the log and never holds the credential."""


class TokenAuthenticator(Protocol):
    """Knows one kind of bearer token. Calls overlap."""

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified | None:
        """Whose token this is; None if it is not of this kind. Raises RefusedCredential if it is, and is not good."""
        ...
