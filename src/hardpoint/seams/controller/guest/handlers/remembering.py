"""How far the handlers are with an object, read from it and written to it.

What is to be written is kept in mind until it is: a server that does not answer must not have a handler called twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from hardpoint.runtime.finalizers import change_metadata
from hardpoint.runtime.objectwriting import ObjectWriter
from hardpoint.seams.controller.guest.handlers import progress as progresses
from hardpoint.seams.controller.guest.handlers.changed import Changed
from hardpoint.seams.controller.guest.handlers.essence import digest
from hardpoint.seams.controller.guest.handlers.handler import Handler
from hardpoint.seams.controller.guest.handlers.look import Look
from hardpoint.seams.controller.guest.handlers.memory import Memory
from hardpoint.seams.controller.guest.handlers.progress import Progress

if TYPE_CHECKING:
    from hardpoint.seams.controller.guest.handlers.guest import HandlersGuest

Json = dict[str, Any]

_NOTHING = digest(None)


class Remembering:
    """The progress of all handlers of a resource."""

    def __init__(self, guest: HandlersGuest, writer: ObjectWriter) -> None:
        self._annotation = guest.annotation
        self._is_secret = guest.resource.title == "v1 Secret"
        self._updating = guest.of("update")
        self._writer = writer

    def read(self, seen: Json, memory: Memory) -> Progress | None:
        """What is remembered of the object; None if no handler was ever done with anything about it."""
        text = self._text(seen)
        if memory.unwritten is not None and memory.unwritten[1] == text:
            return memory.unwritten[0]
        # It was written after all, or another process went on from what this one did not come to write.
        memory.unwritten = None
        known = progresses.read(text, memory.uid) if text is not None else None
        return None if known is None else known.limited_to(frozenset(handler.id for handler in self._updating))

    def begin(self, look: Look) -> Progress:
        """The progress with an object that is new to us: updates are told from what it is now."""
        begun = Progress(look.memory.uid)
        for handler in self._updating:
            begun = self.handled(begun, look, handler)
        return begun

    def handled(self, progress: Progress, look: Look, handler: Handler) -> Progress:
        """The progress once a handler of updates is done with what is seen."""
        value, now = look.value(handler.path)
        # What is in a Secret is copied nowhere.
        is_secret = self._is_secret and handler.path[:1] != ("metadata",)
        return progress.with_handled(handler.id, now, None if is_secret else value)

    def change(self, look: Look, handler: Handler) -> Changed:
        """From what a handler of updates was last done with, to what is seen."""
        then, values = look.progress.handled[handler.id], look.progress.values
        new, _ = look.value(handler.path)
        is_known = then in values or then == _NOTHING
        return Changed(handler.field, _copy(values.get(then)), _copy(new), is_old_known=is_known)

    def keep(self, look: Look, progress: Progress) -> None:
        """Keep it in mind."""
        look.progress = progress
        look.memory.unwritten = progress, self._text(look.seen)

    async def write(self, look: Look, progress: Progress) -> None:
        """Write it down. Raises ApiError; then it is written with the next look."""
        self.keep(look, progress)
        look.written, text = progress, progress.written()
        written = await change_metadata(self._writer, look.seen, lambda _: {"annotations": {self._annotation: text}})
        if not self._writer.dry_run:
            look.memory.unwritten = None
            look.seen = written or look.seen

    async def write_what_is_left(self, look: Look) -> None:
        """Write what could not be written in an earlier look; in a dry run nothing ever is."""
        if look.memory.unwritten is not None and not self._writer.dry_run:
            await self.write(look, look.progress)

    def _text(self, seen: Json) -> str | None:
        text: str | None = (seen["metadata"].get("annotations") or {}).get(self._annotation)
        return text


def _copy(value: Any) -> Any:
    """One for the author, who may change it."""
    return orjson.loads(orjson.dumps(value))
