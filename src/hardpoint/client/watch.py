"""Following a collection for as long as it takes: across cuts, restarts and forgotten versions.

What is known and which question comes next is `picture.py`'s; this asks them, with client-go's waits and deadlines.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from typing import Any, Protocol

from hardpoint.client.backoff import Backoff
from hardpoint.client.events import Event
from hardpoint.client.picture import HOPELESS, Picture, Reaction, Silence, State, is_forgotten
from hardpoint.client.transport import Closed, Interrupted, TransportError
from hardpoint.machinery.errors import ApiError

Json = dict[str, Any]

log = logging.getLogger(__name__)

# Five to ten minutes, so that watches that begin together do not end together.
SERVER_SECONDS_MIN = 300


class Collection(Protocol):
    """What is followed: one resource, in one namespace or all, under one selector."""

    @property
    def where(self) -> str:
        """What to call it in logs and errors."""
        ...

    def pages(self) -> AsyncGenerator[Json, None]:
        """All of it, as Lists of the same moment. Raises ApiError 410 if the server forgets that moment."""
        ...

    async def read_whole(self) -> Json:
        """All of it, as one List."""
        ...

    def watch(self, query: Mapping[str, str]) -> AbstractAsyncContextManager[AsyncIterator[list[Event]]]:
        """One watch, until the server ends it. Raises ApiError for refusals and for ERROR events."""
        ...


@dataclass(frozen=True, slots=True)
class Pace:
    """Time and chance, handed in so that a test can turn them."""

    idle_seconds_max: float = 150.0
    """Bookmarks come about every minute: a watch that says nothing for longer than this is taken for dead."""
    streaming_pause_seconds_max: float = 10.0
    """A server that does streaming lists never pauses for longer before it is done with one."""
    watch_seconds_min: float = 1.0
    """A watch that ends sooner, and said nothing, counts as a failure."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random
    now: Callable[[], float] = time.monotonic


async def follow(collection: Collection, pace: Pace, picture: Picture | None = None) -> AsyncGenerator[Event, None]:
    """Everything there is, then every change, for ever. SYNCED says when the picture is complete.

    What was missed in between comes as the difference. Raises ApiError only for answers that asking again will not
    change, and only before the first SYNCED; later ones are waited out. Raises Closed once the transport is closed.
    Given a `picture` that was begun before, it goes on from there.
    """
    picture, backoff = picture or Picture(), Backoff(pace.random)
    while True:
        try:
            if picture.state is State.LISTING:
                async with aclosing(_listed(collection, picture)) as changes:
                    async for change in changes:
                        yield change
            async with aclosing(_watched(collection, picture, pace, backoff)) as changes:
                async for change in changes:
                    yield change
        except (ApiError, TransportError) as failure:
            reaction = picture.react_to(failure, backoff.failures)
            if reaction is Reaction.RAISE:
                raise
            wait_seconds = backoff.next_seconds()
            if reaction is Reaction.ASK_LATER:
                await _wait(collection, failure, wait_seconds, pace)


async def _listed(collection: Collection, picture: Picture) -> AsyncGenerator[Event, None]:
    """The changes that lead to a list. When its pages expire under way it is asked for as a whole."""
    picture.begin_list()
    is_under_way = False
    async with aclosing(collection.pages()) as pages:
        try:
            async for page in pages:
                is_under_way = True
                for change in picture.take_in_page(page):
                    yield change
            return
        except ApiError as refused:
            if refused.code != 410 or not is_under_way:
                raise
    picture.begin_list()
    for change in picture.take_in_page(await collection.read_whole()):
        yield change


async def _watched(
    collection: Collection, picture: Picture, pace: Pace, backoff: Backoff
) -> AsyncGenerator[Event, None]:
    """The changes that one watch tells of, until it ends or turns out to be no use."""

    def patience() -> float:
        return pace.streaming_pause_seconds_max if picture.state is State.STREAMING else pace.idle_seconds_max

    async with aclosing(_one_watch(collection, picture.query(), pace, patience)) as batches:
        async for batch in batches:
            if picture.state is State.WATCHING:
                backoff.reset()
            for event in batch:
                for change in picture.take_in(event):
                    yield change
            if picture.state is State.LISTING:
                return


async def watch_from(collection: Collection, resource_version: str, pace: Pace) -> AsyncGenerator[Event, None]:
    """Every change after `resource_version`, for ever. Raises ApiError 410 once the server has forgotten some."""
    backoff = Backoff(pace.random)
    while True:
        try:
            query = {"resourceVersion": resource_version}
            async with aclosing(_one_watch(collection, query, pace, lambda: pace.idle_seconds_max)) as batches:
                async for batch in batches:
                    backoff.reset()
                    for event in batch:
                        resource_version = event.resource_version
                        if event.type != "BOOKMARK":
                            yield event
        except Silence:
            continue
        except Closed:
            raise
        except (ApiError, TransportError) as failure:
            if isinstance(failure, ApiError) and (failure.code in HOPELESS or is_forgotten(failure)):
                raise
            await _wait(collection, failure, backoff.next_seconds(), pace)


async def _one_watch(
    collection: Collection, query: Mapping[str, str], pace: Pace, patience: Callable[[], float]
) -> AsyncGenerator[list[Event], None]:
    """The events of one watch, until the server ends it. Raises Silence, and Interrupted if it ended too soon."""
    seconds = SERVER_SECONDS_MIN + int(SERVER_SECONDS_MIN * pace.random())
    asked = {**query, "allowWatchBookmarks": "true", "timeoutSeconds": str(seconds)}
    started = pace.now()
    said_something = False
    async with collection.watch(asked) as batches:
        while True:
            try:
                async with asyncio.timeout(patience()):
                    batch = await anext(batches, None)
            except TimeoutError as cause:
                raise Silence(collection.where, f"the watch said nothing for {patience():g} s") from cause
            if batch is None:
                break
            said_something = True
            yield batch
    if not said_something and pace.now() - started < pace.watch_seconds_min:
        raise Interrupted(collection.where, "the watch ended at once and said nothing")


async def _wait(collection: Collection, failure: Exception, seconds: float, pace: Pace) -> None:
    told = {"what": collection.where, "why": str(failure), "wait_seconds": round(seconds, 3)}
    log.info("watch interrupted", extra=told)
    await pace.sleep(seconds)
