"""What is remembered of an object for as long as a process runs, and is not worth writing down.

When a handler may be tried again, when a timer rings, since when nothing changed: a process that starts anew tries,
rings and counts from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hardpoint.runtime.changes import Key
from hardpoint.runtime.finalizers import is_deleted
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.workqueue import LookAgain, LookFailed
from hardpoint.seams.controller.guest.handlers.essence import Path, digest, value_at
from hardpoint.seams.controller.guest.handlers.progress import Progress

Json = dict[str, Any]

NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Postponed:
    """A handler that is not done: how often it failed, with what, and when it is called again."""

    failures: int
    subject: str
    """The digest of what it was called for; another one is another matter."""
    at: datetime


@dataclass(slots=True)
class Memory:
    """What is known of one object."""

    uid: str
    subject: str
    """The digest of its essence."""
    changed_at: datetime
    """When it was first seen to be so."""
    postponed: dict[str, Postponed] = field(default_factory=dict)
    rings: dict[str, datetime] = field(default_factory=dict)
    """When each timer is due."""
    unwritten: tuple[Progress, str | None] | None = None
    """What is not written yet, or is not to be in a dry run, and the annotation that it follows on."""


class Look:
    """One look at one object: what is seen, and what comes of it."""

    def __init__(self, key: Key, seen: Json, memory: Memory, now: Callable[[], datetime]) -> None:
        self.key = key
        self.seen = seen
        self.memory = memory
        self._now = now
        self._waits: list[float] = []
        self._failures: list[str] = []
        self._values: dict[Path, tuple[Any, str]] = {}

    def begin(self, progress: Progress, *, is_known: bool) -> None:
        """Say how far the handlers are with the object, and whether it is one they have seen before."""
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


class Memories:
    """What is known of each object."""

    def __init__(self) -> None:
        self._memories: dict[Key, Memory] = {}

    def of(self, key: Key, seen: Json, now: datetime) -> Memory:
        """The memory of this very object, brought up to what is seen."""
        uid, subject = seen["metadata"]["uid"], digest(value_at(seen, ()))
        memory = self._memories.get(key)
        if memory is None or memory.uid != uid:
            memory = self._memories[key] = Memory(uid, subject, now)
        elif memory.subject != subject:
            memory.subject, memory.changed_at = subject, now
        return memory

    def forget(self, key: Key) -> None:
        self._memories.pop(key, None)

    def clear(self) -> None:
        self._memories.clear()
