"""What an authenticator is.

There are two kinds: those that look at what a request brings besides a token (its client certificate, a front proxy's
headers) and those that look at a bearer token (`TokenAuthenticator` of the authentication seam). `chain.py` asks them
in kube-apiserver's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hardpoint.machinery.messages import Request, User
from hardpoint.seams.authentication.contract import RefusedCredential

ANONYMOUS = User("system:anonymous", ("system:unauthenticated",))
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"
CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"
"""The extra of a user that says by which of their credentials they are known."""

INVALID = "invalid bearer token"
"""What is said of a token that nobody knows."""


class RequestAuthenticator(Protocol):
    """Knows users by something a request brings besides a bearer token. It must not wait."""

    def identify(self, request: Request) -> User | None:
        """The user; None if the request brings nothing of this kind. Raises RefusedCredential."""
        ...


class AllRefused(RefusedCredential):
    """Nobody knows a credential, and some say why. The reasons are for the log and for TokenReviews."""

    def __init__(self, reasons: Sequence[str]) -> None:
        self.reasons = tuple(dict.fromkeys(reasons))
        super().__init__(self.reasons[0] if len(self.reasons) == 1 else f"[{', '.join(self.reasons)}]")


_MEMBERS_MAX = 4096
_members: dict[int, tuple[User, User]] = {}
"""Whom a connection's certificate names, and the same as a member: made once a connection, not once a request."""


def authenticated(user: User) -> User:
    """The user as a member of those who proved who they are, unless they are said to be of the others."""
    known = _members.get(id(user))
    if known is not None:
        return known[1]
    if len(_members) >= _MEMBERS_MAX:
        _members.clear()
    # What is kept holds on to the user too, so that nobody else gets its id.
    _members[id(user)] = (user, _member(user))
    return _members[id(user)][1]


def _member(user: User) -> User:
    groups = user.groups
    if AUTHENTICATED in groups or UNAUTHENTICATED in groups or user.name == ANONYMOUS.name:
        return user
    return User(user.name, (*groups, AUTHENTICATED), user.uid, user.extra)
