"""How long a loop is busy with one thing at a time, and how much memory something takes."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import thread_time

BUSY_SECONDS_MAX = 0.5
_BETWEEN_LOOKS_SECONDS = 0.002


class Liveliness:
    busy_seconds_max = 0.0
    """The longest that everybody else had to wait, in processor time: how busy the machine is does not count."""


@asynccontextmanager
async def staying_lively(seconds_max: float = BUSY_SECONDS_MAX) -> AsyncIterator[Liveliness]:
    """While this is open, nothing may keep the loop busy for longer than that."""
    found = Liveliness()
    # What thousands of other tests left behind is not looked through at the expense of this one.
    gc.collect()
    gc.freeze()
    looking = asyncio.create_task(_look(found), name="liveliness")
    await asyncio.sleep(0)
    try:
        yield found
        # Whatever came last counts, too.
        await asyncio.sleep(2 * _BETWEEN_LOOKS_SECONDS)
    finally:
        looking.cancel()
        gc.unfreeze()
    assert found.busy_seconds_max <= seconds_max, f"everybody waited for {found.busy_seconds_max:.2f} s"


async def _look(found: Liveliness) -> None:
    while True:
        before = thread_time()
        await asyncio.sleep(_BETWEEN_LOOKS_SECONDS)
        found.busy_seconds_max = max(found.busy_seconds_max, thread_time() - before)


@contextmanager
def taking_no_more_than(mebibytes: int) -> Iterator[None]:
    """While this is open, the process may not grow by more than that, not for a moment."""
    # Forgets the largest size there was so far: other tests were here before.
    Path("/proc/self/clear_refs").write_text("5")
    before = _kibibytes("VmRSS")
    yield
    grown = (_kibibytes("VmHWM") - before) / 1024
    assert grown <= mebibytes, f"it took {grown:.0f} MiB"


def _kibibytes(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None, name
    return int(found[1])
