"""How much there is in a value, for work that goes through all of it.

Costs look at a list and not into it, as cel-go's do. So an expression may put the same list many times into another,
and that into a third, for next to nothing, until no computer compares two such values. What a request brings is never
that much: whatever is more was made to do harm.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from hardpoint.machinery.cel.errors import CostExceeded
from hardpoint.machinery.cel.frames import Frame, Step, ask
from hardpoint.machinery.cel.types import Kind, Type
from hardpoint.machinery.cel.values import Optional

PARTS_MAX = 2_000_000
"""JSON of three megabytes has fewer."""

_BETWEEN_QUESTIONS = 10_000
_SHALLOW = (Kind.SCALAR, Kind.MOMENT, Kind.NULL, Kind.TYPE, Kind.ERROR)
_DEEP = frozenset((list, dict, Optional))


def weigh(value: Any, frame: Frame) -> None:
    """Raises CostExceeded for a value with more parts than any request brings, and Interrupted if nobody waits."""
    total = 0
    unseen = [value]
    for seen, part in enumerate(_emptied(unseen), 1):
        if type(part) is Optional:
            items: Collection[Any] = [part.value()] if part.has_value else ()
        else:
            items = part.values() if type(part) is dict else part
        total += len(items)
        if total > PARTS_MAX:
            raise CostExceeded
        if not _DEEP.isdisjoint(map(type, items)):
            unseen += [item for item in items if type(item) in _DEEP]
        if not seen % _BETWEEN_QUESTIONS:
            ask(frame)


def _emptied(unseen: list[Any]) -> Iterator[Any]:
    while unseen:
        yield unseen.pop()


def weighed(step: Step, declared: Type) -> Step:
    """The step, whose value is weighed if its type leaves it open how much is in it."""
    run = step.run
    if step.constant or not _is_deep(declared):
        return step

    def run_weighed(frame: Frame) -> Any:
        value = run(frame)
        if type(value) in _DEEP:
            weigh(value, frame)
        return value

    return step._replace(run=run_weighed)


def _is_deep(type: Type) -> bool:
    """May a value of this type hold containers?"""
    match type.kind:
        case Kind.LIST | Kind.MAP:
            return type.parameters[-1].kind not in _SHALLOW
        case Kind.OPAQUE:
            return type.is_optional and (type.unwrapped.kind in (Kind.LIST, Kind.MAP) or _is_deep(type.unwrapped))
        case Kind.DYN | Kind.PARAMETER | Kind.OBJECT:
            return True
    return False
