"""What a controller asked of the API during a trial, in order: the evidence behind every finding.

A path is read here far enough to tell which resource is meant; whether there is such a resource is the server's
business.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import parse_qs, unquote

WRITES = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
HOUSEKEEPING = frozenset({("coordination.k8s.io", "leases"), ("", "events"), ("events.k8s.io", "events")})
"""What controllers write about themselves, and not because somebody asked for it."""
REVIEWS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""Groups to which questions are POSTed: nothing is written."""


class Where(NamedTuple):
    """What a path leads to; an empty `resource` is none: discovery, health, schemas."""

    group: str = ""
    version: str = ""
    namespace: str = ""
    resource: str = ""
    name: str = ""
    subresource: str = ""


def where(path: str) -> Where:
    """What a path leads to."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    head = 3 if parts[0] == "apis" else 2
    if parts[0] not in ("api", "apis") or len(parts) <= head:
        return Where()
    group = parts[1] if parts[0] == "apis" else ""
    version, rest, namespace = parts[head - 1], parts[head:], ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest, "", "")[:3]
    return Where(group, version, namespace, resource, name, subresource)


@dataclass(slots=True)
class Asked:
    """One request of the controller, and what became of it."""

    number: int
    seconds: float
    """Since the trial began."""
    method: str
    path: str
    query: dict[str, str]
    where: Where
    body: int = 0
    """Tells its body from others."""
    status: int = 0
    """0 as long as, or because, no answer was given."""
    fault: str = ""
    """What was done to it, or ""."""

    @property
    def is_watch(self) -> bool:
        return self.method == "GET" and self.query.get("watch") in ("true", "1")

    @property
    def is_of_a_lease(self) -> bool:
        return self.where.resource == "leases"

    @property
    def is_list(self) -> bool:
        return self.method == "GET" and bool(self.where.resource) and not self.where.name and not self.is_watch

    @property
    def is_write(self) -> bool:
        """Whether it would change something that somebody cares about."""
        place = (self.where.group, self.where.resource)
        return (
            self.method in WRITES
            and bool(self.where.resource)
            and place not in HOUSEKEEPING
            and self.where.group not in REVIEWS
            and "dryRun" not in self.query
        )

    @property
    def verb(self) -> str:
        """The verb that authorization is asked about."""
        if self.is_watch:
            return "watch"
        if self.method == "GET":
            return "get" if self.where.name else "list"
        if self.method == "DELETE" and not self.where.name:
            return "deletecollection"
        return WRITES.get(self.method, self.method.lower())

    def __str__(self) -> str:
        told = f"request {self.number}: {self.method} {self.path}"
        return f"{told} ({self.fault})" if self.fault else told


@dataclass(slots=True)
class Record:
    """Everything that was asked in one trial."""

    asked: list[Asked] = field(default_factory=list)
    last_change_seconds: float = 0.0
    """When the last write was asked for or answered."""
    made: set[str] = field(default_factory=set)
    """The uids of all that was created."""
    writes_open: int = 0
    """How many writes are being answered."""

    def add(self, seconds: float, method: str, path: str, query: str, body: bytes = b"") -> Asked:
        flat = {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}
        asked = Asked(len(self.asked) + 1, seconds, method, path, flat, where(path), hash(body))
        self.asked.append(asked)
        return asked

    def writes(self, since_seconds: float = 0.0) -> list[Asked]:
        return [each for each in self.asked if each.is_write and each.seconds >= since_seconds]

    def faults(self) -> list[Asked]:
        return [each for each in self.asked if each.fault]

    def most_repeated(self, since_seconds: float = 0.0) -> tuple[str, int]:
        """The request that was made most often, and how often."""
        made = Counter(f"{each.method} {each.path}" for each in self.asked if each.seconds >= since_seconds)
        return made.most_common(1)[0] if made else ("", 0)

    def resources(self) -> set[tuple[str, str, str]]:
        """Group, version and plural of everything that was written."""
        return {(each.where.group, each.where.version, each.where.resource) for each in self.writes()}
