"""What a follower knows of a collection: which question comes next, and what each answer changes.

A state machine without I/O, so that every cut and every order can be tried in a test:

                  not understood, or never finished
    STREAMING ───────────────────────────────────────► LISTING
      │   ▲                                             │   ▲
      │   └───────────────┐             ┌───────────────┼───┘
      │ the initial       │  forgotten  │               │ the list
      │ events ended      │    (410)    │               │ is complete
      └────────────────► WATCHING ──────┘ ◄─────────────┘

Forgotten leads back to STREAMING, or to LISTING once a server has shown that it does not do streaming lists.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from hardpoint.client.events import Event
from hardpoint.client.transport import Closed, TransportError
from hardpoint.machinery.errors import ApiError

Json = dict[str, Any]
Key = tuple[str, str]

# A watch that the server keeps failing may do better from another resource version.
FAILURES_BEFORE_STARTING_OVER = 5
NOT_UNDERSTOOD = frozenset({400, 405, 406, 422})
HOPELESS = NOT_UNDERSTOOD | {401, 403, 404}
"""Answers that asking again will not change, unless somebody changes the server."""


class State(Enum):
    """What is being asked."""

    STREAMING = "a watch that begins with everything there is"
    LISTING = "a list, page by page"
    WATCHING = "a watch from the resource version that is known"


class Reaction(Enum):
    """What to do about a failure."""

    RAISE = "tell the caller"
    ASK_NOW = "ask the next question at once"
    ASK_LATER = "wait, then ask the next question"


class Silence(TransportError):
    """A watch said nothing for so long that it is taken for dead."""


class Picture:
    """What is known, and the changes that lead from one knowledge to the next.

    Whatever the server repeats, skips or forgets, the changes that come out are a history: an object is added once,
    modified only to another version, deleted once, and at each SYNCED they add up to the server's state.
    """

    def __init__(self) -> None:
        self.state = State.STREAMING
        self.resource_version = ""
        self.has_synced = False
        self._can_stream = True
        self._known: dict[Key, Json] = {}
        self._seen: set[Key] = set()

    def query(self) -> dict[str, str]:
        """What the next watch asks for."""
        if self.state is State.STREAMING:
            self._seen = set()
            return {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        return {"resourceVersion": self.resource_version}

    def take_in(self, event: Event) -> list[Event]:
        """The changes that one event of the watch stands for."""
        if event.type == "BOOKMARK":
            return self._bookmark(event)
        if self.state is State.WATCHING:
            self.resource_version = event.resource_version
        key = _key(event.object)
        if event.type == "DELETED":
            return [event] if self._known.pop(key, None) is not None else []
        self._note_seen(key)
        return self._put(key, event.object)

    def take_in_list(self, listed: Json) -> list[Event]:
        """The changes that lead to a complete list."""
        self._seen = set()
        changes: list[Event] = []
        for item in listed["items"]:
            key = _key(item)
            self._seen.add(key)
            changes += self._put(key, item)
        return changes + self._synced(listed["metadata"].get("resourceVersion", ""))

    def react_to(self, failure: ApiError | TransportError, failures: int) -> Reaction:
        """Decide what comes after a failure, when `failures` others in a row came before it."""
        if isinstance(failure, Silence):
            if self.state is State.STREAMING:
                self._give_up_streaming()
            return Reaction.ASK_NOW
        if not isinstance(failure, ApiError):
            return Reaction.RAISE if isinstance(failure, Closed) else Reaction.ASK_LATER
        if is_forgotten(failure):
            self._start_over()
            return Reaction.ASK_LATER if failures else Reaction.ASK_NOW
        if self.state is State.STREAMING and failure.code in NOT_UNDERSTOOD:
            self._give_up_streaming()
            return Reaction.ASK_NOW
        if failure.code in HOPELESS and not self.has_synced:
            return Reaction.RAISE
        if self.state is State.WATCHING and failures >= FAILURES_BEFORE_STARTING_OVER:
            self._start_over()
        return Reaction.ASK_LATER

    def _start_over(self) -> None:
        self.state = State.STREAMING if self._can_stream else State.LISTING

    def _give_up_streaming(self) -> None:
        self._can_stream = False
        self.state = State.LISTING

    def _bookmark(self, event: Event) -> list[Event]:
        if event.ends_initial_events and self.state is State.STREAMING:
            return self._synced(event.resource_version)
        if self.state is State.WATCHING:
            self.resource_version = event.resource_version
        else:
            # An ordinary bookmark before the end of the initial events: this server does not announce that end.
            self._give_up_streaming()
        return []

    def _note_seen(self, key: Key) -> None:
        if self.state is not State.WATCHING:
            self._seen.add(key)

    def _put(self, key: Key, found: Json) -> list[Event]:
        before = self._known.get(key)
        self._known[key] = found
        if before is None:
            return [Event("ADDED", found)]
        old, new = before["metadata"], found["metadata"]
        if old.get("uid") != new.get("uid"):
            return [Event("DELETED", before), Event("ADDED", found)]
        if old.get("resourceVersion") == new.get("resourceVersion"):
            return []
        return [Event("MODIFIED", found)]

    def _synced(self, resource_version: str) -> list[Event]:
        gone = sorted(self._known.keys() - self._seen)
        changes = [Event("DELETED", self._known.pop(key)) for key in gone]
        self._seen = set()
        self.resource_version = resource_version
        self.state = State.WATCHING
        self.has_synced = True
        return [*changes, Event("SYNCED", {"metadata": {"resourceVersion": resource_version}})]


def is_forgotten(refused: ApiError) -> bool:
    """Whether the server cannot go on from the resource version it was given: too old, or from another life."""
    if refused.code == 410 or refused.reason in ("Expired", "Gone"):
        return True
    causes = (refused.details or {}).get("causes")
    if not isinstance(causes, list):
        return False
    return any(isinstance(cause, dict) and cause.get("reason") == "ResourceVersionTooLarge" for cause in causes)


def _key(found: Json) -> Key:
    metadata = found["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
