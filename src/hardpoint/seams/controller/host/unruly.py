"""An API that behaves as production does: a correct server, seen through faults, and a controller that may be killed.

    api = UnrulyApi(handler, Plan((faults.CONFLICT,), seed=7))
    async with await serve(api.handle, ...): ...
    api.record.faults()         # what was done to which request

`handler` is the whole API server; whoever else asks it directly is not disturbed.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum

import orjson

from hardpoint.machinery.errors import expired
from hardpoint.machinery.messages import IN_PROCESS, Handler, Peer, Request, Response, User
from hardpoint.seams.controller.host import faults, streams
from hardpoint.seams.controller.host.faults import Plan
from hardpoint.seams.controller.host.record import Asked, Record

SOMEBODY_ELSE = "hardpoint-check"
"""The name, and the field manager, of whoever changes objects to see what the controller makes of it."""
MARK = "hardpoint-check/changed-meanwhile"
CHANGES_AGO = 6
"""How far behind a stale list is, in revisions."""

_PEER = Peer(IN_PROCESS, User(SOMEBODY_ELSE, ("system:masters",)))


class CrashPoint(Enum):
    """When the controller is killed: right before one of its writes, or right after it, before it hears of it."""

    BEFORE = "killed right before it"
    AFTER = "killed right after it"


class UnrulyApi:
    """What a controller talks to. One is good for one trial."""

    def __init__(self, handler: Handler, plan: Plan | None = None) -> None:
        self.record = Record()
        self.plan = plan or Plan()
        self._handler = handler
        self._began = time.monotonic()
        self._kill: Callable[[], Awaitable[None]] | None = None
        self._crashes_left = 0
        self._next_crash = CrashPoint.BEFORE
        self.last_blow_seconds = 0.0
        """When something was last done to the controller that it needs time to recover from."""
        self._outage = _Outage()
        self._floor = 0
        """Watches from before this revision are told that it is too old."""
        self._revision = 1

    @property
    def seconds(self) -> float:
        """Since the trial began."""
        return time.monotonic() - self._began

    def crash_at_writes(self, kill: Callable[[], Awaitable[None]], *, times_max: int) -> None:
        """Have `kill` end the controller at its next write, before and after in turn, so often at most.

        As each life of the controller gets one write further, every write is crashed at from both sides.
        """
        self._kill, self._crashes_left = kill, times_max

    def be_away(self) -> None:
        """Cut every watch and refuse every request, until `return_having_forgotten`."""
        self._outage.begin()

    def return_having_forgotten(self, revision: int) -> None:
        """Answer again; what happened up to `revision` can be listed, and not be watched from any more."""
        self._floor = revision
        self._outage.end()

    async def handle(self, request: Request) -> Response:
        """Answer one request of the controller, or cut its connection."""
        asked = self.record.add(self.seconds, request.method, request.path, request.query, request.body)
        if not asked.is_write:
            return await self._misbehave(request, asked)
        self.record.writes_open += 1
        self.record.last_change_seconds = self.seconds
        try:
            return await self._misbehave(request, asked)
        finally:
            self.record.writes_open -= 1
            self.record.last_change_seconds = self.seconds

    async def _misbehave(self, request: Request, asked: Asked) -> Response:
        if self._outage.is_on and asked.where.resource:
            asked.fault = "the server was away"
            faults.cut()
        if self._is_forgotten(asked):
            asked.fault = "410, events were missed"
            return faults.refusal(expired(f"too old resource version ({self._floor})"))
        if asked.is_write and self._kill is not None and self._crashes_left > 0:
            return await self._crash(self._kill, request, asked)
        struck = self.plan.strike(asked)
        if struck is None:
            return await self.forward(request, asked)
        fault, roll = struck
        asked.fault = fault.name
        if not self.plan.always:
            self.last_blow_seconds = self.seconds
        return await fault.act(_Exchange(self, request, asked, roll))

    async def _crash(self, kill: Callable[[], Awaitable[None]], request: Request, asked: Asked) -> Response:
        self._crashes_left -= 1
        point, self._next_crash = self._next_crash, _OTHER[self._next_crash]
        asked.fault = point.value
        if point is CrashPoint.AFTER:
            await self.forward(request, asked)
        self.last_blow_seconds = self.seconds
        await kill()
        faults.cut()

    def _is_forgotten(self, asked: Asked) -> bool:
        version = asked.query.get("resourceVersion", "")
        return asked.is_watch and version.isdecimal() and 0 < int(version) < self._floor

    async def forward(self, request: Request, asked: Asked) -> Response:
        """What the server answers."""
        response = await self._handler(request)
        asked.status = response.status
        if response.stream is not None and asked.is_watch:
            response.stream = streams.until(response.stream, self._outage.began)
        elif asked.is_write and response.body and response.content_type.startswith("application/json"):
            self._note(response)
        return response

    def _note(self, response: Response) -> None:
        """Remember what was made, and how far the server is."""
        metadata = orjson.loads(response.body).get("metadata") or {}
        if response.status == 201:
            self.record.made.add(metadata.get("uid", ""))
        version = str(metadata.get("resourceVersion", ""))
        if version.isdecimal():
            self._revision = max(self._revision, int(version))

    def revision_before(self) -> int:
        return max(self._revision - CHANGES_AGO, 1)

    async def interfere(self, asked: Asked) -> None:
        """Change an annotation of the object that a request is about."""
        path = asked.path.removesuffix(f"/{asked.where.subresource}") if asked.where.subresource else asked.path
        body = orjson.dumps({"metadata": {"annotations": {MARK: str(asked.number)}}})
        headers = {"content-type": "application/merge-patch+json", "user-agent": SOMEBODY_ELSE}
        answer = await self._handler(Request("PATCH", path, f"fieldManager={SOMEBODY_ELSE}", headers, body, _PEER))
        if answer.status >= 300:
            asked.fault = ""


@dataclass(slots=True)
class _Exchange:
    """A request on its way."""

    api: UnrulyApi
    request: Request
    asked: Asked
    roll: random.Random

    async def forward(self) -> Response:
        return await self.api.forward(self.request, self.asked)

    async def interfere(self) -> None:
        await self.api.interfere(self.asked)

    def revision_before(self) -> int:
        return self.api.revision_before()


class _Outage:
    """A time in which nobody answers."""

    def __init__(self) -> None:
        self.is_on = False
        self.began = asyncio.Event()

    def begin(self) -> None:
        self.is_on = True
        self.began.set()

    def end(self) -> None:
        self.is_on, self.began = False, asyncio.Event()


_OTHER = {CrashPoint.BEFORE: CrashPoint.AFTER, CrashPoint.AFTER: CrashPoint.BEFORE}
