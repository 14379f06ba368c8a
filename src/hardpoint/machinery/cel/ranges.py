"""From the least to the most that something may be: how long a text, how many items, what an expression costs.

The arithmetic is that of unsigned 64-bit integers which stop at their maximum, as cel-go's is: a CRD that is accepted
here must be accepted there, so that even the rounding is the same.
"""

from __future__ import annotations

import math
from typing import NamedTuple

UNBOUNDED = 2**64 - 1
"""More than this cannot be told apart."""


class Range(NamedTuple):
    """Both ends belong to it."""

    min: int
    max: int

    def plus(self, other: Range) -> Range:
        return Range(min(self.min + other.min, UNBOUNDED), min(self.max + other.max, UNBOUNDED))

    def times(self, other: Range) -> Range:
        return Range(min(self.min * other.min, UNBOUNDED), min(self.max * other.max, UNBOUNDED))

    def scaled(self, factor: float) -> Range:
        """Multiplied, and rounded up."""
        return Range(_scaled(self.min, factor), _scaled(self.max, factor))

    def union(self, other: Range) -> Range:
        """The smallest range that has both in it."""
        return Range(min(self.min, other.min), max(self.max, other.max))


def exactly(value: int) -> Range:
    return Range(value, value)


UNKNOWN = Range(0, UNBOUNDED)
NOTHING = exactly(0)
ONE = exactly(1)
NEVER = Range(UNBOUNDED, 0)
"""The range of no value at all: its union with any other is that other."""


def _scaled(value: int, factor: float) -> int:
    approximate = float(value)
    if approximate > 0 and factor > 0 and approximate > float(UNBOUNDED) / factor:
        return UNBOUNDED
    return min(math.ceil(approximate * factor), UNBOUNDED)
