"""`/metrics`: what the server has done and is doing, in Prometheus' text format under kube-apiserver's names.

Recording a request is one look-up in a plain dict; everything else is worked out when somebody asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from hardpoint.machinery import errors
from hardpoint.machinery.exposition import CONTENT_TYPE, Family, Histogram, Labels, Sample, Source, histograms, text
from hardpoint.machinery.messages import Request, Response
from hardpoint.serving import process

BUCKETS = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0),
    *(3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0),
)
"""Upper bounds of apiserver_request_duration_seconds."""

_NAMED_ALIKE = ("get", "list", "watch", "patch", "apply", "delete", "deletecollection", "connect", "post", "put")
_VERBS = {"create": "POST", "update": "PUT"} | {verb: verb.upper() for verb in _NAMED_ALIKE}
VERBS: Mapping[str, str] = _VERBS | {verb.upper(): label for verb, label in _VERBS.items()}
"""How a verb or method is labelled. Those nobody knows share a label, so that strangers cannot invent series."""

CountObjects = Callable[[], Awaitable[Mapping[tuple[str, str], int]]]
"""How many objects are stored, by group and plural."""


class _Key(NamedTuple):
    verb: str
    """As it is labelled."""
    group: str
    version: str
    resource: str
    subresource: str
    scope: str
    code: int
    dry_run: bool

    def labels(self) -> Labels:
        """The labels that counters and histograms share, in the order they are written."""
        return (
            ("component", "apiserver"),
            ("dry_run", "All" if self.dry_run else ""),
            ("group", self.group),
            ("resource", self.resource),
            ("scope", self.scope),
            ("subresource", self.subresource),
            ("verb", self.verb),
            ("version", self.version),
        )


class Metrics:
    """Counts requests, as they end and as they run. One event loop's own: nothing here is locked."""

    def __init__(self, count_objects: CountObjects | None = None) -> None:
        self._count_objects = count_objects
        self._sources: list[Source] = []
        self._requests: dict[tuple[str, str, str, str, str, str, int, bool], Histogram] = {}
        self._long_running: Counter[tuple[str, str, str, str, str, str]] = Counter()
        self.mutating = 0
        """Writes in flight; the walk adds one before and takes it back after."""
        self.read_only = 0
        """Reads in flight, those that run for long left out."""

    def observe(
        self,
        verb: str,
        group: str,
        version: str,
        resource: str,
        subresource: str,
        scope: str,
        code: int,
        seconds: float,
        dry_run: bool = False,
    ) -> None:
        """Count a request that has ended. `scope` is `resource`, `namespace`, `cluster` or empty.

        Group, version, resource and subresource are those of a served kind, or empty: never what a stranger wrote.
        """
        key = (VERBS.get(verb, "OTHER"), group, version, resource, subresource, scope, code, dry_run)
        series = self._requests.get(key)
        if series is None:
            series = self._requests[key] = Histogram(BUCKETS)
        series.observe(seconds)

    @contextmanager
    def long_running(
        self, verb: str, group: str, version: str, resource: str, subresource: str, scope: str
    ) -> Iterator[None]:
        """Count a watch, log, exec or proxy while it runs."""
        key = (VERBS.get(verb, "OTHER"), group, version, resource, subresource, scope)
        self._long_running[key] += 1
        try:
            yield
        finally:
            self._long_running[key] -= 1

    def add(self, source: Source) -> None:
        """Tell also what `source` returns when somebody asks."""
        self._sources.append(source)

    async def respond(self, request: Request) -> Response | None:
        """The answer to `/metrics`, None for other paths. Raises 405."""
        if request.path != "/metrics":
            return None
        if request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        stored = await self._count_objects() if self._count_objects else {}
        return Response(200, self.render(stored), CONTENT_TYPE)

    def render(self, stored: Mapping[tuple[str, str], int] | None = None) -> bytes:
        """All metrics as text. `stored` is how many objects there are, by group and plural."""
        told = (family for source in self._sources for family in source())
        return text(chain(self._families(stored or {}), told, process.families()))

    def _families(self, stored: Mapping[tuple[str, str], int]) -> Iterator[Family]:
        yield "apiserver_request_total", "counter", "Requests that have been answered.", self._totals()
        name = "apiserver_request_duration_seconds"
        yield from histograms(name, "How long answering took, watches left out.", self._durations())
        name = "apiserver_current_inflight_requests"
        yield name, "gauge", "Requests being answered now, by whether they may write.", self._inflight()
        name = "apiserver_longrunning_requests"
        yield name, "gauge", "Watches, logs, execs and proxies running now.", self._running()
        by_resource = [((("resource", _dotted(*key)),), float(count)) for key, count in sorted(stored.items())]
        yield "apiserver_storage_objects", "gauge", "Stored objects by resource.", by_resource
        by_group = [((("group", g), ("resource", r)), float(count)) for (g, r), count in sorted(stored.items())]
        yield "apiserver_resource_objects", "gauge", "Stored objects by group and resource.", by_group

    def _totals(self) -> Iterator[Sample]:
        for key, series in self._requests.items():
            yield (("code", str(key[6])), *_Key(*key).labels()), sum(series.counts)

    def _inflight(self) -> Iterator[Sample]:
        yield (("request_kind", "mutating"),), self.mutating
        yield (("request_kind", "readOnly"),), self.read_only

    def _running(self) -> Iterator[Sample]:
        for key, count in self._long_running.items():
            labels = _Key(*key, code=0, dry_run=False).labels()
            yield tuple(label for label in labels if label[0] != "dry_run"), count

    def _durations(self) -> list[tuple[Labels, Histogram]]:
        """By labels; codes are not among them, so series that differ only by code are one here."""
        merged: dict[Labels, Histogram] = {}
        for key, series in self._requests.items():
            if key[0] != "WATCH":
                merged.setdefault(_Key(*key).labels(), Histogram(BUCKETS)).add(series)
        return list(merged.items())


def _dotted(group: str, resource: str) -> str:
    return f"{resource}.{group}" if group else resource
