"""What a follower knows of a collection: which question comes next, and what each answer changes.

A state machine without I/O, so that every cut and every order can be tried in a test:

                  not understood, failed, or never finished
    STREAMING ───────────────────────────────────────► LISTING
      │   ▲                                             │   ▲
      │   └───────────────┐             ┌───────────────┼───┘
      │ the initial       │  forgotten  │               │ the list
      │ events ended      │    (410)    │               │ is complete
      └────────────────► WATCHING ──────┘ ◄─────────────┘

Forgotten leads back to STREAMING, or to LISTING once a server has shown that it does not do streaming lists. Of each
object only its identity is remembered: the objects themselves are kept, or not, by whoever follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from sys import intern
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
SAYS_NOTHING_OF_STREAMING = frozenset({401, 403, 404, 429})
"""Answers that a list would get too. Any other may be due to the streaming: a kube-apiserver over an etcd that is too
old for it answers with 500."""


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
    modified only to another version, deleted once, and at each SYNCED they add up to the server's state. A change
    counts as told once it was handed out, and its resource version as reached once the next is asked for: whoever is
    interrupted between two changes may go on with the same picture later, and misses and repeats nothing.
    """

    def __init__(self, *, tells_bookmarks: bool = False) -> None:
        """With `tells_bookmarks` the changes include the BOOKMARKs of a watch that is up to date."""
        self.state = State.STREAMING
        self.resource_version = ""
        self.has_synced = False
        self._tells_bookmarks = tells_bookmarks
        self._can_stream = True
        self._type: Json = {}
        self._known: dict[Key, str] = {}
        """Which object it is and in which version: the uid, a space and the resourceVersion. Many are known."""
        self._seen: set[Key] = set()

    def query(self) -> dict[str, str]:
        """What the next watch asks for."""
        if self.state is State.STREAMING:
            self._seen = set()
            return {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
        return {"resourceVersion": self.resource_version}

    def take_in(self, event: Event) -> Iterator[Event]:
        """The changes that one event of the watch stands for."""
        if event.type == "BOOKMARK":
            yield from self._bookmark(event)
            return
        key = _key(event.object)
        if self.state is not State.WATCHING:
            self._seen.add(key)
        elif self._is_past(key, event):
            return
        if event.type != "DELETED":
            yield from self._put(key, event)
        elif self._known.pop(key, None) is not None:
            yield event
        if self.state is State.WATCHING:
            self.resource_version = event.resource_version

    def begin_list(self) -> None:
        """A list begins, of which nothing has been seen."""
        self._seen = set()

    def take_in_page(self, page: Json) -> Iterator[Event]:
        """The changes that lead to what a page of a list holds; after the last page, those that complete it."""
        for item in page["items"]:
            key = _key(item)
            self._seen.add(key)
            yield from self._put(key, Event("MODIFIED", item))
        if not page["metadata"].get("continue"):
            yield from self._synced(page["metadata"].get("resourceVersion", ""))

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
        if self.state is State.STREAMING and failure.code not in SAYS_NOTHING_OF_STREAMING:
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

    def _bookmark(self, event: Event) -> Iterator[Event]:
        if event.ends_initial_events and self.state is State.STREAMING:
            yield from self._synced(event.resource_version)
        elif self.state is State.WATCHING:
            self.resource_version = event.resource_version
            if self._tells_bookmarks:
                yield event
        else:
            # An ordinary bookmark before the end of the initial events: this server does not announce that end.
            self._give_up_streaming()

    def _put(self, key: Key, event: Event) -> Iterator[Event]:
        """The changes to an object that is there."""
        metadata = event.object["metadata"]
        now = f"{metadata.get('uid', '')} {metadata.get('resourceVersion', '')}"
        before = self._known.get(key)
        if before is not None and before.partition(" ")[0] != now.partition(" ")[0]:
            del self._known[key]
            yield self._missed(key, before)
            before = None
        if before is None:
            self._known[key] = now
            self._type = self._type or _type(event.object)
            yield event if event.type == "ADDED" else Event("ADDED", event.object)
        elif before != now:
            self._known[key] = now
            yield event if event.type == "MODIFIED" else Event("MODIFIED", event.object)

    def _is_past(self, key: Key, event: Event) -> bool:
        """Whether a watch repeats what came before the version that is known: nobody goes back to that.

        A list may go back, if the server does.
        """
        known, told = self._known.get(key, "").rpartition(" ")[2], event.resource_version
        return known.isdecimal() and told.isdecimal() and _as_number(told) < _as_number(known)

    def _synced(self, resource_version: str) -> Iterator[Event]:
        for key in sorted(key for key in self._known if key not in self._seen):
            yield self._missed(key, self._known.pop(key))
        self._seen = set()
        self.resource_version = resource_version
        self.state = State.WATCHING
        self.has_synced = True
        yield Event("SYNCED", {"metadata": {"resourceVersion": resource_version}})

    def _missed(self, key: Key, known: str) -> Event:
        """The end of an object, found out by comparing."""
        namespace, name = key
        uid, _, resource_version = known.partition(" ")
        metadata = {"name": name, "namespace": namespace, "uid": uid, "resourceVersion": resource_version}
        said = {field: value for field, value in metadata.items() if value}
        return Event("DELETED", {**self._type, "metadata": said}, is_missed=True)


def is_forgotten(refused: ApiError) -> bool:
    """Whether the server cannot go on from the resource version it was given: too old, or from another life."""
    if refused.code == 410 or refused.reason in ("Expired", "Gone"):
        return True
    causes = (refused.details or {}).get("causes")
    if not isinstance(causes, list):
        return False
    return any(isinstance(cause, dict) and cause.get("reason") == "ResourceVersionTooLarge" for cause in causes)


def _as_number(digits: str) -> tuple[int, str]:
    """Compares as the number does, however many digits it has: Python refuses to read thousands of them."""
    significant = digits.lstrip("0")
    return len(significant), significant


def _type(found: Json) -> Json:
    return {name: found[name] for name in ("apiVersion", "kind") if name in found}


def _key(found: Json) -> Key:
    metadata = found["metadata"]
    # Many objects share a namespace, and each comes with its own copy of the text.
    return intern(metadata.get("namespace", "")), metadata["name"]
