"""What is known of requests before they are let in: their flow, how large their answers are, and what they cost.

Sorting a request by its schema is done once for all requests of one kind by one user, and remembered.
"""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.flow.contract import Headers
from hardpoint.apiserver.flow.levels import Level, Levels, Shape
from hardpoint.apiserver.flow.schemas import Schema, deal
from hardpoint.apiserver.flow.tallies import Tally
from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User

BYTES_PER_SEAT = 100_000
WIDTH_MAX = 100
FIRST_GUESS_SECONDS = 100e-6
"""What a request costs of which nothing is known."""
LEARNING = 0.2
"""How much the newest counts in what is known of the past."""
_WIDEST_PART = 0.5
"""Of its level's seats no request takes more. With one processor, more than two large answers at once are no faster."""
_WIDE_VERBS = frozenset(("list", "watch"))
_COURSES_MAX = 4096
_REMEMBERED_LENGTH_MAX = 1024
"""Strangers write long paths; those are not worth the memory."""


class Size:
    """How large the answers to one question have been, whoever asked it; None: nobody has yet."""

    __slots__ = ("answer_bytes",)

    def __init__(self) -> None:
        self.answer_bytes: float | None = None

    def learn(self, answer_bytes: int) -> None:
        known = self.answer_bytes
        self.answer_bytes = answer_bytes if known is None else known + (answer_bytes - known) * LEARNING

    def width(self, level: Level) -> int:
        """How many seats such an answer takes: several if it is large, or may be."""
        widest = min(WIDTH_MAX, max(1, round(level.nominal * _WIDEST_PART)))
        if self.answer_bytes is None:
            return widest
        return min(1 + int(self.answer_bytes // BYTES_PER_SEAT), widest)


class Owner:
    """A user, and how much of their answers they have asked for and not taken."""

    __slots__ = ("untaken_bytes",)

    def __init__(self) -> None:
        self.untaken_bytes = 0


class Course:
    """Requests of one kind by one user: their flow, and what they have cost so far."""

    __slots__ = ("hand", "headers", "level", "owner", "seconds", "size", "tally")

    def __init__(
        self,
        owner: Owner,
        level: Level,
        hand: tuple[int | str, ...],
        headers: Headers,
        tally: Tally,
        size: Size | None,
    ) -> None:
        self.owner = owner
        self.level = level
        self.hand = hand
        self.headers = headers
        self.tally = tally
        self.size = size
        """Of what may be large; everything else takes one seat."""
        self.seconds = FIRST_GUESS_SECONDS


class Courses:
    """All that were asked for lately."""

    def __init__(self, levels: Levels) -> None:
        self.tallies: dict[tuple[str, str], Tally] = {}
        """By level and schema."""
        self._levels = levels
        self._schemas: list[Schema] = []
        self._courses: dict[tuple[Any, ...], Course] = {}
        self._sizes: dict[tuple[str, str, str, str], Size] = {}
        self._owners: dict[str, Owner] = {}

    def __len__(self) -> int:
        return len(self._courses)

    def configure(self, schemas: list[Schema]) -> None:
        """Go by these schemas, in their order; those whose level there is not are passed over."""
        self._schemas = [schema for schema in schemas if self._levels.get(schema.level) is not None]
        self._courses.clear()

    def find(self, user: User, verb: str, where: Target) -> Course:
        if len(where.path) > _REMEMBERED_LENGTH_MAX:
            return self._chart(user, verb, where)
        resource = where.resource or where.path
        key = (user.name, user.groups, verb, where.namespace, resource, where.subresource, where.group)
        course = self._courses.get(key)
        if course is None:
            if len(self._courses) >= _COURSES_MAX:
                self._courses.clear()
            course = self._courses[key] = self._chart(user, verb, where)
        return course

    def _chart(self, user: User, verb: str, where: Target) -> Course:
        schema = next((each for each in self._schemas if each.matches(user, verb, where)), self._schemas[-1])
        level = self._levels.get(schema.level)
        assert level is not None, "only schemas that have their level are kept"
        shape = level.shape
        hand: tuple[int | str, ...] = (f"{schema.name}/{user.name}",)
        if shape.queues:
            hand = deal(schema.name, schema.flow_of(user, where), shape.queues, shape.hand_size)
        return Course(
            self._owner(user.name),
            level,
            hand,
            _headers(schema, shape),
            self.tallies.setdefault((shape.name, schema.name), Tally()),
            self._size(verb, where) if verb in _WIDE_VERBS else None,
        )

    def _owner(self, name: str) -> Owner:
        if len(self._owners) >= _COURSES_MAX:
            self._owners = {name: owner for name, owner in self._owners.items() if owner.untaken_bytes}
        return self._owners.setdefault(name, Owner())

    def _size(self, verb: str, where: Target) -> Size:
        if len(self._sizes) >= _COURSES_MAX:
            self._sizes.clear()
        return self._sizes.setdefault((verb, where.group, where.resource, where.namespace), Size())


def _headers(schema: Schema, shape: Shape) -> Headers:
    return (
        ("X-Kubernetes-Pf-Flowschema-Uid", schema.uid),
        ("X-Kubernetes-Pf-Prioritylevel-Uid", shape.uid),
    )
