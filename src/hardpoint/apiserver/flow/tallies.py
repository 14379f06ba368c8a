"""What the gate has done and is doing, by priority level and flow schema, under kube-apiserver's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from hardpoint.apiserver.flow.levels import Level
from hardpoint.machinery.exposition import Family, Histogram, Sample, histograms

BUCKETS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)
_PREFIX = "apiserver_flowcontrol"


class Tally:
    """The requests of one schema at one level."""

    __slots__ = ("dispatched", "finished", "rejected", "waited", "waiting")

    def __init__(self) -> None:
        self.dispatched = 0
        self.finished = 0
        self.waiting = 0
        self.rejected: Counter[str] = Counter()
        self.waited = Histogram(BUCKETS)


def families(levels: Iterable[Level], tallies: Mapping[tuple[str, str], Tally]) -> Iterator[Family]:
    """What `/metrics` tells."""
    named = [
        ((("flow_schema", schema), ("priority_level", level)), tally) for (level, schema), tally in tallies.items()
    ]
    rejected: list[Sample] = [
        ((*labels, ("reason", reason)), count) for labels, tally in named for reason, count in tally.rejected.items()
    ]
    yield f"{_PREFIX}_rejected_requests_total", "counter", "Requests refused for want of room.", rejected
    executing: list[Sample] = [(labels, tally.dispatched - tally.finished) for labels, tally in named]
    for name, kind, about, samples in (
        ("dispatched_requests_total", "counter", "Requests that were let in.", [(n, t.dispatched) for n, t in named]),
        ("current_inqueue_requests", "gauge", "Requests waiting now.", [(n, t.waiting) for n, t in named]),
        ("current_executing_requests", "gauge", "Requests being served now.", executing),
    ):
        yield f"{_PREFIX}_{name}", kind, about, samples
    waited = [((*labels, ("execute", "true")), tally.waited) for labels, tally in named]
    yield from histograms(f"{_PREFIX}_request_wait_duration_seconds", "How long requests waited.", waited)
    limits = [((("priority_level", level.shape.name),), level) for level in levels]
    for name, about, seats in (
        ("current_executing_seats", "Seats in use now.", [(n, level.in_use) for n, level in limits]),
        ("nominal_limit_seats", "Seats of a level by its shares.", [(n, level.nominal) for n, level in limits]),
        ("lower_limit_seats", "Seats a level never lends.", [(n, level.minimum) for n, level in limits]),
        ("upper_limit_seats", "Seats of a level with all it may borrow.", [(n, level.maximum) for n, level in limits]),
    ):
        yield f"{_PREFIX}_{name}", "gauge", about, seats
