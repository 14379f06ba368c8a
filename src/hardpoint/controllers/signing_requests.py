"""What the controllers of certificate signing requests share: each looks at one request at a time, as it is then."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.events import Event
from hardpoint.client.resources import Resource
from hardpoint.machinery.errors import ApiError
from hardpoint.runtime.metadata import MetadataFollower
from hardpoint.runtime.workqueue import WorkQueue

Json = dict[str, Any]

REQUESTS = Resource(
    "certificates.k8s.io/v1", "certificatesigningrequests", "CertificateSigningRequest", namespaced=False
)


class SigningRequests(ABC):
    """Calls `look` for each request that is new or has changed. Hears of it from `follower`."""

    def __init__(self, client: Client, follower: MetadataFollower, *, now: Callable[[], datetime]) -> None:
        self.queue: WorkQueue[str] = WorkQueue(type(self).__name__)
        self._client = client
        self._now = now
        follower.subscribe(self)

    @abstractmethod
    async def look(self, request: Json) -> float | None:
        """Do what the request needs, and say after how many seconds to look again, if at all."""

    def saw(self, resource: Resource, event: Event) -> None:
        if resource == REQUESTS and event.type != "DELETED":
            self.queue.add(event.object["metadata"]["name"])

    def lost(self, resource: Resource) -> None:
        """A server that forgot the resource has forgotten the requests; whoever looks at one finds that out."""
        return

    async def run(self) -> None:
        """Look at requests until cancelled."""
        await self.queue.work(self._look)

    async def _look(self, name: str) -> float | None:
        try:
            request = await self._client.get(REQUESTS, name)
        except ApiError as refused:
            if refused.code != 404:
                raise
            return None
        return await self.look(request)


def conditions_of(request: Json) -> list[Json]:
    return (request.get("status") or {}).get("conditions") or []


def has_condition(request: Json, *kinds: str) -> bool:
    """Whether it was decided so: these conditions have no other status than True."""
    return any(condition.get("type") in kinds for condition in conditions_of(request))


def certificate_of(request: Json) -> str:
    """What was issued, in Base64; empty if nothing was."""
    return (request.get("status") or {}).get("certificate") or ""


def with_condition(request: Json, **condition: str) -> Json:
    """The request with one more condition, which is true."""
    status = request.get("status") or {}
    added = {"status": "True", **condition}
    return {**request, "status": {**status, "conditions": [*conditions_of(request), added]}}
