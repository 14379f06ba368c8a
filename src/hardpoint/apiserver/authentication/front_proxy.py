"""Front proxies: who is behind a request is what its headers say, if the proxy's certificate allows it to say so.

The certificate must come from the front proxies' own authority and bear an allowed name; from anybody else these
headers mean nothing. Once read they are taken away, so that no later step is tempted to believe them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import time
from typing import NamedTuple
from urllib.parse import unquote

from hardpoint.apiserver.authentication.contract import RequestAuthenticator
from hardpoint.machinery.messages import Request, User
from hardpoint.seams.authentication.contract import RefusedCredential


class Headers(NamedTuple):
    """What the headers are called. The first that has a value names the user; all that name groups count."""

    username: tuple[str, ...] = ("X-Remote-User",)
    uid: tuple[str, ...] = ("X-Remote-Uid",)
    group: tuple[str, ...] = ("X-Remote-Group",)
    extra_prefix: tuple[str, ...] = ("X-Remote-Extra-",)

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.username, *self.uid, *self.group, *self.extra_prefix)


class FrontProxy:
    """Knows users by what a trusted proxy says of them. Without `allowed_names` any name in its certificate will do."""

    def __init__(self, headers: Headers, allowed_names: Sequence[str], now: Callable[[], float] = time) -> None:
        self._username = _lower(headers.username)
        self._uid = _lower(headers.uid)
        self._group = _lower(headers.group)
        self._extra = _lower(headers.extra_prefix)
        self._allowed_names = frozenset(allowed_names)
        self._now = now

    def identify(self, request: Request) -> User | None:
        proxy = request.peer.proxy
        if proxy is None or request.peer.expires <= self._now():
            return None
        if self._allowed_names and proxy not in self._allowed_names:
            raise RefusedCredential(f"the front proxy {proxy!r} is not one of those that may speak for others")
        headers = request.headers
        name = next(self._values(headers, self._username), "")
        if not name:
            return None
        user = User(
            name,
            tuple(self._values(headers, self._group)),
            next(self._values(headers, self._uid), ""),
            self._extras(headers),
        )
        for header in [each for each in headers if self._is_ours(each)]:
            del headers[header]
        return user

    def _values(self, headers: dict[str, str], names: Sequence[str]) -> Iterator[str]:
        # The transport joins what was sent several times by line feeds: the values may hold commas.
        for name in names:
            yield from (value for value in headers.get(name, "").split("\n") if value)

    def _extras(self, headers: dict[str, str]) -> dict[str, tuple[str, ...]]:
        extras: dict[str, tuple[str, ...]] = {}
        for prefix in self._extra:
            for name, value in headers.items():
                if name.startswith(prefix):
                    key = unquote(name.removeprefix(prefix))
                    extras[key] = (*extras.get(key, ()), *value.split("\n"))
        return extras

    def _is_ours(self, name: str) -> bool:
        return name in self._username or name in self._uid or name in self._group or name.startswith(self._extra)


def _lower(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip().lower() for name in names)


_conforms: type[RequestAuthenticator] = FrontProxy
