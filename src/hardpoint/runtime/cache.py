"""What an informer knows: what its watch said, and ahead of that what its owner wrote.

A write that the watch has not told of yet is visible to reads at once, and until the watch has come that far: so a
controller never acts on less than it did itself. What subscribers are told follows the watch alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from hardpoint.machinery.selectors import EVERYTHING, Selector, parse
from hardpoint.runtime.cache_objects import Objects
from hardpoint.runtime.changes import Key
from hardpoint.runtime.indexes import IndexFunction

Json = dict[str, Any]

_DIGITS_MAX = 100
"""Python refuses to read numbers with thousands of digits."""


def version_number(resource_version: str) -> int:
    """Resource versions are decimal numbers and grow; what is none, as some extension servers have it, is 0."""
    is_number = resource_version.isascii() and resource_version.isdecimal() and len(resource_version) <= _DIGITS_MAX
    return int(resource_version) if is_number else 0


def version_of(found: Json) -> int:
    return version_number(str(found["metadata"].get("resourceVersion", "")))


class Cache:
    """Reads see what was written over what was watched. For one event loop."""

    def __init__(self) -> None:
        self.watched = Objects()
        self.version = 0
        """Everything up to here has been told by the watch."""
        self._written = Objects()
        self._ahead: dict[Key, int] = {}
        """The version of each write that the watch has not reached."""

    def __len__(self) -> int:
        return len(self.watched) + sum(key not in self.watched for key in self._ahead)

    def put(self, key: Key, found: Json) -> bytes | None:
        """The watch told of an object. Returns what it said of it before."""
        self._catch_up(key, found)
        return self.watched.put(key, found)

    def pop(self, key: Key, found: Json) -> bytes | None:
        """The watch told of an object's end. Returns what it said of it before."""
        self._catch_up(key, found)
        return self.watched.pop(key)

    def reach(self, version: int) -> None:
        """The watch has told everything up to a version, so no earlier write is ahead of it.

        Where the server itself went back, as one does that is restored from a backup, no write counts any more.
        """
        if self._ahead:
            went_back = version < self.version
            for key in [key for key, ahead in self._ahead.items() if went_back or ahead <= version]:
                self._drop(key)
        self.version = version

    def note_written(self, found: Json) -> None:
        """An object as a write returned it. Ignored where it is no newer than what is known."""
        key, version = Key.of(found), version_of(found)
        if version > max(self.version, self._ahead.get(key, 0), self._watched_version(key)):
            self._ahead[key] = version
            self._written.put(key, found)

    def read(self, key: Key) -> Json | None:
        kept = self._written.get(key) if key in self._ahead else self.watched.get(key)
        return orjson.loads(kept) if kept is not None else None

    def read_all(self, namespace: str = "", selector: str | Selector = "") -> list[Json]:
        wanted = parse(selector) if isinstance(selector, str) else selector
        found = self._decoded(self.keys(namespace))
        if wanted == EVERYTHING:
            return list(found)
        return [each for each in found if wanted.matches(each["metadata"].get("labels") or {})]

    def keys(self, namespace: str = "") -> Iterator[Key]:
        return self._merged(self.watched.keys_in(namespace), self._written.keys_in(namespace))

    def add_index(self, name: str, function: IndexFunction) -> None:
        for objects in (self.watched, self._written):
            objects.add_index(name, function)

    def keys_by_index(self, name: str, value: str) -> Iterator[Key]:
        return self._merged(self.watched.index(name).keys(value), self._written.index(name).keys(value))

    def by_index(self, name: str, value: str) -> list[Json]:
        return list(self._decoded(self.keys_by_index(name, value)))

    def _merged(self, watched: Iterable[Key], written: Iterable[Key]) -> Iterator[Key]:
        if not self._ahead:
            yield from watched
            return
        yield from (key for key in watched if key not in self._ahead)
        yield from written

    def _decoded(self, keys: Iterable[Key]) -> Iterator[Json]:
        for key in keys:
            found = self.read(key)
            assert found is not None, "it was just there"
            yield found

    def _watched_version(self, key: Key) -> int:
        kept = self.watched.get(key)
        return version_of(orjson.loads(kept)) if kept is not None else 0

    def _catch_up(self, key: Key, found: Json) -> None:
        if key in self._ahead and version_of(found) >= self._ahead[key]:
            self._drop(key)

    def _drop(self, key: Key) -> None:
        del self._ahead[key]
        self._written.pop(key)
