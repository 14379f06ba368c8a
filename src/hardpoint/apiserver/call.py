"""One request on its walk, and what every step of the walk may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from hardpoint.apiserver.admission.chain import Chain
from hardpoint.apiserver.audit.events import Record
from hardpoint.apiserver.authentication.chain import Authentication
from hardpoint.apiserver.authentication.issuing import TokenIssuer
from hardpoint.apiserver.authorization.chain import Authorization
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.options import Query, parse_query
from hardpoint.apiserver.places import Place, place
from hardpoint.apiserver.registry import Registry
from hardpoint.apiserver.target import Target
from hardpoint.machinery.kinds import Kind, Subresource
from hardpoint.machinery.messages import Request, User
from hardpoint.store.contract import Store

Json = dict[str, Any]


class Allotter(Protocol):
    """Gives an object what only one object may have: an IP address, a port."""

    def allot(self, obj: Json, old: Json | None, *, dry_run: bool) -> AbstractAsyncContextManager[None]:
        """Reserve and fill in; leaving without an error keeps the reservation, leaving with one gives it back."""
        ...

    async def release(self, obj: Json) -> None:
        """Give back what an object that is gone had."""
        ...


class Guard(Protocol):
    """Refuses what some people must not write, however they write it."""

    async def check(self, user: User, kind: Kind, target: Target, new: Json, old: Json | None) -> None:
        """Return if the user may put `new` in the place of `old`, else raise."""
        ...


@dataclass(slots=True)
class Services:
    """What the server is made of, as far as the verbs need it."""

    store: Store
    hub: Hub
    registry: Registry
    authentication: Authentication
    token_issuer: TokenIssuer
    authorization: Authorization
    admission: Chain
    allotters: Mapping[str, Allotter]
    """Who gives out what must be unique across objects, by resource."""
    guards: Mapping[str, Guard]
    """Who looks at what is written before it is validated, by resource."""
    now: Callable[[], datetime]
    """The time, in UTC."""


@dataclass(slots=True)
class Call:
    """An authenticated, authorized request for a resource."""

    services: Services
    request: Request
    target: Target
    kind: Kind
    subresource: Subresource | None
    verb: str
    user: User
    warnings: list[str] = field(default_factory=list)
    """Each becomes a Warning header of the answer."""
    given: Any = None
    """The body, or what a patch made of the object, before it was decoded as its kind."""
    record: Record | None = None
    """What the audit log will tell of this request; None if it will tell nothing."""
    opened: Callable[[int], None] | None = None
    """To be called once a watch has told what there was, with how many bytes that took."""

    is_large: bool = False
    """Whether what is written, or what it replaces, is so large that going through it is done in a thread."""

    def annotate(self, name: str, value: str) -> None:
        """Tell something in the audit log."""
        if self.record is not None:
            self.record.annotate(name, value)

    @property
    def place(self) -> Place:
        return place(self.kind)

    @property
    def query(self) -> Query:
        return parse_query(self.request.query)

    @property
    def key(self) -> str:
        """The store's key of the object the target names."""
        namespace = self.target.namespace if self.kind.namespaced else ""
        return place(self.kind).key(namespace, self.target.name)
