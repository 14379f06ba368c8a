"""`/metrics`: what the server has done and is doing, in Prometheus' text format under kube-apiserver's names.

Recording a request is one look-up in a plain dict; everything else (labels, buckets that add up, text) is worked out
when somebody asks. That is why the text is written here and not by a client library: a labelled counter and histogram
there cost several microseconds a request.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from hardpoint.apiserver import process
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, Response

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

BUCKETS = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0),
    *(3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0),
)
"""Upper bounds of apiserver_request_duration_seconds."""

_BOUNDS = (*(f"{bound:g}" for bound in BUCKETS), "+Inf")

_NAMED_ALIKE = ("get", "list", "watch", "patch", "apply", "delete", "deletecollection", "connect", "post", "put")
_VERBS = {"create": "POST", "update": "PUT"} | {verb: verb.upper() for verb in _NAMED_ALIKE}
VERBS: Mapping[str, str] = _VERBS | {verb.upper(): label for verb, label in _VERBS.items()}
"""How a verb or method is labelled. Those nobody knows share a label, so that strangers cannot invent series."""

CountObjects = Callable[[], Awaitable[Mapping[tuple[str, str], int]]]
"""How many objects are stored, by group and plural."""

Labels = Sequence[tuple[str, str]]
Sample = tuple[Labels, float]
Family = tuple[str, str, str, Iterable[Sample]]
"""The name of a metric, its type, what it tells, and its samples; no type continues the family before."""
Source = Callable[[], Iterable[Family]]


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


class _Series:
    """The requests of one key: how many ended in each bucket, and the seconds they took together."""

    __slots__ = ("buckets", "seconds")

    def __init__(self) -> None:
        self.buckets = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0


class Metrics:
    """Counts requests, as they end and as they run. One event loop's own: nothing here is locked."""

    def __init__(self, count_objects: CountObjects | None = None) -> None:
        self._count_objects = count_objects
        self._sources: list[Source] = []
        self._requests: dict[tuple[str, str, str, str, str, str, int, bool], _Series] = {}
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
            series = self._requests[key] = _Series()
        series.buckets[bisect_left(BUCKETS, seconds)] += 1
        series.seconds += seconds

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
        lines: list[str] = []
        for name, kind, about, samples in self._families(stored or {}):
            lines += (f"# HELP {name} {about}", f"# TYPE {name} {kind}")
            lines += samples
        for name, kind, about, told in (family for source in self._sources for family in source()):
            if kind:
                lines += (f"# HELP {name} {about}", f"# TYPE {name} {kind}")
            lines += _samples(name, told)
        lines += process.render()
        return ("\n".join(lines) + "\n").encode()

    def _families(self, stored: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, str, str, Iterable[str]]]:
        name = "apiserver_request_total"
        yield name, "counter", "Requests that have been answered.", _samples(name, self._totals())
        name = "apiserver_request_duration_seconds"
        yield name, "histogram", "How long answering took, watches left out.", self._durations(name)
        name = "apiserver_current_inflight_requests"
        yield name, "gauge", "Requests being answered now, by whether they may write.", _samples(name, self._inflight())
        name = "apiserver_longrunning_requests"
        yield name, "gauge", "Watches, logs, execs and proxies running now.", _samples(name, self._running())
        by_resource = [((("resource", _dotted(*key)),), float(count)) for key, count in sorted(stored.items())]
        name = "apiserver_storage_objects"
        yield name, "gauge", "Stored objects by resource.", _samples(name, by_resource)
        by_group = [((("group", g), ("resource", r)), float(count)) for (g, r), count in sorted(stored.items())]
        name = "apiserver_resource_objects"
        yield name, "gauge", "Stored objects by group and resource.", _samples(name, by_group)

    def _totals(self) -> Iterator[Sample]:
        for key, series in self._requests.items():
            yield (("code", str(key[6])), *_Key(*key).labels()), sum(series.buckets)

    def _inflight(self) -> Iterator[Sample]:
        yield (("request_kind", "mutating"),), self.mutating
        yield (("request_kind", "readOnly"),), self.read_only

    def _running(self) -> Iterator[Sample]:
        for key, count in self._long_running.items():
            labels = _Key(*key, code=0, dry_run=False).labels()
            yield tuple(label for label in labels if label[0] != "dry_run"), count

    def _durations(self, name: str) -> Iterator[str]:
        """The histogram. Codes are not among its labels, so series that differ only by code are one here."""
        merged: dict[Labels, _Series] = {}
        for key, series in self._requests.items():
            if key[0] == "WATCH":
                continue
            sum_of = merged.setdefault(_Key(*key).labels(), _Series())
            sum_of.buckets = [ours + theirs for ours, theirs in zip(sum_of.buckets, series.buckets, strict=True)]
            sum_of.seconds += series.seconds
        for labels, series in merged.items():
            below = 0
            for bound, count in zip(_BOUNDS, series.buckets, strict=True):
                below += count
                yield _sample(f"{name}_bucket", (*labels, ("le", bound)), below)
            yield _sample(f"{name}_sum", labels, series.seconds)
            yield _sample(f"{name}_count", labels, below)


def _samples(name: str, samples: Iterable[Sample]) -> Iterator[str]:
    return (_sample(name, labels, value) for labels, value in samples)


def _sample(name: str, labels: Labels, value: float) -> str:
    written = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    return f"{name}{{{written}}} {value:.17g}" if written else f"{name} {value:.17g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _dotted(group: str, resource: str) -> str:
    return f"{resource}.{group}" if group else resource
