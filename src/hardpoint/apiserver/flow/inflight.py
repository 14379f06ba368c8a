"""The simple limits, for servers without Priority and Fairness: so many reads and so many writes at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

from hardpoint.apiserver.authentication.contract import MASTERS
from hardpoint.apiserver.flow.contract import Headers, Limits, Overloaded
from hardpoint.apiserver.flow.pushback import Brake
from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User

_READS = frozenset(("get", "list", "watch"))


class InFlightSeat:
    """A request inside."""

    __slots__ = ("_counts", "_is_read", "_is_taken")

    headers: Headers = ()

    def __init__(self, counts: list[int], is_read: bool) -> None:
        self._counts = counts
        self._is_read = is_read
        self._is_taken = True
        counts[is_read] += 1

    def leave(self, answer_bytes: int | None = None) -> None:
        if self._is_taken:
            self._is_taken = False
            self._counts[self._is_read] -= 1

    def leave_when_taken(self, answer_bytes: int) -> Callable[[], None]:
        return self.leave


class InFlight:
    """Counts reads and writes; who is one too many is refused, unless they are of `system:masters`."""

    def __init__(self, *, reads_max: int, writes_max: int) -> None:
        """0 is without limit."""
        self._limits = (writes_max, reads_max)
        self._counts = [0, 0]
        self._brake = Brake(per_second=500, burst=100, wait_seconds_max=1.0)

    def enter(self, user: User, verb: str, where: Target) -> InFlightSeat | None:
        is_read = verb in _READS
        limit = self._limits[is_read]
        if limit and self._counts[is_read] >= limit and MASTERS not in user.groups:
            return None
        return InFlightSeat(self._counts, is_read)

    async def wait(self, user: User, verb: str, where: Target) -> InFlightSeat:
        await asyncio.sleep(self.refuse())
        raise Overloaded(1)

    def refuse(self) -> float:
        return self._brake.delay_seconds(monotonic())


_conforms: type[Limits] = InFlight
