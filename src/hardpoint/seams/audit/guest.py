"""The author's side: a function that is told what happened, behind a webhook.

    @app.audit_sink
    def remember(events: list[AuditEvent]) -> None:
        for event in events:
            print(event.user.username, event.verb, event.requestURI)

A batch is taken once the function returns. If it raises, the batch comes again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeAlias

from hardpoint.machinery import errors
from hardpoint.machinery.views import View
from hardpoint.runtime.authored import Authored
from hardpoint.seams.audit.contract import API_VERSION, BATCH_BYTES_MAX, EVENT_LIST, Level, Stage

_OBJECTS = ("user", "impersonatedUser", "objectRef", "responseStatus", "annotations")


class UserInfo(View):
    """Who: all empty for a request whose credentials were not good."""

    username: str
    uid: str
    groups: list[str]
    extra: dict[str, list[str]]


class ObjectReference(View):
    """Which resource, and which object of it if the request named one."""

    resource: str
    namespace: str
    name: str
    uid: str
    apiGroup: str
    apiVersion: str
    resourceVersion: str
    subresource: str


class ResponseStatus(View):
    """How it was answered: always a code, and for refusals the rest of a Status."""

    code: int
    status: str
    reason: str
    message: str


class AuditEvent(View):
    """One stage of one request; `auditID` and `stage` together name it. Timestamps are texts with microseconds."""

    level: Level
    auditID: str
    stage: Stage
    requestURI: str
    verb: str
    user: UserInfo
    impersonatedUser: UserInfo | None
    sourceIPs: list[str]
    userAgent: str
    objectRef: ObjectReference | None
    responseStatus: ResponseStatus | None
    requestObject: Any
    responseObject: Any
    requestReceivedTimestamp: str
    stageTimestamp: str
    annotations: dict[str, str]


AuditSink: TypeAlias = Callable[[list[AuditEvent]], Awaitable[None] | None]
"""What an author writes."""


class AuditSinkGuest:
    """An author's function as a webhook that takes EventLists."""

    seam: ClassVar[str] = "audit"
    flag: ClassVar[str] = "--audit-webhook-config-file"
    """Where an API server is told of it."""
    admits_anyone: ClassVar[bool] = False
    body_bytes_max: ClassVar[int] = BATCH_BYTES_MAX + 6 * 1024 * 1024
    """A whole batch, and room for one that is not truncated in time."""

    def __init__(self, function: AuditSink, *, path: str) -> None:
        self.path = path
        self.function: Authored[None] = Authored("@app.audit_sink", function)
        if not self.function.takes("events"):
            raise self.function.wrong("must take one argument, the list of events")

    async def answer(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Take a batch. Raises AuthorFailed if the function does not, so that it comes again; 400 for no batch."""
        if batch.get("kind") != EVENT_LIST or batch.get("apiVersion") != API_VERSION:
            raise errors.bad_request(f"kind must be {EVENT_LIST}, and apiVersion {API_VERSION}")
        items = batch.get("items")
        if items is None:
            items = []
        if not isinstance(items, list) or not all(_is_event(item) for item in items):
            raise errors.bad_request("items must be a list of events")
        if items:
            await self.function([AuditEvent(item) for item in items])
        return {}


def _is_event(item: Any) -> bool:
    if not isinstance(item, dict) or not isinstance(item.get("auditID"), str):
        return False
    return all(item.get(field) is None or isinstance(item[field], dict) for field in _OBJECTS)
