"""What was handled, as an annotation of the object remembers it: a process that starts goes on from there.

For each handler of updates there is the digest of what it was last called with, and for each digest the value, once,
so that a change can be told with what was before. Creation is remembered by handler until all of them are done with it.
It names the object's uid: whoever copies an object with its annotations makes a new one. It is bounded: values go, the
largest first, where they would take too much of the room that annotations have; their digests stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

Json = dict[str, Any]

VALUES_BYTES_MAX = 64 * 1024
"""All annotations of an object together may have four times as much."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the handlers of one App are with one object."""

    uid: str
    is_created: bool = False
    """Whether all handlers of its creation are done with it."""
    done: frozenset[str] = frozenset()
    """The handlers of its creation, or of its deletion, that are done with it while others are not."""
    handled: Mapping[str, str] = field(default_factory=dict)
    """The digest of what each handler of updates was last called with."""
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Values by digest; those that are not there are not known any more."""
    tries: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """How often a handler that may fail only so often has, and the digest of the object it failed with."""

    def with_done(self, handler: str) -> Progress:
        return replace(self.with_tries(handler, None), done=self.done | {handler})

    def with_created(self) -> Progress:
        return replace(self, is_created=True, done=frozenset())

    def with_handled(self, handler: str, digest: str, value: Any) -> Progress:
        """`value` is None where it is not to be remembered."""
        handled = {**self.handled, handler: digest}
        values = {known: self.values[known] for known in self.values if known in handled.values()}
        if value is not None:
            values[digest] = value
        return replace(self.with_tries(handler, None), handled=handled, values=values)

    def with_tries(self, handler: str, tried: tuple[int, str] | None) -> Progress:
        tries = {name: count for name, count in self.tries.items() if name != handler}
        return replace(self, tries=tries if tried is None else {**tries, handler: tried})

    def limited_to(self, handlers: frozenset[str]) -> Progress:
        """Without what is remembered of handlers that are gone from the author's file."""
        handled = {name: digest for name, digest in self.handled.items() if name in handlers}
        values = {digest: value for digest, value in self.values.items() if digest in handled.values()}
        return replace(self, handled=handled, values=values)

    def written(self) -> str:
        """The annotation. Raises nothing, and is never longer than the server allows."""
        told: Json = {"uid": self.uid}
        if self.is_created:
            told["created"] = True
        for name in ("handled", "tries"):
            if getattr(self, name):
                told[name] = dict(getattr(self, name))
        if self.done:
            told["done"] = sorted(self.done)
        if values := _bounded(self.values):
            told["values"] = values
        return orjson.dumps(told).decode()


def read(text: str, uid: str) -> Progress | None:
    """What an annotation remembers of the object with this uid; None for another's, or for what cannot be read.

    Users can write annotations, so nothing is taken for granted.
    """
    try:
        told = orjson.loads(text)
        if told["uid"] != uid:
            return None
        return Progress(
            uid,
            bool(told.get("created")),
            frozenset(map(str, told.get("done", ()))),
            {str(name): str(digest) for name, digest in told.get("handled", {}).items()},
            {str(name): value for name, value in told.get("values", {}).items()},
            {str(name): (int(count), str(digest)) for name, (count, digest) in told.get("tries", {}).items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _bounded(values: Mapping[str, Any]) -> Json:
    """The values, the smallest first, for as long as there is room."""
    kept: Json = {}
    room = VALUES_BYTES_MAX
    for size, digest in sorted((len(orjson.dumps(value)), digest) for digest, value in values.items()):
        room -= size
        if room < 0:
            break
        kept[digest] = values[digest]
    return kept
