"""One who is told of changes: first of what is there, then of each change, and of everything again now and then.

What is there is told bit by bit, so that fifty thousand objects do not hold up the loop. A change that comes meanwhile
is told at once, and counts for its object: nobody is told of an object's past after its present.
"""

from __future__ import annotations

import asyncio
import logging
from time import monotonic
from typing import Literal

from hardpoint.runtime.cache_objects import Objects
from hardpoint.runtime.changes import Change, Handler, Key

log = logging.getLogger(__name__)

TURN_SECONDS = 0.002
"""How long others wait while somebody is told of what is there."""


class Subscription:
    """Between an informer and a handler. For one event loop."""

    def __init__(self, where: str, objects: Objects, handler: Handler, resync_seconds: float | None) -> None:
        self._where = where
        self._objects = objects
        self._handler = handler
        self._resync_seconds = resync_seconds
        self._missing: dict[Key, None] = {}
        self._stale: dict[Key, None] = {}
        self._turn: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None

    def catch_up(self) -> None:
        """Have what is there told, as ADDED."""
        self._missing = dict.fromkeys(self._objects.keys_in())

    def start(self) -> None:
        """Tell what is to be told, and if that is wanted everything again now and then."""
        if self._resync_seconds is not None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._resync_seconds, self._resync)
        self._take_turn_soon()

    def stop(self) -> None:
        """Tell nothing by oneself any more. What is still to be told is told after the next start."""
        for handle in (self._turn, self._timer):
            if handle is not None:
                handle.cancel()
        self._turn = self._timer = None

    def tell(self, change: Change) -> None:
        """Tell a change that just happened."""
        if self._stale:
            self._stale.pop(change.key, None)
        if self._missing and change.key in self._missing:
            del self._missing[change.key]
            if change.type != "DELETED":
                self._call(Change("ADDED", change.key, change.new, is_initial=True))
            return
        self._call(change)

    def _resync(self) -> None:
        self._timer = None
        self._stale = dict.fromkeys(key for key in self._objects.keys_in() if key not in self._missing)
        self.start()

    def _take_turn_soon(self) -> None:
        if self._turn is None and (self._missing or self._stale):
            self._turn = asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._turn = None
        until = monotonic() + TURN_SECONDS
        while (self._missing or self._stale) and monotonic() < until:
            if self._missing:
                self._tell_again(self._missing, "ADDED")
            else:
                self._tell_again(self._stale, "MODIFIED")
        self._take_turn_soon()

    def _tell_again(self, waiting: dict[Key, None], kind: Literal["ADDED", "MODIFIED"]) -> None:
        key = next(iter(waiting))
        del waiting[key]
        found = self._objects.get(key)
        if found is not None:
            self._call(Change(kind, key, found, found if kind == "MODIFIED" else None, is_initial=kind == "ADDED"))

    def _call(self, change: Change) -> None:
        try:
            self._handler(change)
        except Exception:  # It is the author's, and must not keep others from being told.
            told = {"informer": self._where, "change": change.type, "object": str(change.key)}
            log.exception("handler failed", extra=told)
