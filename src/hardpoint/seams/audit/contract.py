"""What both sides of the audit seam promise: the cluster tells a sink, in batches, what was asked of it.

On the wire a batch is one POST of an `EventList` of audit.k8s.io/v1. Any 2xx takes the whole batch; every other answer,
and none in time, means that the same batch comes again later. So a sink is told at least once, and whoever must not
count an event twice remembers its `auditID` and `stage`, which together name it. Batches may overtake one another;
`stageTimestamp` tells the order. The cluster never waits for a sink before it answers a request, and what a sink
does not take for long is dropped and counted: a sink that is slow loses events, not requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, Protocol, TypedDict

API_VERSION = "audit.k8s.io/v1"
EVENT_LIST = "EventList"
EVENT_HEAD = b'{"kind":"Event","apiVersion":"%b",' % API_VERSION.encode()
"""How an encoded event begins; in a batch it begins with the brace alone."""

Level = Literal["None", "Metadata", "Request", "RequestResponse"]
"""How much is told: nothing; who, what and the outcome; also the object sent; also the object answered."""

Stage = Literal["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic"]
"""When it is told: as the request came; as a long answer began; as the answer was whole; as the server failed."""

BATCH_EVENTS_MAX = 400
"""So many events are in a batch at most, unless the cluster is told otherwise."""
BATCH_BYTES_MAX = 10 * 1024 * 1024
"""So large a batch is at most where the cluster truncates; events with objects can make larger ones elsewhere."""


class UserInfo(TypedDict, total=False):
    """Who: empty for a request whose credentials were not good."""

    username: str
    uid: str
    groups: list[str]
    extra: dict[str, list[str]]


class ObjectReference(TypedDict, total=False):
    """Which resource, and which object of it if the request named one."""

    resource: str
    namespace: str
    name: str
    uid: str
    apiGroup: str
    apiVersion: str
    resourceVersion: str
    subresource: str


class AuthenticationMetadata(TypedDict, total=False):
    """By which rule somebody acts as somebody else, where a rule other than plain impersonation allowed it."""

    impersonationConstraint: str


class Event(TypedDict):
    """One stage of one request. In a batch events carry neither `kind` nor `apiVersion`; the list says both."""

    level: Level
    auditID: str
    stage: Stage
    requestURI: str
    verb: str
    user: UserInfo
    impersonatedUser: NotRequired[UserInfo]
    authenticationMetadata: NotRequired[AuthenticationMetadata]
    sourceIPs: NotRequired[list[str]]
    """The last is the peer of the connection; those before are what clients claim."""
    userAgent: NotRequired[str]
    objectRef: NotRequired[ObjectReference]
    """Absent for paths that are not resources."""
    responseStatus: NotRequired[dict[str, Any]]
    """A `v1 Status` without kind: its code, and for refusals the rest."""
    requestObject: NotRequired[Any]
    """From level Request on; never for Secrets and tokens."""
    responseObject: NotRequired[Any]
    """At level RequestResponse; never for Secrets and tokens."""
    requestReceivedTimestamp: str
    stageTimestamp: str
    annotations: NotRequired[dict[str, str]]
    """What the steps of the request's way added, such as `authorization.k8s.io/decision`."""


class EventList(TypedDict):
    """A batch as it is sent."""

    kind: Literal["EventList"]
    apiVersion: Literal["audit.k8s.io/v1"]
    metadata: dict[str, Any]
    items: list[Event]


class AuditSink(Protocol):
    """Is told what happened. Calls overlap, and any batch may come again."""

    async def receive(self, events: Sequence[Event]) -> None:
        """Take a batch: having returned, the sink has it for good. Whatever is raised makes the batch come again."""
        ...
