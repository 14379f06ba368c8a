"""How long a loop is busy with one thing at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
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
    looking = asyncio.create_task(_look(found), name="liveliness")
    await asyncio.sleep(0)
    try:
        yield found
        # Whatever came last counts, too.
        await asyncio.sleep(2 * _BETWEEN_LOOKS_SECONDS)
    finally:
        looking.cancel()
    assert found.busy_seconds_max <= seconds_max, f"everybody waited for {found.busy_seconds_max:.2f} s"


async def _look(found: Liveliness) -> None:
    while True:
        before = thread_time()
        await asyncio.sleep(_BETWEEN_LOOKS_SECONDS)
        found.busy_seconds_max = max(found.busy_seconds_max, thread_time() - before)
