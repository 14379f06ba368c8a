"""What an authenticator is.

There are two kinds: those that look at a whole request (its client certificate, a front proxy's headers) and those
that look at a bearer token. `chain.py` asks them in kube-apiserver's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from hardpoint.machinery.messages import Request, User

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"


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


class RequestAuthenticator(Protocol):
    """Knows users by something a request brings besides a bearer token. Calls overlap."""

    async def authenticate(self, request: Request) -> User | None:
        """The user; None if the request brings nothing of this kind. Raises RefusedCredential."""
        ...
