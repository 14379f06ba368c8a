"""How often an operator's function was called, and how long after the change: told through memory that is shared.

A note costs a microsecond, so that it can be left in what is measured; times are of the machine's own clock, which all
its processes share.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from time import monotonic_ns

PATH = "BENCH_TALLY"
"""The environment variable that tells an operator where it is."""
SLOTS = 1 << 18
_WORD_BYTES = 8


class Tally:
    """A count, and the latest SLOTS delays."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._words = memoryview(mmap.mmap(file.fileno(), 0)).cast("Q")

    @classmethod
    def create(cls, path: Path) -> Tally:
        path.write_bytes(bytes(_WORD_BYTES * (SLOTS + 1)))
        return cls(path)

    @classmethod
    def from_environment(cls) -> Tally:
        return cls(Path(os.environ[PATH]))

    def note(self, sent_ns: int) -> None:
        """The function was called for a change that was sent then."""
        count = self._words[0]
        self._words[1 + count % SLOTS] = monotonic_ns() - sent_ns
        self._words[0] = count + 1

    @property
    def count(self) -> int:
        return self._words[0]

    def delays_ms(self, since: int) -> list[float]:
        """From the `since`th note on."""
        return [self._words[1 + number % SLOTS] / 1e6 for number in range(since, self.count)]
