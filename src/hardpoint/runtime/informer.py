"""One resource under one selection, kept in memory and told to all who want to know: one watch, shared.

    informer = informers.get("v1 ConfigMap", label_selector="app=web")
    informer.subscribe(handler)
    async with informers.running():
        await informer.wait_until_synced()
        informer.read(Key("default", "settings"))

Following across cuts and forgotten versions is the client's; what is kept and how it is found, the cache's.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from time import monotonic
from typing import Any

import orjson

from hardpoint.client.backoff import Backoff
from hardpoint.client.client import Client
from hardpoint.client.events import Event, is_object
from hardpoint.client.options import ALL_NAMESPACES
from hardpoint.client.picture import Picture, State
from hardpoint.client.resources import Resource
from hardpoint.client.transport import Closed, TransportError
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.selectors import Selector, parse
from hardpoint.runtime.cache import Cache, version_number
from hardpoint.runtime.changes import Change, ChangeType, Handler, Key
from hardpoint.runtime.indexes import IndexFunction
from hardpoint.runtime.informer_subscription import TURN_SECONDS, Subscription
from hardpoint.runtime.transforms import Transform, identity, without_managed_fields

Json = dict[str, Any]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Followed:
    """What an informer follows. Who follows the same shares one informer."""

    resource: str | Resource
    namespace: str = ALL_NAMESPACES
    label_selector: str = ""
    field_selector: str = ""
    transform: Transform = without_managed_fields
    metadata_only: bool = False

    def __str__(self) -> str:
        resource = self.resource.plural if isinstance(self.resource, Resource) else self.resource
        place = f" in {self.namespace}" if self.namespace else ""
        selected = " ".join(filter(None, (self.label_selector, self.field_selector)))
        return f"{resource}{place}" + (f" where {selected}" if selected else "")


class Informer:
    """A collection as it is, at most a moment behind. For one event loop.

    Reads give copies: what is done to them stays with whoever read. Each change comes to each subscriber once, and the
    changes of an object in the order in which they happened; what happened unnoticed comes as the difference.
    """

    def __init__(self, client: Client, followed: Followed) -> None:
        self.followed = followed
        self.name = str(followed)
        self.changes: Counter[str] = Counter()
        """How many changes of each type the watch has told."""
        self.syncs = 0
        """How often the picture was completed: once at the start, and once after each version that was forgotten."""
        self.failure = ""
        """Why the server gave nothing to read yet; empty once it did."""
        self._client = client
        self._selector: Selector = parse(followed.label_selector)
        self._picture = Picture(tells_bookmarks=True)
        self._cache = Cache()
        self._subscriptions: list[Subscription] = []
        self._is_running = False
        self._synced = asyncio.Event()
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._transform_has_failed = False

    def __len__(self) -> int:
        return len(self._cache)

    @property
    def is_synced(self) -> bool:
        """Whether everything that was there at the start is known."""
        return self._synced.is_set()

    @property
    def resource_version(self) -> str:
        """Everything up to this version is known; empty before the first sync."""
        return self._picture.resource_version

    def read(self, key: Key | tuple[str, str]) -> Json | None:
        """One object, or None if there is none."""
        return self._cache.read(Key(*key))

    def read_all(self, *, namespace: str = ALL_NAMESPACES, selector: str | Selector = "") -> list[Json]:
        """The objects in a namespace, or everywhere, that a label selector selects. Raises BadSelector."""
        return self._cache.read_all(namespace, selector)

    def keys(self, *, namespace: str = ALL_NAMESPACES) -> list[Key]:
        """Which objects there are; much cheaper than reading them."""
        return list(self._cache.keys(namespace))

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Find objects by what `function` says of them. The same function may be added again under its name.

        Raises ValueError if another function has that name. What is there is indexed at once, so do it before running.
        """
        self._cache.add_index(name, function)

    def by_index(self, name: str, value: str) -> list[Json]:
        """The objects found under a value. Raises KeyError for a name that no index has."""
        return self._cache.by_index(name, value)

    def keys_by_index(self, name: str, value: str) -> list[Key]:
        """Which objects are found under a value. Raises KeyError for a name that no index has."""
        return list(self._cache.keys_by_index(name, value))

    def subscribe(self, handler: Handler, *, resync_seconds: float | None = None) -> Callable[[], None]:
        """Tell `handler` of everything there is, as ADDED, and of every change. Returns how to end that.

        With `resync_seconds` everything is told again that often, as MODIFIED from itself to itself.
        """
        subscription = Subscription(self.name, self._cache.watched, handler, resync_seconds)
        self._subscriptions.append(subscription)
        if len(self._cache.watched):
            subscription.catch_up()
        if self._is_running:
            subscription.start()

        def end() -> None:
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)
                subscription.stop()

        return end

    def note_written(self, written: Json) -> None:
        """Let reads see an object as a write returned it, until the watch has come as far.

        What the selection leaves out is ignored, and so is what is no newer than what is known. What a field selector
        selects only the server knows: then only what is there already is noted.
        """
        if self._may_hold(written):
            # A transform may change what it gets, and this is the caller's.
            self._cache.note_written(self._transformed(orjson.loads(orjson.dumps(written))))

    async def wait_until_synced(self) -> None:
        """Return once everything that was there at the start is known."""
        await self._synced.wait()

    async def wait_until_seen(self, resource_version: str) -> None:
        """Return once everything up to a version is known.

        An event of this collection brings that about at once; where nothing happens in it, the next bookmark does,
        within about a minute.
        """
        version = version_number(resource_version)
        if self.is_synced and self._cache.version >= version:
            return
        seen = asyncio.get_running_loop().create_future()
        heappush(self._waiting, (version, id(seen), seen))
        await seen

    async def run(self) -> None:
        """Follow until cancelled. What is known stays, and the next run goes on from there.

        A server that refuses is asked again, later each time. Raises Closed once the client is closed.
        """
        assert not self._is_running, "an informer runs once at a time"
        self._is_running = True
        for subscription in self._subscriptions:
            subscription.start()
        try:
            await self._follow_for_ever()
        finally:
            self._is_running = False
            for subscription in self._subscriptions:
                subscription.stop()

    async def _follow_for_ever(self) -> None:
        pace = self._client.pace
        backoff = Backoff(pace.random)
        while True:
            try:
                await self._follow()
            except Closed:
                raise
            except (ApiError, TransportError) as failure:
                self.failure = str(failure)
                log.warning("resource is not readable", extra={"informer": self.name, "why": self.failure})
                await pace.sleep(backoff.next_seconds())

    async def _follow(self) -> None:
        followed = self.followed
        watch = self._client.list_then_watch(
            followed.resource,
            metadata_only=followed.metadata_only,
            picture=self._picture,
            namespace=followed.namespace,
            label_selector=followed.label_selector,
            field_selector=followed.field_selector,
        )
        async with watch as events:
            until = monotonic() + TURN_SECONDS
            async for event in events:
                self._take_in(event)
                if monotonic() > until:
                    # A long list, or a long catching up, must not keep everybody else waiting.
                    await asyncio.sleep(0)
                    until = monotonic() + TURN_SECONDS

    def _take_in(self, event: Event) -> None:
        if event.type == "SYNCED":
            self.syncs += 1
            self.failure = ""
            self._synced.set()
            self._reach(event.resource_version)
        elif event.type == "BOOKMARK":
            self._reach(event.resource_version)
        else:
            self._tell(self._changed(event))
            if self._picture.state is State.WATCHING:
                self._reach(event.resource_version)

    def _changed(self, event: Event) -> Change:
        """Bring the cache up to an event, and say what that changed."""
        found, key = event.object, Key.of(event.object)
        if event.type == "DELETED":
            before = self._cache.pop(key, found)
            return Change("DELETED", key, None, before if event.is_missed else self._transformed(found))
        found = self._transformed(found)
        try:
            before = self._cache.put(key, found)
        except orjson.JSONEncodeError:
            # A server that allows more than we can keep must not let one object end all controllers.
            log.warning(
                "object cannot be kept, only its identity is", extra={"informer": self.name, "object": str(key)}
            )
            found = identity(found)
            before = self._cache.put(key, found)
        kind: ChangeType = "ADDED" if before is None else "MODIFIED"
        return Change(kind, key, found, before, is_initial=not self.is_synced)

    def _tell(self, change: Change) -> None:
        self.changes[change.type] += 1
        for subscription in tuple(self._subscriptions):
            subscription.tell(change)

    def _reach(self, resource_version: str) -> None:
        version = version_number(resource_version)
        self._cache.reach(version)
        while self._waiting and self._waiting[0][0] <= version:
            seen = heappop(self._waiting)[2]
            if not seen.done():
                seen.set_result(None)

    def _may_hold(self, written: Json) -> bool:
        followed, key = self.followed, Key.of(written)
        if followed.namespace not in (ALL_NAMESPACES, key.namespace):
            return False
        if followed.field_selector and key not in self._cache.watched:
            return False
        return self._selector.matches(written["metadata"].get("labels") or {})

    def _transformed(self, found: Json) -> Json:
        try:
            kept = self.followed.transform(found)
            if not is_object(kept):
                raise TypeError("it returned nothing that has a name")
            return kept
        except Exception:  # It is the author's, and one odd object must not end the informer.
            if not self._transform_has_failed:
                self._transform_has_failed = True
                told = {"informer": self.name, "object": str(Key.of(found))}
                log.exception("transform failed, objects are kept as they are", extra=told)
            return found
