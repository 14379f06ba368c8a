"""Priority levels: how many seats each has, who sits, and who waits in which queue.

A level's seats follow from its shares. What it does not use others may borrow, up to their limit and as long as what
it never lends stays free. Waiting requests stand in queues, a few of many for each flow, and the queue that had least
is served next.
"""

from __future__ import annotations

import math
from asyncio import Future
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from hardpoint.apiserver.flow.schemas import CATCH_ALL, EXEMPT

Json = dict[str, Any]

EXEMPT_WEIGHT = 100
"""How much of the processor the exempt get, in shares, when everybody wants it. They are never refused."""
_QUEUES_KEPT = 1024


class Shape(NamedTuple):
    """A PriorityLevelConfiguration, as far as it matters."""

    name: str
    uid: str = ""
    is_exempt: bool = False
    shares: int = 0
    lendable_percent: int = 0
    borrowing_percent: int | None = None
    """None: as much as there is."""
    queues: int = 0
    """0: nobody waits for a seat, who finds none is refused."""
    hand_size: int = 0
    queue_length_max: int = 0

    @staticmethod
    def of(obj: Json) -> Shape:
        name, uid = obj["metadata"]["name"], obj["metadata"].get("uid", "")
        spec = obj.get("spec") or {}
        if spec.get("type") == "Exempt":
            exempt = spec.get("exempt") or {}
            shares, lendable = exempt.get("nominalConcurrencyShares", 0), exempt.get("lendablePercent", 0)
            return Shape(name, uid, is_exempt=True, shares=shares, lendable_percent=lendable)
        limited = spec.get("limited") or {}
        queuing = (limited.get("limitResponse") or {}).get("queuing") or {}
        return Shape(
            name,
            uid,
            shares=limited.get("nominalConcurrencyShares", 30),
            lendable_percent=limited.get("lendablePercent", 0),
            borrowing_percent=limited.get("borrowingLimitPercent"),
            queues=queuing.get("queues", 0),
            hand_size=queuing.get("handSize", 0),
            queue_length_max=queuing.get("queueLengthLimit", 0),
        )


MANDATORY = (Shape(EXEMPT, is_exempt=True), Shape(CATCH_ALL, shares=5))
"""The levels every server has, for as long as nobody has stored them."""


def with_mandatory(objects: Iterable[Json]) -> list[Shape]:
    """The shapes of PriorityLevelConfiguration objects, with the mandatory ones where they are missing."""
    stored = [Shape.of(obj) for obj in objects]
    names = {shape.name for shape in stored}
    return stored + [shape for shape in MANDATORY if shape.name not in names]


class Waiting:
    """A request that waits for its turn."""

    __slots__ = ("deadline", "future", "has_seat", "is_called", "seconds", "width")

    def __init__(self, future: Future[None], width: int, seconds: float, has_seat: bool, deadline: float) -> None:
        self.future = future
        self.width = width
        self.seconds = seconds
        """How much of the processor it will probably take."""
        self.has_seat = has_seat
        self.deadline = deadline
        """Until when it waits, by the monotonic clock."""
        self.is_called = False


had_seconds = attrgetter("had_seconds")


class Queue:
    """Requests that are served in the order they came, and what their queue has had so far."""

    __slots__ = ("executing", "had_seconds", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Waiting] = deque()
        self.executing = 0
        self.had_seconds = 0.0


