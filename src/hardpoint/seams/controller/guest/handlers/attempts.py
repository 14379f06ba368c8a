"""One attempt of one handler: called if it is time, told of if it fails, and given up when that is no use any more."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, Literal

from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.changes import Key
from hardpoint.runtime.environment import Recorder
from hardpoint.runtime.workqueue import LookAgain
from hardpoint.seams.controller.contract import Permanent
from hardpoint.seams.controller.guest.calling import Calls, Unreadable, in_words, is_conflict
from hardpoint.seams.controller.guest.handlers.handler import Handler
from hardpoint.seams.controller.guest.handlers.look import Look
from hardpoint.seams.controller.guest.handlers.memory import NEVER, Postponed
from hardpoint.seams.controller.guest.handlers.progress import Progress

Json = dict[str, Any]
Outcome = Literal["done", "given up", "later"]
Remember = Callable[[Look, Progress], Awaitable[None]]

log = logging.getLogger(__name__)


class Exhausted(HardpointError):
    """A handler failed as often as it may."""


class Attempts:
    """Attempts of the handlers of one resource. `remember` writes down what must not be forgotten."""

    def __init__(self, calls: Calls, recorder: Recorder, now: Callable[[], datetime], remember: Remember) -> None:
        self._calls = calls
        self._recorder = recorder
        self._now = now
        self._remember = remember

    async def __call__(self, look: Look, handler: Handler, *given: Any, subject: str = "") -> Outcome:
        """Call a handler for `subject`, without one for the object as it is, unless it is to wait.

        Raises LookAgain if somebody was faster than the handler.
        """
        subject = subject or look.memory.subject
        postponed = look.memory.postponed.get(handler.id)
        if postponed is not None and postponed.subject == subject and postponed.at > self._now():
            look.wait_until(postponed.at)
            return "later"
        try:
            seconds = await handler.call(self._calls, look.seen, *given)
        except Permanent as refused:
            self.tell(handler, look.key, look.seen, refused)
            self._give_up(look, handler, subject)
            # What could not be shown to the handler was not handled: it is called once it can be.
            return "later" if isinstance(refused, Unreadable) else "given up"
        except Exception as failure:  # noqa: BLE001 Whatever a stranger's function raises concerns no other handler.
            if is_conflict(failure):
                raise LookAgain(str(failure)) from None
            return await self._failed(look, handler, subject, failure)
        if seconds is not None:
            look.postpone(handler.id, subject, seconds)
            return "later"
        look.memory.postponed.pop(handler.id, None)
        return "done"

    def tell(self, handler: Handler, key: Key, seen: Json, failure: Exception) -> None:
        """Tell people that a handler failed: in the log with the author's line, and with an Event."""
        words, function = in_words(failure), handler.function
        told = {"handler": function.name, "at": function.line(failure), "error": words, "object": str(key)}
        log.error("handler failed", extra=told, exc_info=failure if log.isEnabledFor(logging.DEBUG) else None)
        self._recorder.event(seen, "Warning", f"{handler.kind.title()}Failed", f"{function.name}: {words}")

    async def _failed(self, look: Look, handler: Handler, subject: str, failure: Exception) -> Outcome:
        failures = self._failures(look, handler, subject) + 1
        if handler.retries is not None and failures >= handler.retries:
            words = f"failed {failures} times, the last time with {in_words(failure)}"
            self.tell(handler, look.key, look.seen, Exhausted(words).with_traceback(failure.__traceback__))
            self._give_up(look, handler, subject)
            return "given up"
        self.tell(handler, look.key, look.seen, failure)
        look.fail(failure)
        look.postpone(handler.id, subject, handler.waits.after(failures - 1), failures)
        if handler.retries is not None:
            # A process that starts over and over must not have as many tries each time.
            await self._remember(look, look.progress.with_tries(handler.id, (failures, subject)))
        return "later"

    def _failures(self, look: Look, handler: Handler, subject: str) -> int:
        known = look.progress.tries.get(handler.id)
        if known is not None:
            return known[0] if known[1] == subject else 0
        postponed = look.memory.postponed.get(handler.id)
        return postponed.failures if postponed is not None and postponed.subject == subject else 0

    def _give_up(self, look: Look, handler: Handler, subject: str) -> None:
        look.memory.postponed[handler.id] = Postponed(0, subject, NEVER)
