"""What an authenticator is.

There are two kinds: those that look at a whole request (its client certificate, a front proxy's headers) and those
that look at a bearer token (`TokenAuthenticator` of the authentication seam). `chain.py` asks them in
kube-apiserver's order.
"""

from __future__ import annotations

from typing import Protocol

from hardpoint.machinery.messages import Request, User

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"


class RequestAuthenticator(Protocol):
    """Knows users by something a request brings besides a bearer token. Calls overlap."""

    async def authenticate(self, request: Request) -> User | None:
        """The user; None if the request brings nothing of this kind. Raises RefusedCredential."""
        ...
