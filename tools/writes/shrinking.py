"""Finds which steps of a sequence a difference needs."""

from __future__ import annotations

from dataclasses import replace

from tools.writes.running import Compared, Pair
from tools.writes.steps import Sequence, Step


async def shrunk(pair: Pair, different: Compared) -> Compared:
    """The same difference with fewer steps before it, if it needs fewer. Steps are left out one by one."""
    found = different
    number = 0
    while number < found.number:
        steps = found.sequence.steps[: found.number + 1]
        fewer: Sequence = replace(found.sequence, steps=steps[:number] + steps[number + 1 :])
        last = (await pair.compare_once(fewer))[-1]
        if not last.is_same and _codes(last) == _codes(different):
            found = last
        else:
            number += 1
    return found


def _codes(result: Compared) -> tuple[Step, int, int]:
    """What two differences have in common that have the same reason."""
    return result.step, result.wanted[0], result.got[0]
