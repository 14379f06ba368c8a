"""What controllers have done and are doing, under controller-runtime's names and labels.

Counting is an addition on an object that whoever counts keeps: less than a microsecond. The text is made when somebody
asks. One event loop's own, except for the counts of requests: those are made wherever a client is used, and adding to a
Counter from two threads may at worst lose one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Literal, Protocol

from hardpoint.machinery.exposition import Family, Histogram, Labels, Sample, Source, histograms, text
from hardpoint.runtime.workqueue_metrics import QueueMetrics
from hardpoint.serving import process

Result = Literal["success", "error", "requeue", "requeue_after"]

RECONCILE_BUCKETS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0),
    *(40.0, 50.0, 60.0),
)
QUEUE_BUCKETS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)
PRIORITIES_MAX = 25
"""Whoever uses more priorities than this gets one series for all of them."""
_MANY_PRIORITIES = "exceeded_cardinality_limit"


class Measurable(Protocol):
    """What can be asked of a queue when somebody wants to know."""

    def depths(self) -> Mapping[int, int]:
        """How many items are due, by priority."""
        ...

    def busy_seconds(self) -> list[float]:
        """How long each of the looks under way has taken so far."""
        ...


class ReconcileCounts:
    """What one controller has done."""

    __slots__ = ("active", "panics", "results", "seconds", "terminal_errors", "workers")

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.active = 0
        """Reconciles under way; whoever runs one adds it and takes it back."""
        self.results: dict[Result, int] = {"success": 0, "error": 0, "requeue": 0, "requeue_after": 0}
        self.panics = 0
        self.terminal_errors = 0
        self.seconds = Histogram(RECONCILE_BUCKETS)

    def ended(self, result: Result, seconds: float, *, is_terminal: bool = False, is_panic: bool = False) -> None:
        """Count a reconcile. A panic is an error of the program, a terminal error one that is not tried again."""
        self.results[result] += 1
        self.seconds.observe(seconds)
        if is_terminal:
            self.terminal_errors += 1
        if is_panic:
            self.panics += 1


class QueueCounts:
    """What one queue has done; a WorkQueue tells it."""

    __slots__ = ("adds", "queue", "retries", "waited", "worked")

    def __init__(self) -> None:
        self.queue: Measurable | None = None
        """The queue itself, to be asked how much there is to do; whoever makes it says so."""
        self.adds = 0
        self.retries = 0
        self.waited = Histogram(QUEUE_BUCKETS)
        self.worked = Histogram(QUEUE_BUCKETS)

    def added(self) -> None:
        self.adds += 1

    def taken(self, waited_seconds: float) -> None:
        self.waited.observe(waited_seconds)

    def finished(self, worked_seconds: float) -> None:
        self.worked.observe(worked_seconds)

    def retried(self) -> None:
        self.retries += 1

    def depths(self) -> Iterator[tuple[str, int]]:
        """How much is due, by priority as it is labelled."""
        depths = self.queue.depths() if self.queue is not None else {}
        if len(depths) > PRIORITIES_MAX:
            yield _MANY_PRIORITIES, sum(depths.values())
            return
        for priority, depth in sorted((depths or {0: 0}).items()):
            yield str(priority), depth

    def busy_seconds(self) -> list[float]:
        return self.queue.busy_seconds() if self.queue is not None else []


class ControllerMetrics:
    """Everything that one process has to tell."""

    def __init__(self) -> None:
        self._controllers: dict[str, ReconcileCounts] = {}
        self._queues: dict[str, QueueCounts] = {}
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._leads: dict[str, bool] = {}
        self._sources: list[Source] = []

    def controller(self, name: str, *, workers: int = 1) -> ReconcileCounts:
        """Where the reconciles of a controller are counted; its series are there from now on."""
        return self._controllers.setdefault(name, ReconcileCounts(workers))

    def queue(self, name: str) -> QueueCounts:
        """Where a queue counts; by convention it is named like its controller."""
        return self._queues.setdefault(name, QueueCounts())

    def requested(self, code: str, method: str, host: str) -> None:
        """Count an attempt to ask an API server; its `code` is `<error>` if no answer came."""
        self._requests[code, method, host] += 1

    def leads(self, name: str, leads: bool) -> None:
        """Note whether this process leads the Lease of that name."""
        self._leads[name] = leads

    def add(self, source: Source) -> None:
        """Tell also what `source` returns when somebody asks."""
        self._sources.append(source)

    def render(self) -> bytes:
        """All metrics as text."""
        told = (family for source in self._sources for family in source())
        return text(chain(self._families(), told, process.families()))

    def _families(self) -> Iterator[Family]:
        if self._controllers:
            yield from _controller_families({(("controller", n),): c for n, c in self._controllers.items()})
        if self._queues:
            yield from _queue_families({(("controller", n), ("name", n)): q for n, q in self._queues.items()})
        if self._requests:
            asked = [
                ((("code", code), ("host", host), ("method", method)), count)
                for (code, method, host), count in self._requests.items()
            ]
            yield "rest_client_requests_total", "counter", "Requests to API servers, each attempt counted.", asked
        if self._leads:
            leads = [((("name", name),), leads) for name, leads in self._leads.items()]
            yield "leader_election_master_status", "gauge", "1 for a Lease that this process leads by.", leads


def _controller_families(told: Mapping[Labels, ReconcileCounts]) -> Iterator[Family]:
    def each(value: str) -> list[Sample]:
        return [(labels, getattr(counts, value)) for labels, counts in told.items()]

    prefix = "controller_runtime"
    results = [((*labels, ("result", r)), n) for labels, counts in told.items() for r, n in counts.results.items()]
    yield f"{prefix}_reconcile_total", "counter", "Reconciles by how they ended.", results
    errors = [(labels, counts.results["error"]) for labels, counts in told.items()]
    yield f"{prefix}_reconcile_errors_total", "counter", "Reconciles that failed.", errors
    about = "Failures that are not tried again."
    yield f"{prefix}_terminal_reconcile_errors_total", "counter", about, each("terminal_errors")
    yield f"{prefix}_reconcile_panics_total", "counter", "Failures that nobody expected.", each("panics")
    seconds = [(labels, counts.seconds) for labels, counts in told.items()]
    yield from histograms(f"{prefix}_reconcile_time_seconds", "How long reconciles took.", seconds)
    yield f"{prefix}_max_concurrent_reconciles", "gauge", "How many may run at once.", each("workers")
    yield f"{prefix}_active_workers", "gauge", "How many run now.", each("active")


def _queue_families(told: Mapping[Labels, QueueCounts]) -> Iterator[Family]:
    depths = [((*labels, ("priority", p)), depth) for labels, queue in told.items() for p, depth in queue.depths()]
    yield "workqueue_depth", "gauge", "Items that are due.", depths
    adds = [(labels, queue.adds) for labels, queue in told.items()]
    yield "workqueue_adds_total", "counter", "Items that became due.", adds
    waited = [(labels, queue.waited) for labels, queue in told.items()]
    yield from histograms("workqueue_queue_duration_seconds", "How long items waited to be looked at.", waited)
    worked = [(labels, queue.worked) for labels, queue in told.items()]
    yield from histograms("workqueue_work_duration_seconds", "How long looking at an item took.", worked)
    busy = {labels: queue.busy_seconds() for labels, queue in told.items()}
    about = "How long the looks under way have taken so far, together."
    yield (
        "workqueue_unfinished_work_seconds",
        "gauge",
        about,
        [(labels, sum(seconds)) for labels, seconds in busy.items()],
    )
    about = "How long the longest of the looks under way has taken so far."
    yield (
        "workqueue_longest_running_processor_seconds",
        "gauge",
        about,
        [(n, max(seconds, default=0.0)) for n, seconds in busy.items()],
    )
    retries = [(labels, queue.retries) for labels, queue in told.items()]
    yield "workqueue_retries_total", "counter", "Items that have to be looked at again.", retries


_conforms: type[QueueMetrics] = QueueCounts
