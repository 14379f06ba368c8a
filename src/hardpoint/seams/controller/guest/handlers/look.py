"""One look at one object: what is seen of it, how far its handlers are, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from hardpoint.runtime.changes import Key
from hardpoint.runtime.finalizers import is_deleted
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.workqueue import LookAgain, LookFailed
from hardpoint.seams.controller.guest.handlers.essence import Path, digest, value_at
from hardpoint.seams.controller.guest.handlers.memory import NEVER, Memory, Postponed
from hardpoint.seams.controller.guest.handlers.progress import Progress

Json = dict[str, Any]


class Look:
    """What one look knows. It is over when something else has become of the object."""

    def __init__(self, key: Key, seen: Json, memory: Memory, now: Callable[[], datetime]) -> None:
        self.key = key
        self.seen = seen
        self.memory = memory
        self.is_known = False
        """Whether the handlers have seen the object before."""
        self.progress = self.written = Progress(memory.uid)
        """How far they are, and how far they were when that was last written."""
        self._now = now
        self._waits: list[float] = []
        self._failures: list[str] = []
        self._values: dict[Path, tuple[Any, str]] = {}

    def begin(self, progress: Progress, *, is_known: bool) -> None:
        """Say how far the handlers are with the object."""
        self.progress = self.written = progress
        self.is_known = is_known

    def value(self, path: Path) -> tuple[Any, str]:
        """The value of a field, and its digest."""
        if path not in self._values:
            value = value_at(self.seen, path)
            self._values[path] = value, digest(value)
        return self._values[path]

    def refresh(self, primary: Informer) -> None:
        """See what has become of the object meanwhile. Raises LookAgain if that is another matter."""
        found = primary.read(self.key)
        if found is None or found["metadata"]["uid"] != self.memory.uid or is_deleted(found) != is_deleted(self.seen):
            raise LookAgain(f"{self.key} is not what it was")
        self.seen = found
        self._values.clear()

    def wait_until(self, moment: datetime) -> None:
        """Have the object looked at then."""
        if moment != NEVER:
            self._waits.append(max(0.0, (moment - self._now()).total_seconds()))

    def postpone(self, handler: str, subject: str, seconds: float, failures: int = 0) -> None:
        """Call a handler again, then or when what it is called for is another."""
        at = self._now() + timedelta(seconds=seconds)
        self.memory.postponed[handler] = Postponed(failures, subject, at)
        self.wait_until(at)

    def fail(self, failure: Exception) -> None:
        """Something went wrong, and was told."""
        self._failures.append(str(failure))

    def end(self) -> float | None:
        """In how many seconds to look again. Raises LookFailed."""
        again_seconds = min(self._waits, default=None)
        if self._failures:
            raise LookFailed(f"{self.key}: {'; '.join(self._failures)}", again_seconds=again_seconds)
        return again_seconds
