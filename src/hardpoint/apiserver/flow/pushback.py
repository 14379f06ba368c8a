"""How those are told no who ask too much: when to come back, and not faster than they can be told.

Retry-After grows while refusals go on and shrinks when they cease, by kube-apiserver's rule. A refusal costs the
server a good part of what an answer costs, so refusals themselves leave at a bounded rate: who floods waits for theirs.
"""

from __future__ import annotations

from collections import deque

RETRY_AFTER_MAX = 32


class RetryAfter:
    """Seconds after which to try again, by what was refused in the last seconds."""

    def __init__(self) -> None:
        self.seconds = 1
        self._history: deque[tuple[int, int]] = deque()
        """How many were refused in which second, oldest first."""
        self._second = 0
        self._count = 0
        self._grown_at = 0

    def refuse(self, now: int) -> int:
        """Count a refusal in the second `now`, and tell it when to come back."""
        if now == self._second:
            self._count += 1
            return self.seconds
        self._history.append((self._second, self._count))
        while self._history and now - self._history[0][0] > min(2 * self.seconds, RETRY_AFTER_MAX):
            self._history.popleft()
        self._second, self._count = now, 1
        self._adapt(now)
        return self.seconds

    def _adapt(self, now: int) -> None:
        recent = sum(count for second, count in self._history if 0 < now - second <= self.seconds)
        if now - self._grown_at >= self.seconds and recent >= 3 * self.seconds:
            self.seconds = min(2 * self.seconds, RETRY_AFTER_MAX)
            self._grown_at = now
        elif recent < self.seconds and self.seconds > 1:
            self.seconds -= 1


class Brake:
    """So many a second, so many at once after a rest, and nobody waits for long."""

    def __init__(self, *, per_second: float, burst: int, wait_seconds_max: float) -> None:
        self._interval = 1 / per_second
        self._slack = burst / per_second
        self._wait_seconds_max = wait_seconds_max
        self._next = 0.0

    def delay_seconds(self, now: float) -> float:
        """How long the next one is to wait."""
        self._next = min(max(self._next, now - self._slack) + self._interval, now + self._wait_seconds_max)
        return max(self._next - now, 0.0)
