"""Daemons: a function that runs for as long as its object lives, beside the looks at it.

One that fails is started again, later each time; one that returns is done with its object. They end when the object is
deleted or concerns them no longer, and when this process has no more to do with it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import Any

from hardpoint.runtime.changes import Key
from hardpoint.runtime.environment import Share
from hardpoint.runtime.finalizers import is_deleted
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.sharding import ShardLost
from hardpoint.runtime.workqueue import BACKOFF_SECONDS_MAX
from hardpoint.seams.controller.contract import Permanent
from hardpoint.seams.controller.guest.calling import Calls, is_conflict
from hardpoint.seams.controller.guest.handlers.essence import digest, essence
from hardpoint.seams.controller.guest.handlers.handler import Handler

Json = dict[str, Any]
Tell = Callable[[Handler, Key, Json, Exception], None]

STOP_SECONDS = 10.0
"""How long a daemon that was cancelled may take to end."""
SHARE_SECONDS = 1.0
"""How often it is seen to that daemons run only for objects that are this process's."""

log = logging.getLogger(__name__)


class Daemon:
    """One function and one object."""

    def __init__(self, handler: Handler, key: Key, uid: str) -> None:
        self.handler = handler
        self.key = key
        self.uid = uid
        self.failures = 0
        self.is_done = False
        """Whether it returned: it is not started again for this object."""
        self.refused = ""
        """The digest of what it gave up on for good: it is started again when that changed."""
        self.task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        return self.task is not None and not self.task.done()

    def is_settled(self, uid: str, subject: str) -> bool:
        """Whether there is nothing to start."""
        return self.is_running or (self.uid == uid and (self.is_done or self.refused == subject))

    def cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()


class Daemons:
    """The daemons of all objects. For one event loop."""

    def __init__(self, calls: Calls, primary: Informer, tell: Tell, share: Share | None) -> None:
        self._calls = calls
        self._primary = primary
        self._tell = tell
        self._share = share
        self._daemons: dict[Key, dict[str, Daemon]] = {}
        self._leaving: set[asyncio.Task[None]] = set()
        """Of objects that are gone: nobody waits for them before the end."""
        self._is_open = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Daemons may run until this is left; then they end."""
        self._is_open = True
        keeping = asyncio.create_task(self._keep_to_share(), name="daemons of this share")
        try:
            yield
        finally:
            self._is_open = False
            keeping.cancel()
            await _ended([keeping, *self._leaving, *_tasks(self._all())])
            self._daemons.clear()

    def ensure(self, key: Key, uid: str, subject: str, wanted: Iterable[Handler]) -> None:
        """Have those run for an object, and no others, that are wanted and not done with it."""
        daemons = self._daemons.setdefault(key, {})
        handlers = {handler.id: handler for handler in wanted}
        for id, daemon in daemons.items():
            if id not in handlers or daemon.uid != uid:
                daemon.cancel()
        for id, handler in handlers.items():
            if self._is_open and not (id in daemons and daemons[id].is_settled(uid, subject)):
                daemons[id] = self._started(Daemon(handler, key, uid))
        if not daemons:
            del self._daemons[key]

    def leave(self, key: Key) -> None:
        """The object is gone: cancel its daemons, and wait for nothing."""
        for task in _tasks(self._daemons.pop(key, {}).values()):
            task.cancel()
            self._leaving.add(task)
            task.add_done_callback(self._leaving.discard)

    async def stop(self, key: Key) -> bool:
        """Cancel the daemons of an object and wait for them. False if one is still there after a while."""
        if not await _ended(_tasks(self._daemons.get(key, {}).values())):
            return False
        self._daemons.pop(key, None)
        return True

    def _started(self, daemon: Daemon) -> Daemon:
        daemon.task = asyncio.create_task(self._live(daemon), name=f"{daemon.handler.function.name} of {daemon.key}")
        return daemon

    async def _live(self, daemon: Daemon) -> None:
        while (seen := self._seen(daemon)) is not None:
            seconds = await self._run(daemon, seen)
            if seconds is None:
                return
            await asyncio.sleep(seconds)

    def _seen(self, daemon: Daemon) -> Json | None:
        found = self._primary.read(daemon.key)
        is_there = found is not None and found["metadata"]["uid"] == daemon.uid and not is_deleted(found)
        return found if is_there else None

    async def _run(self, daemon: Daemon, seen: Json) -> float | None:
        """Run it once; in how many seconds to do that again, if at all."""
        handler, began = daemon.handler, asyncio.get_running_loop().time()
        try:
            async with nullcontext() if self._share is None else self._share.holding(daemon.key):
                seconds = await handler.call(self._calls, seen)
        except ShardLost:
            return None
        except Exception as failure:  # noqa: BLE001 Whatever a stranger's function raises concerns nobody else.
            if not is_conflict(failure):
                self._tell(handler, daemon.key, seen, failure)
            if isinstance(failure, Permanent):
                daemon.refused = digest(essence(seen))
                return None
            return None if _is_being_cancelled() else _after_failure(daemon, began)
        daemon.failures = 0
        # One that was told to end, and did so in order, is not done: it may be wanted again.
        daemon.is_done = seconds is None and not _is_being_cancelled()
        return None if _is_being_cancelled() else seconds

    async def _keep_to_share(self) -> None:
        """Whoever takes over a part of the objects waits for the work on them to end."""
        while self._share is not None:
            await asyncio.sleep(SHARE_SECONDS)
            for daemon in self._all():
                if not self._share.owns(daemon.key):
                    daemon.cancel()

    def _all(self) -> list[Daemon]:
        return [daemon for daemons in self._daemons.values() for daemon in daemons.values()]


def _after_failure(daemon: Daemon, began: float) -> float:
    if asyncio.get_running_loop().time() - began > BACKOFF_SECONDS_MAX:
        # It worked for long: that is not a failure in a row.
        daemon.failures = 0
    daemon.failures += 1
    return daemon.handler.waits.after(daemon.failures - 1)


def _tasks(daemons: Iterable[Daemon]) -> list[asyncio.Task[None]]:
    return [daemon.task for daemon in daemons if daemon.task is not None and not daemon.task.done()]


async def _ended(tasks: Sequence[asyncio.Task[None]]) -> bool:
    """Cancel tasks and wait for them, within reason."""
    for task in tasks:
        task.cancel()
    if not tasks:
        return True
    _, left = await asyncio.wait(tasks, timeout=STOP_SECONDS)
    for task in left:
        log.warning("daemon does not end", extra={"daemon": task.get_name(), "seconds": STOP_SECONDS})
    return not left


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
