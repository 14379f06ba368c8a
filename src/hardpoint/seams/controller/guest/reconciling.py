"""One look at one object: its finalizer, the author's function, and what became of it.

Whatever ends a look early leaves a state from which the next one goes on: the finalizer is there before the function
is called for the first time and goes after the clean-up is done, and the status is written last. What goes wrong is
told once, in a log line with the author's own line and in an Event, and concerns no other object.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hardpoint.runtime.changes import Key
from hardpoint.runtime.finalizers import add_finalizer, drop_finalizer, has_finalizer, is_deleted
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.reconciler import GivenUp
from hardpoint.runtime.workqueue import LookAgain, LookFailed
from hardpoint.seams.controller.contract import Permanent
from hardpoint.seams.controller.guest.calling import Calls, Function, in_words, is_conflict
from hardpoint.seams.controller.guest.context import Equipment

if TYPE_CHECKING:
    from hardpoint.seams.controller.guest.controller import ControllerGuest

Json = dict[str, Any]

log = logging.getLogger(__name__)


class Reconciling:
    """A controller at work."""

    def __init__(
        self, guest: ControllerGuest, equipment: Equipment, primary: Informer, now: Callable[[], datetime]
    ) -> None:
        self._guest = guest
        self._equipment = equipment
        self._primary = primary
        self._calls = Calls(equipment, now)

    async def __call__(self, key: Key) -> float | None:
        """Settle the object; in how many seconds to look again. Raises LookFailed, LookAgain, GivenUp."""
        seen = self._primary.read(key)
        if seen is None:
            return None
        function = self._guest.finalize if self._leaves(seen) else self._guest.function
        if function is None:
            return None
        try:
            return await self._settle(function, seen)
        except Permanent as given_up:
            self._tell(function, seen, given_up)
            raise GivenUp(str(given_up)) from None
        except Exception as failure:  # noqa: BLE001 Whatever a stranger's function raises concerns no other object.
            if is_conflict(failure):
                raise LookAgain(str(failure)) from None
            self._tell(function, seen, failure)
            raise LookFailed(f"{key}: {failure}") from None

    def _leaves(self, seen: Json) -> bool:
        """Whether the object goes, or is none of those any more that were asked for."""
        return is_deleted(seen) or not self._guest.selects(seen)

    async def _settle(self, function: Function, seen: Json) -> float | None:
        finalizer, writer = self._guest.finalizer, self._equipment.writer
        if not finalizer:
            return await self._call(function, seen)
        if not self._leaves(seen):
            ready = seen if has_finalizer(seen, finalizer) else await add_finalizer(writer, seen, finalizer)
            # One that was deleted meanwhile is looked at again for that.
            return None if ready is None else await self._call(function, ready)
        if not has_finalizer(seen, finalizer):
            return None
        again_seconds = await self._call(function, seen)
        if again_seconds is None:
            await drop_finalizer(writer, seen, finalizer)
        return again_seconds

    async def _call(self, function: Function, seen: Json) -> float | None:
        resource, timeout_seconds = self._guest.resource, self._guest.timeout_seconds
        return await self._calls(function, resource, seen, timeout_seconds=timeout_seconds)

    def _tell(self, function: Function, seen: Json, failure: Exception) -> None:
        words = in_words(failure)
        told = {"at": function.line(failure), "error": words}
        log.error("reconcile failed", extra=told, exc_info=_debug(failure))
        reason = "FinalizeFailed" if self._leaves(seen) else "ReconcileFailed"
        self._equipment.recorder.event(seen, "Warning", reason, words)


def _debug(failure: Exception) -> Exception | None:
    return failure if log.isEnabledFor(logging.DEBUG) else None
