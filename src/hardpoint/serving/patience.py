"""How long a peer may take.

Nothing is timed per request. The server looks at each connection now and then, and what has not changed since the
last look has been so for at least that long; so all the bookkeeping is here, and a busy connection pays none of it.
"""

from __future__ import annotations

from enum import Enum

from hardpoint.serving.limits import Limits
from hardpoint.serving.reading import Phase


class Verdict(Enum):
    """What to do with a connection."""

    FINE = "go on"
    QUIET = "close it: nobody is using it"
    SLOW = "refuse it: the request takes too long to come"
    STALLED = "drop it: the answer is not being taken"


class Patience:
    """What was seen of one connection at the last look, and since when."""

    __slots__ = ("_limits", "_seen", "_since")

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._seen: tuple[object, int] = (Phase.BETWEEN, 0)
        self._since = now

    def writing(self, waiting_bytes: int, now: float) -> Verdict:
        """A look at a connection whose client should be taking an answer, of which so much is still waiting."""
        patient = self._same_for("writing", waiting_bytes, now) <= self._limits.stall_seconds
        return Verdict.FINE if patient else Verdict.STALLED

    def reading(self, phase: Phase, message: int, body_bytes: int, now: float) -> Verdict:
        """A look at a connection that owes nothing, in this phase of its so-many-th message."""
        limits = self._limits
        seconds = self._same_for(phase, message, now)
        if phase is Phase.BETWEEN:
            return Verdict.FINE if seconds <= limits.idle_seconds else Verdict.QUIET
        if phase is Phase.HEAD:
            return Verdict.FINE if seconds <= limits.head_seconds else Verdict.SLOW
        keeps_up = seconds <= limits.body_grace_seconds or body_bytes >= seconds * limits.body_bytes_per_second_min
        return Verdict.FINE if keeps_up else Verdict.SLOW

    def working(self, now: float) -> Verdict:
        """A look at a connection whose request is being handled: that takes as long as the handler allows."""
        self._same_for("working", 0, now)
        return Verdict.FINE

    def _same_for(self, what: object, measure: int, now: float) -> float:
        if self._seen != (what, measure):
            self._seen = (what, measure)
            self._since = now
        return now - self._since
