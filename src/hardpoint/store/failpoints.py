"""Named places where a test may make the program fail: `HARDPOINT_FAILPOINTS=store.before_commit=panic:0.1`.

Each point is `name=action`, several are separated by `;`. The actions are `panic` (the process ends at once, as in a
crash), `error` (raises Failure) and `sleep:MILLISECONDS`; each may end in `:PROBABILITY`, a number from 0 to 1.
While nothing is armed a point costs one look at an empty dict.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from hardpoint.machinery.errors import ConfigError, StoreError

VARIABLE = "HARDPOINT_FAILPOINTS"
EXIT_CODE = 86
"""How a process ends that panicked on purpose."""

_SHAPE = "name=panic, name=error or name=sleep:MILLISECONDS, each with an optional :PROBABILITY from 0 to 1"


class Failure(StoreError):
    """What a failpoint armed with `error` raises."""


class Action(NamedTuple):
    """What happens at a point, and how often."""

    verb: str
    milliseconds: float = 0.0
    probability: float = 1.0

    def perform(self, name: str) -> None:
        if random.random() >= self.probability:  # noqa: S311 - chance, not secrecy
            return
        if self.verb == "panic":
            os._exit(EXIT_CODE)
        if self.verb == "error":
            raise Failure(f"failpoint {name} was told to fail")
        time.sleep(self.milliseconds / 1000)


def hit(name: str) -> None:
    """Do what the point `name` is armed with; nothing, unless it is."""
    if _armed and (action := _armed.get(name)):
        action.perform(name)


@contextmanager
def armed(specification: str) -> Iterator[None]:
    """Arm these points, and only these, inside the block."""
    before = dict(_armed)
    _replace(parse(specification))
    try:
        yield
    finally:
        _replace(before)


def parse(specification: str) -> dict[str, Action]:
    """The actions by name. Raises ConfigError that names the part it cannot read."""
    points = [part.strip() for part in specification.split(";") if part.strip()]
    return dict(_parse_point(point) for point in points)


def _parse_point(point: str) -> tuple[str, Action]:
    name, _, action = point.partition("=")
    verb, *numbers = action.split(":")
    takes = {"panic": 0, "error": 0, "sleep": 1}
    try:
        given = [float(number) for number in numbers]
        if not name or len(given) - takes[verb] not in (0, 1):
            raise ValueError
        probability = given.pop() if len(given) > takes[verb] else 1.0
        if not 0.0 <= probability <= 1.0:
            raise ValueError
    except (KeyError, ValueError) as cause:
        raise ConfigError(f"{VARIABLE}: cannot read {point!r}; write {_SHAPE}") from cause
    return name, Action(verb, given[0] if given else 0.0, probability)


def _replace(actions: dict[str, Action]) -> None:
    _armed.clear()
    _armed.update(actions)


_armed: dict[str, Action] = parse(os.environ.get(VARIABLE, ""))
