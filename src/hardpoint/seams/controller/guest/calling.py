"""One call of an author's function for one object: what it is given, how long it may take, and the status it leaves.

Whatever the function raises comes out as it is; who hears of it, and what happens next, is the caller's to say.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any

from hardpoint.machinery.errors import ApiError, HardpointError
from hardpoint.runtime.authored import Authored
from hardpoint.runtime.changes import Key
from hardpoint.runtime.statuswriting import write_status
from hardpoint.seams.controller.contract import Permanent, Requeue
from hardpoint.seams.controller.guest.context import Context, Equipment
from hardpoint.seams.controller.guest.declared import Named
from hardpoint.seams.controller.guest.outcome import copied, outcome
from hardpoint.seams.controller.guest.plain import PlainContext

Json = dict[str, Any]
Function = Authored[Requeue | None]

log = logging.getLogger(__name__)


class Late(HardpointError):
    """A function took longer than it was allowed to."""


class Unreadable(Permanent):
    """The object is not what its class can show: no function was called with it."""


class Calls:
    """Calls functions with objects."""

    def __init__(self, equipment: Equipment, now: Callable[[], datetime]) -> None:
        self._equipment = equipment
        self._now = now
        self._told_unwritten = False

    async def __call__(
        self, function: Function, resource: Named, seen: Json, *given: Any, timeout_seconds: float | None = None
    ) -> float | None:
        """Call the function, with what is `given` between the object and the context, and write the status.

        The object is shown as `resource` has it. The status is written after a failure too: it may say what is wrong.
        Returns in how many seconds to call again, if at all. Raises what the function does, Unreadable, and Late.
        """
        context = Context(self._equipment, Key.of(seen), seen, self._now())
        try:
            shown = resource.model.from_json(copied(seen))
        except ValueError as wrong:
            raise Unreadable(f"cannot be read as a {resource.kind}: {wrong}") from wrong
        raised: Exception | None = None
        answer: Any = None
        try:
            answer = await self._answer(function, (shown, *given), context, timeout_seconds)
        except Exception as failure:  # noqa: BLE001 It goes on below, once the status is written.
            raised = failure
        finally:
            said = context.end()
        try:
            await self._write_status(resource, seen, shown, said)
        except (HardpointError, ValueError) as unwritten:
            if raised is None:
                raise
            log.warning("status not written", extra={"error": str(unwritten)})
        if raised is not None:
            raise raised
        return None if answer is None else answer.seconds(self._now())

    async def _answer(
        self, function: Function, given: tuple[Any, ...], context: Context, timeout_seconds: float | None
    ) -> Requeue | None:
        in_time = _awaited if function.is_async else _in_thread
        answer = await in_time(function, given, context, timeout_seconds)
        if answer is not None and not isinstance(answer, Requeue):
            raise TypeError(f"{function.name} returned a {type(answer).__name__}; return Requeue(after=...) or None")
        return answer

    async def _write_status(self, resource: Named, seen: Json, shown: Any, conditions: list[Json]) -> None:
        made = outcome(seen, shown, conditions)
        if made.others and not self._told_unwritten:
            self._told_unwritten = True
            what = ", ".join(made.others)
            log.warning("only the status is written; use ctx.apply()", extra={"changed": what})
        if made.status:
            written = await write_status(self._equipment.writer, seen, made.status)
            if written is not None:
                _check_kept(resource, made.status, written)


def _check_kept(resource: Named, patch: Json, written: Json) -> None:
    """A schema that does not know conditions has the server drop them, without a word."""
    if patch.get("conditions") and not (written.get("status") or {}).get("conditions"):
        raise Permanent(f"{resource.kind} has no status.conditions in its schema: nobody can see them")


async def _awaited(
    function: Function, given: tuple[Any, ...], context: Context, timeout_seconds: float | None
) -> Requeue | None:
    try:
        async with asyncio.timeout(timeout_seconds) as timer:
            return await function.call(*given, context)
    except TimeoutError as cause:
        if not timer.expired():
            raise
        raise Late(f"{function.name} took longer than {timeout_seconds:g} s") from cause


async def _in_thread(
    function: Function, given: tuple[Any, ...], context: Context, timeout_seconds: float | None
) -> Requeue | None:
    """A thread cannot be stopped. When its time is over its context is of no use any more, and it is waited for."""
    plain = PlainContext(context, asyncio.get_running_loop())
    call = asyncio.ensure_future(function.call(*given, plain))
    try:
        done, _ = await asyncio.wait([call], timeout=timeout_seconds)
        if done:
            return call.result()
        context.end()
        log.warning("function is late", extra={"function": function.name})
        with contextlib.suppress(Exception):  # That it is late is what counts.
            await call
    finally:
        call.cancel()
    raise Late(f"{function.name} took longer than {timeout_seconds:g} s")


def is_conflict(failure: Exception) -> bool:
    """Somebody was faster: nothing is wrong, and the next look sees what they did."""
    return isinstance(failure, ApiError) and failure.code == 409


def in_words(failure: Exception) -> str:
    """What people are told of it."""
    return str(failure) if isinstance(failure, Permanent) else f"{type(failure).__name__}: {failure}"
