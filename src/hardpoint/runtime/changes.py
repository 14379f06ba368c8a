"""What a subscriber is told: an object was added, modified or deleted, with what it was and what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import orjson

Json = dict[str, Any]
ChangeType = Literal["ADDED", "MODIFIED", "DELETED"]


class Key(NamedTuple):
    """Which object of a resource; without a namespace the object is the cluster's."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @staticmethod
    def of(found: Json) -> Key:
        metadata = found["metadata"]
        return Key(metadata.get("namespace", ""), metadata["name"])


class Change:
    """A step in an object's life. What it was and is, is decoded when somebody asks.

    All who are told share one change, so what it holds must not be altered.
    """

    __slots__ = ("_new", "_old", "is_initial", "key", "type")

    def __init__(
        self,
        type: ChangeType,
        key: Key,
        new: Json | bytes | None = None,
        old: Json | bytes | None = None,
        *,
        is_initial: bool = False,
    ) -> None:
        self.type: ChangeType = type
        self.key = key
        self.is_initial = is_initial
        """Whether it is no news: the object was there when the informer started, or the subscriber came."""
        self._new = new
        self._old = old

    @property
    def new(self) -> Json | None:
        """The object as it is; None once it is deleted."""
        if isinstance(self._new, bytes):
            self._new = orjson.loads(self._new)
        return self._new  # type: ignore[return-value]  # no bytes any more

    @property
    def old(self) -> Json | None:
        """The object as it was, at the end of its life as it was last; None if it was not there."""
        if isinstance(self._old, bytes):
            self._old = orjson.loads(self._old)
        return self._old  # type: ignore[return-value]  # no bytes any more

    @property
    def object(self) -> Json:
        """The object as it is, or was last."""
        found = self.new if self._new is not None else self.old
        assert found is not None, "a change is about something"
        return found

    @property
    def is_resync(self) -> bool:
        """Whether nothing happened: the object is told once more because somebody wants that now and then."""
        return self._new is not None and self._new is self._old

    def __repr__(self) -> str:
        return f"Change({self.type} {self.key})"


Handler = Callable[[Change], None]
"""Is called on the event loop, in the order of each object's changes, and must not wait. What it raises is logged."""
