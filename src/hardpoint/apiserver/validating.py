"""Validation beside the other work: what takes a while is done in a thread, so that nobody else waits for it.

What a stranger's schema and rules ask of an object has no natural end. In the thread it may take some processor time,
and is over when nobody waits for it any more; then the object is refused, as it is if its rules cost too much.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import thread_time
from typing import TYPE_CHECKING, Any

from hardpoint.apiserver.threads import beside
from hardpoint.machinery import patience, validation
from hardpoint.machinery.errors import Costly
from hardpoint.machinery.fielderrors import FieldError, invalid
from hardpoint.machinery.jsontext import encode
from hardpoint.machinery.kinds import Kind

if TYPE_CHECKING:
    from hardpoint.machinery.structural import Structure

Json = dict[str, Any]
Work = Callable[..., list[FieldError]]

QUICK_STEPS = 200_000
"""So much is done while others wait: some twenty milliseconds."""
STEPS_MAX = 20_000_000
SECONDS_MAX = 2.0
"""Of one processor, not on the clock: who is refused shall be so on a busy machine and on an idle one."""
DEFINITION_SECONDS_MAX = 10.0
LARGE_DEFINITION_BYTES = 8 * 1024

_DEFINITION = "CustomResourceDefinition"
_NOWHERE = "<nil>"
_TOO_LONG = "validation takes too long and was given up; use a smaller object, or a simpler schema with cheaper rules"


async def on_create(kind: Kind, obj: Json) -> list[FieldError]:
    """Everything wrong with a new object."""
    if _is_quick(kind):
        return validation.on_create(kind, obj)
    return await _found(kind, obj, partial(validation.on_create, kind, obj))


async def on_update(kind: Kind, obj: Json, old: Json) -> list[FieldError]:
    """Everything wrong with replacing `old` by `obj`."""
    if _is_quick(kind):
        return validation.on_update(kind, obj, old)
    return await _found(kind, obj, partial(validation.on_update, kind, obj, old))


async def on_part_update(kind: Kind, part: str, obj: Json, old: Json) -> list[FieldError]:
    """What is wrong with replacing `old` by `obj` where only the part a subresource stands for could change."""
    return await _found(kind, obj, partial(validation.on_part_update, kind, part, obj, old))


async def prepare(structure: Structure) -> None:
    """Have a large schema made ready for its first use."""
    await beside(structure.prepare)


def _is_quick(kind: Kind) -> bool:
    """Whether validating takes no longer than reading did: no stranger wrote the rules."""
    return kind.structure is None and kind.kind != _DEFINITION


async def _found(kind: Kind, obj: Json, work: Work) -> list[FieldError]:
    if kind.structure is None:
        if kind.kind == _DEFINITION and len(encode(obj)) > LARGE_DEFINITION_BYTES:
            return await _in_thread(work, DEFINITION_SECONDS_MAX)
        return work()
    try:
        with patience.limited(QUICK_STEPS, _others_wait):
            return work()
    except Costly:
        return await _in_thread(partial(work, is_patient=True), SECONDS_MAX)


def _others_wait(_: int) -> None:
    raise Costly


class _TooLong(Exception):
    """Whoever did this was asked to stop."""


class _Turn:
    """Work in a thread, until it is done, took too long, or nobody waits for it."""

    def __init__(self, work: Work, seconds_max: float) -> None:
        self._work = work
        self._seconds_max = seconds_max
        self._steps_left = STEPS_MAX
        self._ends = 0.0
        self.is_abandoned = False

    def run(self) -> list[FieldError]:
        self._ends = thread_time() + self._seconds_max
        try:
            with patience.limited(QUICK_STEPS, self._ask):
                return self._work()
        except _TooLong:
            return [invalid(_NOWHERE, "object", _TOO_LONG)]

    def _ask(self, steps: int) -> None:
        self._steps_left -= steps
        if self.is_abandoned or self._steps_left < 0 or thread_time() > self._ends:
            raise _TooLong


async def _in_thread(work: Work, seconds_max: float) -> list[FieldError]:
    turn = _Turn(work, seconds_max)
    try:
        return await beside(turn.run)
    finally:
        turn.is_abandoned = True
