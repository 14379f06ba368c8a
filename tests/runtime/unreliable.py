"""A small collection behind a server that does all that servers do: it cuts, refuses, repeats, forgets, restarts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qs

import orjson

from hardpoint.client.client import Client
from hardpoint.client.events import INITIAL_EVENTS_END
from hardpoint.client.inprocess import InProcessTransport
from hardpoint.client.resources import Resource
from hardpoint.client.watch import Pace
from hardpoint.machinery import errors
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request, Response, User

Json = dict[str, Any]
Cut = Literal["at a line's end", "inside a line", "with an error"]
Streams = Literal["yes", "refused", "ignored"]

TOYS = Resource("example.com/v1", "toys", "Toy")
PAGE = 2


@dataclass
class Unreliable:
    """Objects with a history, one request handler, and switches for everything that may go wrong."""

    objects: dict[tuple[str, str], Json] = field(default_factory=dict)
    history: list[tuple[int, str, Json]] = field(default_factory=list)
    revision: int = 1
    floor: int = 0
    streams: Streams = "yes"
    bookmarks: bool = True
    repeats: int = 0
    """A watch begins with so many events that came before the version it asked for: some proxies do."""
    refusals: list[int] = field(default_factory=list)
    """The codes of the next answers."""
    expiries: int = 0
    """So many lists are forgotten between their pages."""
    life: int = 0
    """Watches that began before this life are over."""
    cut: Cut = "at a line's end"
    asked: list[str] = field(default_factory=list)
    _moments: dict[str, list[Json]] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def client(self) -> Client:
        pace = Pace(watch_seconds_min=0.0, sleep=lambda _: asyncio.sleep(0), random=lambda: 0.0)
        return Client(InProcessTransport(self.handle, User("test")), pace=pace)

    def write(self, namespace: str, name: str, **labels: str) -> Json:
        before = self.objects.get((namespace, name))
        self.revision += 1
        uid = before["metadata"]["uid"] if before else f"uid-{self.revision}"
        metadata = {"name": name, "namespace": namespace, "uid": uid, "labels": labels}
        metadata["resourceVersion"] = str(self.revision)
        after = {"apiVersion": "example.com/v1", "kind": "Toy", "metadata": metadata}
        self.objects[namespace, name] = after
        self._happened("MODIFIED" if before else "ADDED", after)
        return after

    def delete(self, namespace: str, name: str) -> None:
        before = self.objects.pop((namespace, name), None)
        if before is not None:
            self.revision += 1
            metadata = {**before["metadata"], "resourceVersion": str(self.revision)}
            self._happened("DELETED", {**before, "metadata": metadata})

    def compact(self) -> None:
        """Forget all that came before now."""
        self.floor = self.revision

    def end_watches(self, how: Cut) -> None:
        self.life += 1
        self.cut = how
        self.wake()

    def wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _happened(self, what: str, found: Json) -> None:
        self.history.append((self.revision, what, found))
        self.wake()

    async def handle(self, request: Request) -> Response:
        query = {name: values[-1] for name, values in parse_qs(request.query).items()}
        self.asked.append("watch" if "watch" in query else "list")
        if self.refusals:
            code = self.refusals.pop(0)
            return _refused(ApiError(code, "", f"refused with {code}"))
        if "watch" not in query:
            return self._list(query)
        if "sendInitialEvents" in query and self.streams == "refused":
            return _refused(ApiError(422, "Invalid", "sendInitialEvents is forbidden"))
        return Response(200, stream=self._watch(query))

    def _list(self, query: Json) -> Response:
        moment, _, start = query.get("continue", f"{self.revision}:0").partition(":")
        if start != "0" and self.expiries:
            self.expiries -= 1
            # Something was there when the list began and is gone when it begins again.
            self.delete(*next(iter(sorted(self.objects)), ("", "")))
            return _refused(errors.expired("the continue token is too old"))
        if start == "0":
            self._moments[moment] = [self.objects[key] for key in sorted(self.objects)]
        items, end = self._moments[moment], int(start) + PAGE
        metadata = {"resourceVersion": moment}
        if "limit" not in query:
            end = len(items)
        elif end < len(items):
            metadata["continue"] = f"{moment}:{end}"
        return Response(200, orjson.dumps({"kind": "ToyList", "metadata": metadata, "items": items[int(start) : end]}))

    async def _watch(self, query: Json) -> AsyncIterator[bytes]:
        life = self.life
        after = int(query.get("resourceVersion") or self.revision)
        if "sendInitialEvents" in query:
            for found in list(self.objects.values()):
                yield _line("ADDED", found)
            yield _bookmark(after, ends_initial=self.streams == "yes")
        elif self.repeats:
            for revision, what, found in [each for each in self.history if each[0] <= after][-self.repeats :]:
                if revision > self.floor:
                    yield _line(what, found)
        while True:
            news = self._news
            if after < self.floor:
                yield _line("ERROR", errors.expired("too old resource version").status())
                return
            for revision, what, found in [each for each in self.history if each[0] > after]:
                after = revision
                yield _line(what, found)
            if self.life != life:
                break
            if self.bookmarks:
                yield _bookmark(self.revision)
            await news.wait()
            if self.life != life:
                break
        if self.cut == "inside a line":
            yield _line("MODIFIED", {"metadata": {"name": "never"}})[:-5]
        elif self.cut == "with an error":
            yield _line("ERROR", errors.internal_error("hiccup").status())


def _line(what: str, found: Json) -> bytes:
    return orjson.dumps({"type": what, "object": found}) + b"\n"


def _bookmark(revision: int, *, ends_initial: bool = False) -> bytes:
    annotations = {INITIAL_EVENTS_END: "true"} if ends_initial else {}
    return _line("BOOKMARK", {"metadata": {"resourceVersion": str(revision), "annotations": annotations}})


def _refused(error: ApiError) -> Response:
    return Response(error.code, orjson.dumps(error.status()))
