"""Which objects have something in common: a name for a question, and a function that answers it for one object."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from typing import Any

from hardpoint.runtime.changes import Key

Json = dict[str, Any]
IndexFunction = Callable[[Json], Iterable[str]]
"""The values under which an object is found. Depends on the object alone."""

log = logging.getLogger(__name__)


def by_owner_uid(found: Json) -> Iterable[str]:
    """Under the uid of each of its owners."""
    return [owner["uid"] for owner in found["metadata"].get("ownerReferences") or () if owner.get("uid")]


def by_controller_uid(found: Json) -> Iterable[str]:
    """Under the uid of the one owner that controls it."""
    owners = found["metadata"].get("ownerReferences") or ()
    return [owner["uid"] for owner in owners if owner.get("controller") and owner.get("uid")]


def by_label(label: str) -> IndexFunction:
    """Under the value of a label, if it has that."""

    def values(found: Json) -> Iterable[str]:
        labels = found["metadata"].get("labels") or {}
        return (labels[label],) if label in labels else ()

    return values


class Index:
    """The answers of one function. An object for which it fails is found under nothing."""

    def __init__(self, name: str, function: IndexFunction) -> None:
        self.name = name
        self.function = function
        self._has_failed = False
        self._keys: dict[str, dict[Key, None]] = {}
        self._values: dict[Key, tuple[str, ...]] = {}
        """What each object is found under, so that forgetting it does not depend on what it was."""

    def keys(self, value: str) -> Collection[Key]:
        return self._keys.get(value, {}).keys()

    def values(self) -> Collection[str]:
        """Everything that some object is found under."""
        return self._keys.keys()

    def put(self, key: Key, found: Json) -> None:
        before, now = self._values.get(key, ()), self._answer(key, found)
        if now == before:
            return
        self.forget(key)
        if not now:
            return
        self._values[key] = now
        for value in now:
            self._keys.setdefault(value, {})[key] = None

    def forget(self, key: Key) -> None:
        for value in self._values.pop(key, ()):
            keys = self._keys[value]
            del keys[key]
            if not keys:
                del self._keys[value]

    def _answer(self, key: Key, found: Json) -> tuple[str, ...]:
        try:
            return tuple(dict.fromkeys(self.function(found)))
        except Exception:  # It is the author's, and one odd object must not end the informer.
            if not self._has_failed:
                # Once is enough: where it fails for one, it may fail for thousands.
                self._has_failed = True
                log.exception("index function failed", extra={"index": self.name, "object": str(key)})
            return ()
