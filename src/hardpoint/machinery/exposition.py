"""Prometheus' text format: metrics as families of samples, and the text that a scraper reads.

Counting is one look-up and one addition for whoever counts; everything else (labels, buckets that add up, text) is
worked out here, when somebody asks. That is why the text is not written by a client library: a labelled counter and a
histogram there cost several microseconds each time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = Sequence[tuple[str, str]]
Sample = tuple[Labels, float]
Family = tuple[str, str, str, Iterable[Sample]]
"""The name of a metric, its type, what it tells, and its samples; no type continues the family before."""
Source = Callable[[], Iterable[Family]]


class Histogram:
    """How many values lie within each bound, and their sum."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def add(self, other: Histogram) -> None:
        """Count what another one with the same bounds has counted, too."""
        self.counts = [ours + theirs for ours, theirs in zip(self.counts, other.counts, strict=True)]
        self.total += other.total


class Histograms:
    """Histograms by labels, which are many or not known beforehand."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._by_labels: dict[tuple[tuple[str, str], ...], Histogram] = {}

    def observe(self, labels: tuple[tuple[str, str], ...], value: float) -> None:
        histogram = self._by_labels.get(labels)
        if histogram is None:
            histogram = self._by_labels[labels] = Histogram(self._bounds)
        histogram.observe(value)

    def families(self, name: str, about: str) -> Iterator[Family]:
        return histograms(name, about, self._by_labels.items())


def histograms(name: str, about: str, told: Iterable[tuple[Labels, Histogram]]) -> Iterator[Family]:
    """Histograms by their labels, as one family in the four parts that make it up."""
    spread = list(told)
    yield name, "histogram", about, ()
    yield f"{name}_bucket", "", "", (sample for labels, one in spread for sample in _buckets(labels, one))
    yield f"{name}_sum", "", "", [(labels, one.total) for labels, one in spread]
    yield f"{name}_count", "", "", [(labels, sum(one.counts)) for labels, one in spread]


def _buckets(labels: Labels, histogram: Histogram) -> Iterator[Sample]:
    below = 0
    for bound, count in zip((*histogram.bounds, None), histogram.counts, strict=True):
        below += count
        yield (*labels, ("le", "+Inf" if bound is None else f"{bound:g}")), below


def lines(families: Iterable[Family]) -> Iterator[str]:
    """The text of families, line by line."""
    for name, kind, about, samples in families:
        if kind:
            yield f"# HELP {name} {about}"
            yield f"# TYPE {name} {kind}"
        for labels, value in samples:
            yield _sample(name, labels, value)


def text(families: Iterable[Family]) -> bytes:
    """What a scraper gets."""
    return "".join(f"{line}\n" for line in lines(families)).encode()


def _sample(name: str, labels: Labels, value: float) -> str:
    written = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
    return f"{name}{{{written}}} {value:.17g}" if written else f"{name} {value:.17g}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
