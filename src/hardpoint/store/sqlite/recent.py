"""What was read lately, for who reads it again: a hit costs a twentieth of asking SQLite.

A key is dropped when a write of it begins and not kept before the write is settled, so a reader never goes back in
time. What was kept first goes first.
"""

from __future__ import annotations

from hardpoint.store.contract import KeyValue

BYTES_MAX = 32 << 20


class Recent:
    """Values by key, so many bytes of them."""

    def __init__(self, bytes_max: int = BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._bytes = 0
        self._found: dict[str, KeyValue] = {}
        self.get = self._found.get

    def put(self, found: KeyValue) -> None:
        """Keep what was found under a key that is not kept yet."""
        self._found[found.key] = found
        self._bytes += len(found.value)
        while self._bytes > self._bytes_max:
            self.drop(next(iter(self._found)))

    def drop(self, key: str) -> None:
        found = self._found.pop(key, None)
        if found is not None:
            self._bytes -= len(found.value)
