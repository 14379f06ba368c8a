"""What a webhook server has answered, in Prometheus' text format. Paths are the server's own, never a stranger's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from hardpoint.machinery.exposition import Family, Histogram, histograms, text

BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_PREFIX = "hardpoint_webhook"


class WebhookMetrics:
    """Counts answers. One event loop's own."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._answers: Counter[tuple[str, int]] = Counter()
        self._seconds: dict[str, Histogram] = {}

    @contextmanager
    def counted(self) -> Iterator[None]:
        """A review that is being answered."""
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1

    def observe(self, path: str, code: int, seconds: float) -> None:
        """An answer; `path` is empty for those that nobody serves."""
        self._answers[path, code] += 1
        histogram = self._seconds.get(path)
        if histogram is None:
            histogram = self._seconds[path] = Histogram(BUCKETS)
        histogram.observe(seconds)

    def render(self) -> bytes:
        return text(self.families())

    def families(self) -> Iterator[Family]:
        """What `/metrics` tells."""
        answers = [((("code", str(code)), ("path", path)), n) for (path, code), n in sorted(self._answers.items())]
        yield f"{_PREFIX}_requests_total", "counter", "Requests that have been answered.", answers
        yield f"{_PREFIX}_requests_in_flight", "gauge", "Reviews being answered now.", [((), self.in_flight)]
        spread = [((("path", path),), histogram) for path, histogram in sorted(self._seconds.items())]
        yield from histograms(f"{_PREFIX}_request_duration_seconds", "How long answering took.", spread)
