"""The watch cache: every write once, for however many watchers.

The hub follows the store with one watch and keeps the newest events of each place in a bounded log. A watcher is a
position in such a log: it holds no queue of its own, so a slow one costs nothing, and one that falls out of the log is
closed. An event is decoded and encoded at most once per form, whoever asks first. Whoever wants to start further back
than the log reaches reads from the store, until it has caught up.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, NamedTuple

from hardpoint.apiserver.places import ROOT, Place
from hardpoint.machinery.errors import StoreError
from hardpoint.store.contract import Compacted, Event, Store

Json = dict[str, Any]

LOG_EVENTS_MAX = 8192
LOG_BYTES_MAX = 8 * 1024 * 1024
# With many watchers a write to each of their sockets for every single event is most of the work: events that come
# within a few milliseconds leave together.
MANY_WATCHERS = 64
GATHER_SECONDS = 0.005
COUNTS_MAX = 4096


class Change:
    """One event of one place, with everything that was ever derived from it."""

    __slots__ = ("_forms", "_objects", "key", "previous", "revision", "value", "versions")

    def __init__(self, event: Event) -> None:
        self.key = event.key
        self.value = event.value
        self.revision = event.revision
        self.previous = event.previous
        self._objects: dict[tuple[str, bool], Json] = {}
        self._forms: dict[Any, bytes] = {}
        self.versions: dict[Any, Change] = {}
        """The same change in other versions, by whatever name whoever converts gives them."""

    @property
    def size(self) -> int:
        return len(self.value or b"") + len(self.previous or b"")

    def new(self, place: Place) -> Json | None:
        """The object after the write, shared: not to be changed."""
        return self._object(place, self.value, place.load, is_new=True)

    def old(self, place: Place) -> Json | None:
        """The object before the write, as of this revision, shared: not to be changed."""
        return self._object(place, self.previous, place.load_previous, is_new=False)

    def _object(
        self, place: Place, value: bytes | None, load: Callable[[bytes, int], Json], *, is_new: bool
    ) -> Json | None:
        if value is None:
            return None
        name = (place.kind.api_version, is_new)
        found = self._objects.get(name)
        if found is None:
            found = self._objects[name] = load(value, self.revision)
        return found

    def form(self, name: Any, make: Callable[[], bytes]) -> bytes:
        """The bytes some form of this change has, made once."""
        made = self._forms.get(name)
        if made is None:
            made = self._forms[name] = make()
        return made


class Told(NamedTuple):
    """What a watcher is told at once."""

    changes: Sequence[Change]
    revision: int
    """Every change up to this revision has been told, these included."""


class Log:
    """The newest changes of one prefix, and who waits for the next."""

    __slots__ = ("_bytes", "_waiting", "_waking", "changes", "floor", "start")

    def __init__(self, floor: int) -> None:
        self.changes: deque[Change] = deque()
        self.start = 0
        """The position of the first change that is still here; it only grows."""
        self.floor = floor
        """Everything after this revision is here, or still to come."""
        self._bytes = 0
        self._waiting: set[asyncio.Future[None]] = set()
        self._waking: asyncio.TimerHandle | None = None

    @property
    def end(self) -> int:
        return self.start + len(self.changes)

    def append(self, change: Change) -> None:
        self.changes.append(change)
        self._bytes += change.size
        while len(self.changes) > LOG_EVENTS_MAX or (self._bytes > LOG_BYTES_MAX and len(self.changes) > 1):
            gone = self.changes.popleft()
            self.start += 1
            self.floor = gone.revision
            self._bytes -= gone.size

    def wake(self) -> None:
        """Tell who waits: at once if they are few, a moment later if they are many."""
        if len(self._waiting) <= MANY_WATCHERS:
            self._wake_now()
        elif self._waking is None:
            self._waking = asyncio.get_running_loop().call_later(GATHER_SECONDS, self._wake_now)

    def _wake_now(self) -> None:
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def grown(self, position: int, seconds: float) -> bool:
        """Wait until there is a change at `position`, at most `seconds`; whether there is."""
        if position < self.end:
            return True
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._waiting.add(future)
        timer = loop.call_later(seconds, _release, future)
        try:
            await future
        finally:
            timer.cancel()
            self._waiting.discard(future)
        return position < self.end

    def position_after(self, revision: int) -> int:
        """Where the changes after `revision` begin, which must not be before the floor."""
        position = self.end
        for change in reversed(self.changes):
            if change.revision <= revision:
                break
            position -= 1
        return position

    def since(self, revision: int) -> Iterator[Change]:
        """The changes after `revision`, which must not be before the floor."""
        return islice(self.changes, self.position_after(revision) - self.start, None)


def _release(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class Counted(NamedTuple):
    """How many keys a prefix had at a revision."""

    keys: int
    revision: int


class FellBehind(StoreError):
    """A watcher was too slow: what it has not seen is no longer in memory."""


class Hub:
    """All logs, fed by one watch of the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._logs: dict[str, Log] = {}
        self._counts: dict[str, Counted] = {}
        self._listeners: dict[str, list[Callable[[Change], None]]] = {}
        self._awaited: dict[asyncio.Future[None], int] = {}
        self._began = 0
        self.revision = 0
        """Every write up to this revision is in its log."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow the store until left. If the store ends the watch, the body is cancelled and the error comes out."""
        self._began = self.revision = await self._store.revision()
        async with self._store.watch(ROOT, after=self._began) as batches, asyncio.TaskGroup() as tasks:
            following = tasks.create_task(self._follow(batches), name="watch hub")
            try:
                yield
            finally:
                following.cancel()

    async def _follow(self, batches: AsyncIterator[Sequence[Event]]) -> None:
        async for batch in batches:
            self.publish(batch)
        raise StoreError("the store ended the watch that all watchers depend on")

    def publish(self, batch: Sequence[Event]) -> None:
        """Append a batch to its logs and wake who waits, once per log."""
        touched: dict[int, Log] = {}
        for event in batch:
            prefix = _place_prefix(event.key)
            each = self._log(prefix)
            change = Change(event)
            each.append(change)
            touched[id(each)] = each
            for listener in self._listeners.get(prefix, ()):
                listener(change)
        self.revision = batch[-1].revision
        self._release_who_awaited()
        for each in touched.values():
            each.wake()

    def listen(self, prefix: str, listener: Callable[[Change], None]) -> None:
        """Tell every change of a place to `listener`, in order, as it comes. It must not wait and must not raise."""
        self._listeners.setdefault(prefix, []).append(listener)

    async def wait_until_reached(self, revision: int, *, seconds: float) -> bool:
        """Wait until every write up to `revision` was told, at most `seconds`; whether it was."""
        if self.revision >= revision:
            return True
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._awaited[future] = revision
        timer = loop.call_later(seconds, _release, future)
        try:
            await future
        finally:
            timer.cancel()
            del self._awaited[future]
        return self.revision >= revision

    def _release_who_awaited(self) -> None:
        for future, revision in self._awaited.items():
            if revision <= self.revision:
                _release(future)

    def _log(self, prefix: str) -> Log:
        found = self._logs.get(prefix)
        if found is None:
            found = self._logs[prefix] = Log(self._began)
        return found

    async def count(self, place: Place, prefix: str, *, at: int) -> int:
        """How many keys are under a prefix of a place, at the revision `at` or later.

        The store counts them one by one, so it is asked once, and from then on the log tells what came and went.
        """
        log = self._log(place.prefix)
        known = self._counts.get(prefix)
        if known is None or known.revision < log.floor or self.revision < at:
            return await self._count_anew(log, prefix)
        changes = [change for change in log.since(known.revision) if change.key.startswith(prefix)]
        count = known.keys + sum((change.previous is None) - (change.value is None) for change in changes)
        self._counts[prefix] = Counted(count, self.revision)
        return count

    async def _count_anew(self, log: Log, prefix: str) -> int:
        """Ask the store, and remember what it says if the prefix was left alone meanwhile."""
        before = self.revision
        count = await self._store.count(prefix)
        newest = await self._store.revision()
        is_known = before >= log.floor and self.revision >= newest
        if is_known and not any(change.key.startswith(prefix) for change in log.since(before)):
            if len(self._counts) >= COUNTS_MAX:
                self._counts.clear()
            self._counts[prefix] = Counted(count, newest)
        return count

    async def changes(self, place: Place, *, after: int, patience_seconds: Callable[[], float]) -> AsyncIterator[Told]:
        """A place's changes after a revision, as they come; none whenever nothing came for `patience_seconds`.

        Raises Compacted if they are forgotten, FellBehind if the caller takes them too slowly.
        """
        seen = after
        followed = self._log(place.prefix)
        if seen < followed.floor:
            async for told in self._from_store(place, seen, patience_seconds):
                seen = told.revision
                yield told
                if seen >= followed.floor:
                    break
        position = followed.position_after(seen)
        while True:
            if not await followed.grown(position, patience_seconds()):
                yield Told((), max(self.revision, seen))
                continue
            if position < followed.start:
                raise FellBehind(f"the watcher is {followed.start - position} events late")
            first = position - followed.start
            batch = [change for change in islice(followed.changes, first, None) if change.revision > seen]
            position = followed.end
            if batch:
                yield Told(batch, batch[-1].revision)

    async def _from_store(self, place: Place, after: int, patience_seconds: Callable[[], float]) -> AsyncIterator[Told]:
        seen = after
        async with self._store.watch(place.prefix, after=after) as batches:
            pending = asyncio.ensure_future(anext(batches))
            try:
                while True:
                    done, _ = await asyncio.wait([pending], timeout=patience_seconds())
                    if not done:
                        yield Told((), seen)
                        continue
                    try:
                        events = pending.result()
                    except StopAsyncIteration:
                        raise Compacted(after, self.revision) from None
                    seen = events[-1].revision
                    yield Told([Change(event) for event in events], seen)
                    pending = asyncio.ensure_future(anext(batches))
            finally:
                pending.cancel()
                await asyncio.wait([pending])


def _place_prefix(key: str) -> str:
    """`/registry/<group>/<plural>/` of a key."""
    end = key.index("/", key.index("/", len(ROOT)) + 1) + 1
    return key[:end]
