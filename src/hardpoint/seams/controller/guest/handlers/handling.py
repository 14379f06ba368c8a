"""One look at one object: which handlers are to be called for it, in which order, and what is remembered of that.

The look compares what the object is with what was handled, so it does not matter whether a change was seen, or when, or
by which process. Each handler that is done with something is remembered on the object before the next is called: one
that failed is called again, and the others are not. First come changes as they were told, then the object's creation,
and once that is over its updates, its timers and its daemons; at its end, its deletion.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.changes import Change, Key
from hardpoint.runtime.environment import Environment
from hardpoint.runtime.finalizers import add_finalizer, drop_finalizer, has_finalizer, is_deleted
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.workqueue import LookAgain, LookFailed
from hardpoint.seams.controller.guest.calling import Calls, is_conflict
from hardpoint.seams.controller.guest.context import Equipment
from hardpoint.seams.controller.guest.handlers.attempts import Attempts
from hardpoint.seams.controller.guest.handlers.daemons import Daemons
from hardpoint.seams.controller.guest.handlers.events import Events
from hardpoint.seams.controller.guest.handlers.handler import Handler
from hardpoint.seams.controller.guest.handlers.look import Look
from hardpoint.seams.controller.guest.handlers.memory import Memories
from hardpoint.seams.controller.guest.handlers.remembering import Remembering

if TYPE_CHECKING:
    from hardpoint.seams.controller.guest.handlers.guest import HandlersGuest

Json = dict[str, Any]

STOP_AGAIN_SECONDS = 5.0
"""When to look again whether a daemon has ended that does not want to."""
_PAST = datetime.min.replace(tzinfo=UTC)

log = logging.getLogger(__name__)


class Handling:
    """The handlers of a resource at work."""

    def __init__(self, guest: HandlersGuest, equipment: Equipment, primary: Informer, environment: Environment) -> None:
        self._guest = guest
        self._writer = equipment.writer
        self._primary = primary
        self._share = environment.share
        self._now = environment.now
        calls = Calls(equipment, environment.now)
        self._remembering = Remembering(guest, equipment.writer)
        self._attempts = Attempts(calls, equipment.recorder, environment.now, self._remembering.write)
        self._daemons = Daemons(calls, primary, self._attempts.tell, environment.share)
        self._events = Events(guest.of("event"), calls, self._attempts.tell)
        self._memories = Memories()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While there are looks. What is only in memory is good until they end: then others may handle the objects."""
        async with self._daemons.running():
            try:
                yield
            finally:
                self._memories.clear()
                self._events.clear()

    def hear(self, change: Change) -> Iterable[Key]:
        """Whom a change concerns."""
        if self._share is None or self._share.owns(change.key):
            self._events.hear(change)
        return (change.key,)

    async def __call__(self, key: Key) -> float | None:
        """Bring the handlers up to what the object is; in how many seconds to look again.

        Raises LookFailed, LookAgain.
        """
        await self._events.handle(key)
        seen = self._primary.read(key)
        if seen is None:
            self._daemons.leave(key)
            self._memories.forget(key)
            return None
        look = Look(key, seen, self._memories.of(key, seen, self._now()), self._now)
        try:
            known = self._remembering.read(seen, look.memory)
            look.begin(known or self._remembering.begin(look), is_known=known is not None)
            await (self._end(look) if is_deleted(seen) else self._live(look))
        except LookAgain:
            raise
        except HardpointError as failure:
            if is_conflict(failure):
                raise LookAgain(str(failure)) from None
            log.error("progress not written", extra={"object": str(key), "error": str(failure)})
            raise LookFailed(f"{key}: {failure}") from None
        return look.end()

    async def _live(self, look: Look) -> None:
        await self._remembering.write_what_is_left(look)
        if await self._is_kept(look) and await self._is_created(look):
            await self._update(look)
            await self._ring(look)
            daemons = _concerned(self._guest.of("daemon"), look)
            self._daemons.ensure(look.key, look.memory.uid, look.memory.subject, daemons)

    async def _is_kept(self, look: Look) -> bool:
        """Have the object stay when it is deleted, if some handler wants that. False if that is what happened."""
        finalizer, is_wanted = self._guest.finalizer, bool(_concerned(self._guest.cleaning, look))
        if is_wanted == has_finalizer(look.seen, finalizer):
            return True
        if not is_wanted:
            await drop_finalizer(self._writer, look.seen, finalizer)
            return True
        ready = await add_finalizer(self._writer, look.seen, finalizer)
        look.seen = ready or look.seen
        return ready is not None

    async def _is_created(self, look: Look) -> bool:
        """Whether all handlers of its creation are done with the object, which the others wait for."""
        if look.progress.is_created or not self._is_remembered(look):
            return True
        wanted = _undone(self._guest.of("create"), look)
        left = len(wanted)
        for handler in wanted:
            if await self._attempts(look, handler) != "later":
                left -= 1
                done = look.progress.with_done(handler.id)
                await self._remembering.write(look, done if left else done.with_created())
            look.refresh(self._primary)
        if not wanted:
            await self._remembering.write(look, look.progress.with_created())
        return not left

    def _is_remembered(self, look: Look) -> bool:
        """Whether there is, or is to be, a mark on the object: those that concern nobody are left as they are."""
        return look.is_known or bool(_concerned(self._guest.remembering, look))

    async def _update(self, look: Look) -> None:
        for handler in _concerned(self._guest.of("update"), look):
            then, (_, now) = look.progress.handled.get(handler.id), look.value(handler.path)
            if then == now:
                continue
            if then is None:
                # It is new in the author's file: it is told of changes from here on.
                look.progress = self._remembering.handled(look.progress, look, handler)
                continue
            given = (self._remembering.change(look, handler),) if handler.takes_change else ()
            if await self._attempts(look, handler, *given, subject=now) != "later":
                await self._remembering.write(look, self._remembering.handled(look.progress, look, handler))
            look.refresh(self._primary)
        if look.progress is not look.written:
            await self._remembering.write(look, look.progress)

    async def _ring(self, look: Look) -> None:
        """Call the timers that are due."""
        rings, changed_at = look.memory.rings, look.memory.changed_at
        for handler in _concerned(self._guest.of("timer"), look):
            now, at = self._now(), rings.get(handler.id, _PAST)
            if handler.idle_seconds:
                at = max(at, changed_at + timedelta(seconds=handler.idle_seconds))
            if at <= now:
                if await self._attempts(look, handler) != "done":
                    continue
                at = rings[handler.id] = now + timedelta(seconds=handler.every_seconds)
                look.refresh(self._primary)
            look.wait_until(at)

    async def _end(self, look: Look) -> None:
        """The object is deleted, and stays until its daemons have ended and the handlers of that are done with it."""
        finalizer = self._guest.finalizer
        if not has_finalizer(look.seen, finalizer):
            self._daemons.leave(look.key)
            return
        if not await self._daemons.stop(look.key):
            look.wait_until(self._now() + timedelta(seconds=STOP_AGAIN_SECONDS))
            return
        wanted = _undone(self._guest.of("delete"), look)
        left = len(wanted)
        for handler in wanted:
            if await self._attempts(look, handler) == "done":
                left -= 1
                self._remembering.keep(look, look.progress.with_done(handler.id))
                if left:
                    await self._remembering.write(look, look.progress)
            look.refresh(self._primary)
        if not left:
            await drop_finalizer(self._writer, look.seen, finalizer)


def _concerned(handlers: Sequence[Handler], look: Look) -> list[Handler]:
    return [handler for handler in handlers if handler.concerns(look.seen)]


def _undone(handlers: Sequence[Handler], look: Look) -> list[Handler]:
    return [handler for handler in _concerned(handlers, look) if handler.id not in look.progress.done]
