"""One look at one object: its finalizer, the author's function, its status, and what became of it.

Whatever ends a look early leaves a state from which the next one goes on: the finalizer is there before the function
is called for the first time and goes after the clean-up is done, and the status is written last. What goes wrong is
told once, in a log line with the author's own line and in an Event, and concerns no other object.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hardpoint.machinery.errors import ApiError, HardpointError
from hardpoint.runtime.authored import Authored
from hardpoint.runtime.changes import Key
from hardpoint.runtime.finalizers import add_finalizer, drop_finalizer, has_finalizer, is_deleted
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.reconciler import GivenUp
from hardpoint.runtime.statuswriting import write_status
from hardpoint.runtime.workqueue import LookAgain, LookFailed
from hardpoint.seams.controller.contract import Permanent, Requeue
from hardpoint.seams.controller.guest.context import Context, Equipment
from hardpoint.seams.controller.guest.outcome import copied, outcome
from hardpoint.seams.controller.guest.plain import PlainContext

if TYPE_CHECKING:
    from hardpoint.seams.controller.guest.controller import ControllerGuest

Json = dict[str, Any]
Function = Authored[Requeue | None]

log = logging.getLogger(__name__)


class Late(HardpointError):
    """A function took longer than it was allowed to."""


class Reconciling:
    """A controller at work."""

    def __init__(
        self, guest: ControllerGuest, equipment: Equipment, primary: Informer, now: Callable[[], datetime]
    ) -> None:
        self._guest = guest
        self._equipment = equipment
        self._primary = primary
        self._now = now
        self._told_unwritten = False

    async def __call__(self, key: Key) -> float | None:
        """Settle the object; in how many seconds to look again. Raises LookFailed, LookAgain, GivenUp."""
        seen = self._primary.read(key)
        if seen is None:
            return None
        function = self._guest.finalize if is_deleted(seen) else self._guest.function
        if function is None:
            return None
        try:
            return await self._settle(function, key, seen)
        except Permanent as given_up:
            self._tell(function, seen, given_up)
            raise GivenUp(str(given_up)) from None
        except Exception as failure:  # noqa: BLE001 Whatever a stranger's function raises concerns no other object.
            if _is_conflict(failure):
                raise LookAgain(str(failure)) from None
            self._tell(function, seen, failure)
            raise LookFailed(f"{key}: {failure}") from None

    async def _settle(self, function: Function, key: Key, seen: Json) -> float | None:
        finalizer, writer = self._guest.finalizer, self._equipment.writer
        if not finalizer:
            return await self._call(function, key, seen)
        if not is_deleted(seen):
            ready = seen if has_finalizer(seen, finalizer) else await add_finalizer(writer, seen, finalizer)
            # One that was deleted meanwhile is looked at again for that.
            return None if ready is None else await self._call(function, key, ready)
        if not has_finalizer(seen, finalizer):
            return None
        again_seconds = await self._call(function, key, seen)
        if again_seconds is None:
            await drop_finalizer(writer, seen, finalizer)
        return again_seconds

    async def _call(self, function: Function, key: Key, seen: Json) -> float | None:
        """Call the function and write the status, which is done after a failure too: it may say what is wrong."""
        context = Context(self._equipment, key, seen, self._now())
        try:
            shown = self._guest.resource.model.from_json(copied(seen))
        except ValueError as wrong:
            raise Permanent(f"cannot be read as a {self._guest.resource.kind}: {wrong}") from wrong
        raised: Exception | None = None
        answer: Any = None
        try:
            answer = await self._answer(function, shown, context)
        except Exception as failure:  # noqa: BLE001 It goes on below, once the status is written.
            raised = failure
        finally:
            said = context.end()
        try:
            await self._write_status(seen, shown, said)
        except (HardpointError, ValueError) as unwritten:
            if raised is None:
                raise
            log.warning("status not written", extra={"error": str(unwritten)})
        if raised is not None:
            raise raised
        return None if answer is None else answer.seconds(self._now())

    async def _answer(self, function: Function, shown: Any, context: Context) -> Requeue | None:
        answer = await self._in_time(function, shown, context)
        if answer is not None and not isinstance(answer, Requeue):
            raise TypeError(f"{function.name} returned a {type(answer).__name__}; return Requeue(after=...) or None")
        return answer

    async def _in_time(self, function: Function, shown: Any, context: Context) -> Requeue | None:
        if not function.is_async:
            return await self._in_thread(function, shown, context)
        try:
            async with asyncio.timeout(self._guest.timeout_seconds) as timer:
                return await function.call(shown, context)
        except TimeoutError as cause:
            if not timer.expired():
                raise
            raise Late(f"{function.name} took longer than {self._guest.timeout_seconds:g} s") from cause

    async def _in_thread(self, function: Function, shown: Any, context: Context) -> Requeue | None:
        """A thread cannot be stopped. When its time is over its context is of no use any more, and it is waited for."""
        plain = PlainContext(context, asyncio.get_running_loop())
        call = asyncio.ensure_future(function.call(shown, plain))
        try:
            done, _ = await asyncio.wait([call], timeout=self._guest.timeout_seconds)
            if done:
                return call.result()
            context.end()
            log.warning("function is late", extra={"function": function.name})
            with contextlib.suppress(Exception):  # That it is late is what counts.
                await call
        finally:
            call.cancel()
        raise Late(f"{function.name} took longer than {self._guest.timeout_seconds:g} s")

    async def _write_status(self, seen: Json, shown: Any, conditions: list[Json]) -> None:
        made = outcome(self._guest.resource, seen, shown, conditions)
        if made.others and not self._told_unwritten:
            self._told_unwritten = True
            what = ", ".join(made.others)
            log.warning("only the status is written; use ctx.apply()", extra={"changed": what})
        if made.status:
            written = await write_status(self._equipment.writer, seen, made.status)
            if written is not None:
                self._check_kept(made.status, written)

    def _check_kept(self, patch: Json, written: Json) -> None:
        """A schema that does not know conditions has the server drop them, without a word."""
        if patch.get("conditions") and not (written.get("status") or {}).get("conditions"):
            raise Permanent(f"{self._guest.resource.kind} has no status.conditions in its schema: nobody can see them")

    def _tell(self, function: Function, seen: Json, failure: Exception) -> None:
        words = str(failure) if isinstance(failure, Permanent) else f"{type(failure).__name__}: {failure}"
        told = {"at": function.line(failure), "error": words}
        log.error("reconcile failed", extra=told, exc_info=_debug(failure))
        reason = "FinalizeFailed" if is_deleted(seen) else "ReconcileFailed"
        self._equipment.recorder.event(seen, "Warning", reason, words)


def _is_conflict(failure: Exception) -> bool:
    """Somebody was faster: nothing is wrong, and the next look sees what they did."""
    return isinstance(failure, ApiError) and failure.code == 409


def _debug(failure: Exception) -> Exception | None:
    return failure if log.isEnabledFor(logging.DEBUG) else None