class Level:
    """A priority level at work."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.is_exempt = shape.is_exempt
        self.nominal = self.minimum = self.maximum = 0
        """Seats: by its shares; what it never lends; what it has with all it may borrow."""
        self.in_use = 0
        self.had_seconds = 0.0
        """What it had of the processor, by its weight."""
        self.served_seconds = 0.0
        """What the queue served last had had; who comes back after a rest begins there."""
        self.active: set[Queue] = set()
        """The queues in which somebody waits."""
        self._queues: dict[int | str, Queue] = {}

    @property
    def weight(self) -> int:
        return max(EXEMPT_WEIGHT if self.is_exempt else self.shape.shares, 1)

    def queue(self, hand: Sequence[int | str]) -> Queue:
        """The emptiest queue of a flow's hand."""
        chosen, fewest = None, math.inf
        for card in hand:
            queue = self._queues.get(card) or self._find(card)
            here = len(queue.waiting) + queue.executing
            if here < fewest:
                chosen, fewest = queue, here
        assert chosen is not None, "a hand is never empty"
        return chosen

    def _find(self, card: int | str) -> Queue:
        queue = self._queues.get(card)
        if queue is None:
            if len(self._queues) >= _QUEUES_KEPT:
                kept = {card: queue for card, queue in self._queues.items() if queue.waiting or queue.executing}
                self._queues = kept
            queue = self._queues[card] = Queue()
        return queue

    def wait_in(self, queue: Queue, waiting: Waiting) -> None:
        if not queue.waiting:
            queue.had_seconds = max(queue.had_seconds, self.served_seconds)
            self.active.add(queue)
        queue.waiting.append(waiting)

    def by_right(self) -> Iterable[Queue]:
        """The queues in which somebody waits; the first is the one that had least."""
        if len(self.active) == 1:
            return tuple(self.active)
        return sorted(self.active, key=had_seconds)

    def take(self, queue: Queue) -> Waiting:
        """The first of a queue, which waits no longer."""
        waiting = queue.waiting.popleft()
        self.served_seconds = queue.had_seconds
        if not queue.waiting:
            self.active.discard(queue)
        return waiting

    def expired(self, now: float) -> Iterator[tuple[Queue, Waiting]]:
        """Those who have waited too long. All wait equally long, so they are at the heads of their queues."""
        for queue in list(self.active):
            for waiting in list(queue.waiting):
                if waiting.deadline > now:
                    break
                yield queue, waiting

    def withdraw(self, queue: Queue, waiting: Waiting) -> bool:
        """Somebody waits no longer, wherever in the queue they stand; False if they did not."""
        if waiting not in queue.waiting:
            return False
        queue.waiting.remove(waiting)
        if not queue.waiting:
            self.active.discard(queue)
        return True


class Levels:
    """All levels, and the seats they share."""

    def __init__(self, seats: int) -> None:
        self.seats = seats
        self._levels: dict[str, Level] = {}

    def configure(self, shapes: Iterable[Shape]) -> None:
        """Have these levels; those that stay keep who sits and waits, those that go stay until nobody waits there."""
        wanted = {shape.name: shape for shape in shapes}
        total = sum(shape.shares for shape in wanted.values()) or 1
        going = {name: level for name, level in self._levels.items() if name not in wanted and level.active}
        self._levels = going | {name: self._levels.get(name) or Level(shape) for name, shape in wanted.items()}
        for name, shape in wanted.items():
            level = self._levels[name]
            level.shape, level.is_exempt = shape, shape.is_exempt
            _allot(level, self.seats, total)

    def get(self, name: str) -> Level | None:
        return self._levels.get(name)

    def __iter__(self) -> Iterator[Level]:
        return iter(self._levels.values())

    def fits(self, level: Level, width: int) -> bool:
        """Whether a request of this width finds seats in a level: its own, or for a narrow one borrowed."""
        wanted = level.in_use + width
        if wanted <= level.nominal or level.in_use == 0 or level.is_exempt:
            return True
        if wanted > level.maximum or width > 1:
            return False
        others = [other for other in self._levels.values() if other is not level and not other.is_exempt]
        taken = sum(max(other.in_use, other.minimum) for other in others)
        return wanted + taken <= self.seats


def _allot(level: Level, seats: int, total_shares: int) -> None:
    shape = level.shape
    nominal = math.ceil(seats * shape.shares / total_shares)
    borrowed = seats if shape.borrowing_percent is None else _percent(nominal, shape.borrowing_percent)
    level.nominal = nominal
    level.minimum = nominal - _percent(nominal, shape.lendable_percent)
    level.maximum = nominal + borrowed


def _percent(seats: int, percent: int) -> int:
    """Part of the seats; halves are rounded up, as Go does and Python does not."""
    return (seats * percent + 50) // 100
