"""Who is behind a request: the authenticators in kube-apiserver's order, and the anonymous user after them.

Whoever shows a credential that is not good gets the same 401 whatever is wrong with it; the reason is for the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

from hardpoint.apiserver.authentication import bearer
from hardpoint.apiserver.authentication.anonymous import Anonymous
from hardpoint.apiserver.authentication.contract import INVALID, AllRefused, RequestAuthenticator, authenticated
from hardpoint.apiserver.authentication.metrics import AuthenticationMetrics
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, User
from hardpoint.seams.authentication.contract import Identified, RefusedCredential, TokenAuthenticator

log = logging.getLogger(__name__)


class Authentication:
    """Says who is behind a request."""

    def __init__(
        self,
        by_request: Sequence[RequestAuthenticator],
        by_token: TokenAuthenticator,
        *,
        anonymous: Anonymous,
        audiences: Sequence[str],
    ) -> None:
        """`audiences` are what this API is called in tokens."""
        self._by_request = by_request
        self._by_token = by_token
        self.anonymous = anonymous
        self.audiences = tuple(audiences)
        self.metrics = AuthenticationMetrics()
        self._work: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._ends: list[Callable[[], Awaitable[None]]] = []

    def add_work(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Something to do, until cancelled, while this is running."""
        self._work.append(work)

    def add_end(self, end: Callable[[], Awaitable[None]]) -> None:
        """Something to do when this is no longer running."""
        self._ends.append(end)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep what the authenticators know up to date until left."""
        try:
            async with asyncio.TaskGroup() as tasks:
                working = [tasks.create_task(work(), name="authentication") for work in self._work]
                try:
                    yield
                finally:
                    for task in working:
                        task.cancel()
        finally:
            for end in self._ends:
                await end()

    async def authenticate(self, request: Request) -> User:
        """The user behind a request. Raises 401 for credentials that are not good; none at all are anonymous."""
        reasons: list[str] = []
        for authenticator in self._by_request:
            try:
                user = authenticator.identify(request)
            except RefusedCredential as refused:
                reasons.append(str(refused))
                continue
            if user is not None:
                self.metrics.succeeded += 1
                return authenticated(user)
        try:
            token = bearer.token_of(request.headers)
            if token:
                identified = await self.identify(token, self.audiences)
                bearer.forget(request.headers)
                self.metrics.succeeded += 1
                return identified.user
        except RefusedCredential as refused:
            reasons.append(str(refused))
        nobody = self.anonymous.identify(request) if not reasons else None
        if nobody is None:
            self.metrics.failed += 1
            log.info("request not authenticated", extra={"peer": request.peer.address, "why": "; ".join(reasons)})
            raise errors.unauthorized()
        return nobody

    async def identify(self, token: str, audiences: Sequence[str]) -> Identified:
        """Whose token this is. Raises AllRefused, whose reasons begin with the one that is told in any case."""
        try:
            identified = await self._by_token.identify(token, audiences)
        except AllRefused as refused:
            raise AllRefused((INVALID, *refused.reasons)) from refused
        if identified is None:
            raise AllRefused((INVALID,))
        return identified
