"""Client certificates: the user is the subject of one that the clients' authority issued.

TLS verified it when the connection was made; here only time has gone on since.
"""

from __future__ import annotations

from collections.abc import Callable
from time import time

from hardpoint.apiserver.authentication.contract import RequestAuthenticator
from hardpoint.machinery.messages import Request, User
from hardpoint.seams.authentication.contract import RefusedCredential


class Certificate:
    """Knows who shows a certificate."""

    def __init__(self, now: Callable[[], float] = time) -> None:
        self._now = now

    def identify(self, request: Request) -> User | None:
        peer = request.peer
        if peer.expires <= self._now():
            raise RefusedCredential("the client certificate has expired, or says two things at once")
        if peer.certificate is None and peer.proxy is not None:
            raise RefusedCredential("the client certificate is a front proxy's, and the headers name no user")
        return peer.certificate


_conforms: type[RequestAuthenticator] = Certificate
