"""What is remembered of an object for as long as a process runs, and is not worth writing down.

When a handler may be tried again, when a timer rings, since when nothing changed: a process that starts anew tries,
rings and counts from then on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hardpoint.runtime.changes import Key
from hardpoint.seams.controller.guest.handlers.essence import digest, essence
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


class Memories:
    """What is known of each object."""

    def __init__(self) -> None:
        self._memories: dict[Key, Memory] = {}

    def of(self, key: Key, seen: Json, now: datetime) -> Memory:
        """The memory of this very object, brought up to what is seen."""
        uid, subject = seen["metadata"]["uid"], digest(essence(seen))
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
