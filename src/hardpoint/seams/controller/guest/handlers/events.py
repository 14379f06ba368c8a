"""Handlers of events: called with each change as it was told, in order, and with nothing remembered of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from hardpoint.runtime.changes import Change, Key
from hardpoint.seams.controller.guest.calling import Calls
from hardpoint.seams.controller.guest.handlers.changed import Changed
from hardpoint.seams.controller.guest.handlers.handler import Handler
from hardpoint.seams.controller.guest.outcome import copied

Json = dict[str, Any]

EVENTS_MAX = 100
"""So many changes of an object wait for a handler that is slower than they come; the eldest go first."""


class Events:
    """Changes on their way to the handlers."""

    def __init__(
        self, handlers: Sequence[Handler], calls: Calls, tell: Callable[[Handler, Key, Json, Exception], None]
    ) -> None:
        self._handlers = handlers
        self._calls = calls
        self._tell = tell
        self._waiting: dict[Key, deque[Change]] = {}

    def hear(self, change: Change) -> None:
        """Keep a change until the next look at its object."""
        if self._handlers:
            self._waiting.setdefault(change.key, deque(maxlen=EVENTS_MAX)).append(change)

    def clear(self) -> None:
        self._waiting.clear()

    async def handle(self, key: Key) -> None:
        """Call the handlers for what was heard of an object. What fails is told, and over."""
        for change in self._waiting.pop(key, ()):
            for handler in self._handlers:
                if handler.concerns(change.object):
                    await self._call(handler, change)

    async def _call(self, handler: Handler, change: Change) -> None:
        seen = change.object
        given = (_told(change),) if handler.takes_change else ()
        try:
            await handler.call(self._calls, seen, *given)
        except Exception as failure:  # noqa: BLE001 Whatever a stranger's function raises concerns no other handler.
            self._tell(handler, change.key, seen, failure)


def _told(change: Change) -> Changed:
    old, new = change.old, change.new
    return Changed("", None if old is None else copied(old), None if new is None else copied(new), change.type)
