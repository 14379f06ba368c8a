"""Deletes keys whose time has come: ordinary deletes, with ordinary events.

Sleeps until the earliest expiry on disk. Rows that were superseded keep their expiry until they are compacted; they
wake the task for nothing, and harm nobody, because a delete names the revision it expects.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Protocol

from hardpoint.machinery.errors import StoreError
from hardpoint.store.contract import Broken, Closed, Corrupt, Full, Mismatch
from hardpoint.store.sqlite.reader import Reader
from hardpoint.store.sqlite.writer import Write

log = logging.getLogger(__name__)

_AT_ONCE = 256
_SLEEP_SECONDS_MAX = 60.0
"""Expiries are wall-clock times: after this long, look whether the clock was set."""
_RETRY_SECONDS = 1.0


class Delete(Protocol):
    def __call__(self, key: str, *, expected: int) -> Awaitable[int]: ...


class Expiry:
    """The task that deletes what has expired, from its making until `stop`."""

    def __init__(self, reader: Reader, clock: Callable[[], float], delete: Delete) -> None:
        self._reader = reader
        self._clock = clock
        self._delete = delete
        self._next: int | None = 0
        self._sooner = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="hardpoint store expiry")

    def notice(self, writes: Sequence[Write]) -> None:
        """These writes were committed: wake up earlier if one of them expires earlier."""
        for write in writes:
            if write.expires and (self._next is None or write.expires < self._next):
                self._next = write.expires
                self._sooner.set()

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self) -> None:
        looked_until = 0
        while True:
            now = int(self._clock() * 1000)
            if self._next is not None and self._next <= now:
                try:
                    # What was due before the last look is gone or superseded.
                    await self._delete_due(looked_until, now)
                    self._next = self._reader.next_expiry(now)
                except StoreError as cause:
                    log.error("expired keys cannot be read", extra={"cause": str(cause)})
                    self._next = now + int(_SLEEP_SECONDS_MAX * 1000)
                else:
                    looked_until = now
            await self._sleep()

    async def _delete_due(self, after: int, now: int) -> None:
        revision = 0
        while due := self._reader.due(after, revision, now, _AT_ONCE):
            async with asyncio.TaskGroup() as deletes:
                for _, revision, key in due:
                    deletes.create_task(self._expire(key, revision), name=f"expire {key}")
            after = due[-1][0]

    async def _expire(self, key: str, revision: int) -> None:
        while True:
            try:
                await self._delete(key, expected=revision)
            except Full:
                await asyncio.sleep(_RETRY_SECONDS)
            except Corrupt:
                log.error("expired key cannot be deleted: it fails its checksum", extra={"key": key})
                return
            except (Mismatch, Broken, Closed):
                return
            else:
                return

    async def _sleep(self) -> None:
        self._sooner.clear()
        wait = None if self._next is None else min(self._next / 1000 - self._clock(), _SLEEP_SECONDS_MAX)
        with suppress(TimeoutError):
            async with asyncio.timeout(wait):
                await self._sooner.wait()
