"""The authenticators in their order: the first who knows the user decides."""

from __future__ import annotations

from hardpoint.apiserver.authentication.contract import ANONYMOUS, AUTHENTICATED
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, User


class Authentication:
    """Says who is behind a request."""

    async def authenticate(self, request: Request) -> User:
        """The user behind a request. Raises 401 for credentials that are not good; none at all are anonymous."""
        certificate = request.peer.certificate
        if certificate is not None:
            return User(certificate.name, (*certificate.groups, AUTHENTICATED), certificate.uid, certificate.extra)
        if "authorization" in request.headers:
            raise errors.unauthorized()
        return ANONYMOUS
