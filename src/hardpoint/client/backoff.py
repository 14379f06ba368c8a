"""How long to wait after failures in a row: longer each time, never too long, and not in step with others."""

from __future__ import annotations

from collections.abc import Callable

FIRST_SECONDS = 0.8
SECONDS_MAX = 30.0


class Backoff:
    """0.8 s, doubling to 30 s, each up to twice as long by chance, as client-go waits between watches."""

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self.failures = 0

    def next_seconds(self) -> float:
        """The wait after one more failure."""
        # The exponent is bounded, for a server may stay away for days.
        base = min(FIRST_SECONDS * 2.0 ** min(self.failures, 16), SECONDS_MAX)
        self.failures += 1
        return base * (1.0 + self._random())

    def reset(self) -> None:
        """Something worked."""
        self.failures = 0
