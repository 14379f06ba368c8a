"""Audits requests: asks the policy, keeps a record of each request that counts, tells the backends its stages.

Auditing may cost a request a few microseconds and never its answer: a backend that fails loses events, which are
counted, unless its owner chose `blocking-strict`, where a request that cannot be recorded is refused.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import NamedTuple, Protocol

from hardpoint.apiserver.audit.events import Record
from hardpoint.apiserver.audit.policy import LEVELS, Policy, Verdict
from hardpoint.apiserver.target import Target
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.exposition import Family, Sample
from hardpoint.machinery.messages import Request, Response, User
from hardpoint.seams.audit.contract import Stage

log = logging.getLogger(__name__)

_REFUSALS = frozenset((401, 403))
_REFUSAL = Verdict("Metadata", frozenset(("RequestReceived", "ResponseStarted")))


class Backend(Protocol):
    """Where events go. `name` is how metrics call it."""

    name: str

    def tell(self, line: bytes) -> Awaitable[bool] | bool:
        """Take an event, which is JSON already. False if it is lost, and the request should be too.

        A backend that makes requests wait answers with something to wait for.
        """
        ...

    def lost(self) -> int:
        """How many events never arrived."""
        ...

    async def check(self) -> None:
        """Return if events arrive, else raise why not."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """Work until left; everything told before then is written by then, if that is possible at all."""
        ...


class Refusal(NamedTuple):
    """A request that was refused, and how."""

    audit_id: str
    request: Request
    where: Target
    verb: str
    user: User | None
    response: Response
    error: ApiError | None


class Auditor:
    """Decides what is told, and tells it."""

    def __init__(
        self,
        policy: Policy,
        backends: Sequence[Backend],
        *,
        tells_refusals: bool = False,
        now: Callable[[], int] = time.time_ns,
    ) -> None:
        """With `tells_refusals` a request that was refused is told even if the policy leaves its kind out."""
        self._policy = policy
        self._backends = backends
        self._tells_refusals = tells_refusals
        self.now = now
        self._levels: dict[str, int] = dict.fromkeys(LEVELS, 0)
        self._events = 0
        self._rejected = 0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for backend in self._backends:
                await stack.enter_async_context(backend.running())
            yield

    async def check(self) -> None:
        """Return if events arrive where they should, else raise why not."""
        for backend in self._backends:
            await backend.check()

    def begin(self, audit_id: str, request: Request, where: Target, verb: str, user: User | None) -> Record | None:
        """The record of a request that is to be audited."""
        verdict = self._policy.evaluate(user, verb, where)
        self._levels[verdict.level] += 1
        if verdict.level == "None":
            return None
        return Record(verdict, audit_id, request, where, verb, user, self.now())

    def tell(self, record: Record, stage: Stage) -> Awaitable[bool] | None:
        """Tell that a request has reached a stage. If something comes back it is to be awaited: was it recorded?"""
        if stage in record.verdict.omit_stages:
            return None
        self._events += 1
        line = record.line(stage, self.now())
        waiting: list[Awaitable[bool]] | None = None
        for backend in self._backends:
            told = backend.tell(line)
            if told is not True:
                waiting = [*(waiting or ()), told or _lost()]
        return _all(waiting) if waiting else None

    def unauthenticated(self, refusal: Refusal) -> Awaitable[bool] | None:
        """Tell of a request whose credentials were not good; it never gets further than this one stage."""
        record = self.begin(refusal.audit_id, refusal.request, refusal.where, refusal.verb, None)
        if record is None or "ResponseStarted" in record.verdict.omit_stages:
            return self.refused(refusal)
        record.answered(refusal.response, refusal.error)
        return self.tell(record, "ResponseStarted")

    def refused(self, refusal: Refusal) -> Awaitable[bool] | None:
        """Tell of a refusal that the policy leaves out, if refusals are to be told."""
        if not self._tells_refusals or refusal.response.status not in _REFUSALS:
            return None
        record = Record(
            _REFUSAL, refusal.audit_id, refusal.request, refusal.where, refusal.verb, refusal.user, self.now()
        )
        record.answered(refusal.response, refusal.error)
        return self.tell(record, "ResponseComplete")

    def reject(self) -> None:
        """Count a request that is refused because it cannot be recorded."""
        self._rejected += 1

    def families(self) -> Iterator[Family]:
        """What `/metrics` tells."""
        name = "apiserver_audit_event_total"
        yield name, "counter", "Audit events made.", [((), self._events)]
        name = "apiserver_audit_error_total"
        lost: list[Sample] = [((("plugin", each.name),), each.lost()) for each in self._backends]
        yield name, "counter", "Audit events that were lost, by where they should have gone.", lost
        name = "apiserver_audit_level_total"
        levels: list[Sample] = [((("level", level),), count) for level, count in self._levels.items() if count]
        yield name, "counter", "Requests by the level they are audited at.", levels
        name = "apiserver_audit_requests_rejected_total"
        yield name, "counter", "Requests refused because they could not be audited.", [((), self._rejected)]


async def _lost() -> bool:
    return False


async def _all(waiting: Sequence[Awaitable[bool]]) -> bool:
    return all(await asyncio.gather(*waiting))
