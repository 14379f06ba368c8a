"""What a webhook server has answered, in Prometheus' text format. Paths are the server's own, never a stranger's."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class WebhookMetrics:
    """Counts answers. One event loop's own."""

    def __init__(self) -> None:
        self.in_flight = 0
        self._answers: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._seconds: Counter[str] = Counter()

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
        buckets = self._buckets.setdefault(path, [0] * (len(BUCKETS) + 1))
        buckets[bisect_left(BUCKETS, seconds)] += 1
        self._seconds[path] += seconds  # type: ignore[assignment]  # a Counter adds up fractions just as well

    def render(self) -> bytes:
        return ("\n".join(self._lines()) + "\n").encode()

    def _lines(self) -> Iterator[str]:
        name = "hardpoint_webhook_requests_total"
        yield f"# HELP {name} Requests that have been answered."
        yield f"# TYPE {name} counter"
        for (path, code), count in sorted(self._answers.items()):
            yield f'{name}{{code="{code}",path="{path}"}} {count}'
        name = "hardpoint_webhook_requests_in_flight"
        yield f"# HELP {name} Reviews being answered now."
        yield f"# TYPE {name} gauge"
        yield f"{name} {self.in_flight}"
        name = "hardpoint_webhook_request_duration_seconds"
        yield f"# HELP {name} How long answering took."
        yield f"# TYPE {name} histogram"
        for path, buckets in sorted(self._buckets.items()):
            below = 0
            for bound, count in zip((*BUCKETS, "+Inf"), buckets, strict=True):
                below += count
                yield f'{name}_bucket{{path="{path}",le="{bound}"}} {below}'
            yield f'{name}_sum{{path="{path}"}} {self._seconds[path]:.9f}'
            yield f'{name}_count{{path="{path}"}} {below}'
