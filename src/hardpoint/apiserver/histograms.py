"""How long things took, by labels, in buckets: for `/metrics`."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator

from hardpoint.machinery.exposition import Family, Sample

Labels = tuple[tuple[str, str], ...]


class Seconds:
    """A histogram of seconds, by labels."""

    def __init__(self, buckets: tuple[float, ...]) -> None:
        self._buckets = buckets
        self._counts: dict[Labels, list[int]] = defaultdict(lambda: [0] * (len(buckets) + 1))
        self._sums: Counter[Labels] = Counter()

    def observe(self, labels: Labels, seconds: float) -> None:
        self._counts[labels][bisect_left(self._buckets, seconds)] += 1
        self._sums[labels] += seconds  # type: ignore[assignment]  # A Counter adds floats as well.

    def families(self, name: str, about: str) -> Iterator[Family]:
        yield name, "histogram", about, ()
        bounds = (*(f"{bound:g}" for bound in self._buckets), "+Inf")
        buckets: list[Sample] = []
        for labels, counts in self._counts.items():
            below = 0
            for bound, count in zip(bounds, counts, strict=True):
                below += count
                buckets.append(((*labels, ("le", bound)), below))
        yield f"{name}_bucket", "", "", buckets
        yield f"{name}_sum", "", "", [(labels, float(seconds)) for labels, seconds in self._sums.items()]
        yield f"{name}_count", "", "", [(labels, sum(counts)) for labels, counts in self._counts.items()]
