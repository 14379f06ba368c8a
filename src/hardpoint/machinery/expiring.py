"""Answers worth keeping for a while: each has its own end, and there is room for so many."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Expiring(Generic[K, V]):
    """Remembers values until their time is up. When it is full, what was put in first makes room."""

    def __init__(self, size_max: int) -> None:
        self._size_max = size_max
        self._kept: dict[K, tuple[float, V]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: K, now: float) -> V | None:
        """What was put under `key`, if its time is not up."""
        found = self._kept.get(key)
        if found is None:
            return None
        if found[0] <= now:
            del self._kept[key]
            return None
        return found[1]

    def put(self, key: K, value: V, *, until: float) -> None:
        self._kept.pop(key, None)
        if len(self._kept) >= self._size_max:
            del self._kept[next(iter(self._kept))]
        self._kept[key] = (until, value)
