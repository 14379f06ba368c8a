"""What a reconcile function may answer, and what the cluster's side can rely on.

A reconcile function is given an object as it is now and makes the world look like it. It is called again whenever the
object or something that belongs to it changes, when it asked for that, and after it failed; it may be called at any
time, and a process may end at any point of it. Two calls for one object never overlap.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isnan

from hardpoint.machinery.errors import HardpointError


class Permanent(HardpointError):
    """Raised by a reconcile function: trying again is no use until the object, or something it depends on, changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requeue:
    """Have the object looked at again: `after` so many seconds, or `at` a moment. Whatever changes it comes earlier."""

    after: float | timedelta | None = None
    at: datetime | None = None

    def __post_init__(self) -> None:
        if (self.after is None) == (self.at is None):
            raise ValueError("Requeue takes one of after= (seconds) and at= (a datetime)")
        if isinstance(self.after, float) and isnan(self.after):
            raise ValueError("Requeue(after=nan) is no number of seconds")
        if self.at is not None and self.at.tzinfo is None:
            raise ValueError(f"Requeue(at={self.at!r}) has no time zone; ctx.now has one")

    def seconds(self, now: datetime) -> float:
        """How long from `now`; never less than nothing."""
        if self.at is not None:
            return max(0.0, (self.at - now).total_seconds())
        after = self.after.total_seconds() if isinstance(self.after, timedelta) else self.after
        return max(0.0, after or 0.0)
