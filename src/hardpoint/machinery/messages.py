"""An HTTP exchange as values: what the socket server hands to the walk, and what the in-process client hands it too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class User:
    """Who is asking."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


IN_PROCESS = "in-process"
"""The address of a peer that has none."""


class Peer(NamedTuple):
    """The other end of a connection, as far as the transport vouches for it."""

    address: str
    """`host:port`, or `in-process`."""
    certificate: User | None = None
    """The subject of a client certificate that the clients' authority vouches for: CN is the name, O are the groups."""
    proxy: str | None = None
    """The name in a client certificate that the front proxies' authority vouches for: it may speak for others."""
    expires: float = inf
    """When either ends, in seconds since 1970. A connection may outlive its certificate."""


@dataclass(slots=True)
class Request:
    """One request. `path` is as it came, percent-encoded; header names are lower case.

    The values of a header sent several times are joined by ", "; those of Impersonate-* and X-Remote-*, or whatever
    front proxies name users in, may hold commas themselves and are joined by a line feed.
    """

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    peer: Peer


@dataclass(slots=True)
class Response:
    """One answer: `body` at once, or `stream` chunk by chunk until it ends or the client goes."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: Sequence[tuple[str, str]] = ()
    stream: AsyncIterator[bytes] | None = None
    taken: Callable[[], None] | None = None
    """Called by a transport that sends over a wire once the client has taken the answer, or is gone."""


Handler = Callable[[Request], Awaitable[Response]]
"""The whole API server, seen from a transport. It never raises: every failure is a Response."""
