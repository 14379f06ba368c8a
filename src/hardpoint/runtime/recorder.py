"""Events, told beside the work: what happened to an object, for people who run `kubectl describe`.

    recorder = EventRecorder(client, "crontabs")
    async with recorder.running():
        recorder.event(tab, "Normal", "Started", "job crontab-28 started")

Telling never waits and never fails: what cannot be told is logged and dropped. `eventseries.py` decides what becomes an
Event; here they are written, several at once, and again if the server is away.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from hardpoint.client.client import Client
from hardpoint.client.resources import Resource
from hardpoint.client.transport import TransportError
from hardpoint.machinery.errors import ApiError
from hardpoint.runtime.eventseries import FINISH, REFRESH, Correlator, Series

Json = dict[str, Any]

log = logging.getLogger(__name__)

EVENTS = Resource("events.k8s.io/v1", "events", "Event")
TYPES = frozenset(("Normal", "Warning"))
QUEUED_MAX = 1000
SENDERS = 4
TRIES_MAX = 12
RETRY_SECONDS = 10.0
JITTER = 0.25
FLUSH_SECONDS = 5.0
NOT_FOUND, CONFLICT, TOO_MANY = 404, 409, 429


class EventRecorder:
    """Tells what happened, in the name of one reporter. `event` may be called from any thread."""

    def __init__(
        self,
        client: Client,
        reporter: str,
        instance: str = "",
        *,
        flush_seconds: float = FLUSH_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`reporter` is the controller's name; `instance` this replica's, by default with the machine's in it."""
        self._client = client
        self._correlator = Correlator(reporter, instance or f"{reporter}-{socket.gethostname()}")
        self._flush_seconds = flush_seconds
        self._retry_seconds = retry_seconds
        self._now = now
        self._queue: asyncio.Queue[Series] = asyncio.Queue(QUEUED_MAX)
        self._under_way: set[Series] = set()
        """Those in the queue or in a sender's hands."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.get_ident()
        self._is_ending = asyncio.Event()

    def event(
        self,
        about: Json,
        type: str,
        reason: str,
        message: str,
        *,
        action: str = "",
        related: Json | None = None,
    ) -> None:
        """Tell that something happened to an object. It returns at once, and raises nothing.

        `type` is Normal or Warning; `reason` is a word in CamelCase for machines, `message` a sentence for people;
        `action` says what was done about it, the reason if nothing else. `related` is another object it is about.
        """
        asked = (about, type, reason, message, action, related)
        if self._loop is None or threading.get_ident() == self._thread:
            self._note(*asked)
            return
        try:
            self._loop.call_soon_threadsafe(self._note, *asked)
        except RuntimeError:
            log.debug("event dropped, the loop has ended", extra={"reason": reason})

    @asynccontextmanager
    async def running(self) -> AsyncIterator[EventRecorder]:
        """Write Events until left, then what is left of them, for as long as `flush_seconds` allows."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        tasks = [asyncio.create_task(self._send(), name=f"events {number}") for number in range(SENDERS)]
        tasks.append(asyncio.create_task(self._keep_up(), name="event series"))
        try:
            yield self
        finally:
            await self._flush()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _note(self, about: Json, type: str, reason: str, message: str, action: str, related: Json | None) -> None:
        if type not in TYPES or not reason:
            log.warning("event dropped: it needs a reason, and Normal or Warning", extra={"type": type})
            return
        try:
            series = self._correlator.note(about, related, type, reason, action, message, self._now())
        except (KeyError, TypeError, AttributeError):
            # Whatever the caller was about is more important than a word about it.
            log.warning("event dropped: it is about no object", extra={"reason": reason}, exc_info=True)
            return
        if series is not None:
            self._want(series)

    def _want(self, series: Series) -> None:
        """Have a sender look at it, if none is about to."""
        if series in self._under_way:
            return
        try:
            self._queue.put_nowait(series)
        except asyncio.QueueFull:
            log.debug("event dropped, too many are waiting", extra={"reason": series.body["reason"]})
            return
        self._under_way.add(series)

    async def _send(self) -> None:
        while True:
            series = await self._queue.get()
            try:
                await self._deliver(series)
            finally:
                self._under_way.discard(series)
                self._queue.task_done()

    async def _deliver(self, series: Series) -> None:
        """Write a series up to where it is wanted, which may change meanwhile."""
        failures = 0
        while series.is_due():
            try:
                await self._write(series)
                failures = 0
                continue
            except ApiError as refused:
                failures += 1
                if failures == TRIES_MAX or not (refused.code == TOO_MANY or refused.code >= 500):
                    _drop(series, refused)
                    return
            except TransportError as failure:
                failures += 1
                if failures == TRIES_MAX:
                    _drop(series, failure)
                    return
            await self._wait()

    async def _wait(self) -> None:
        """Stay away from a server in need, but hurry at the end."""
        try:
            async with asyncio.timeout(self._retry_seconds * (1 + JITTER * random.random())):  # noqa: S311 # jitter
                await self._is_ending.wait()
        except TimeoutError:
            return
        await asyncio.sleep(self._flush_seconds / TRIES_MAX)

    async def _write(self, series: Series) -> None:
        count = series.count
        if series.written and await self._is_patched(series):
            series.written = count
            return
        body = series.body if count == 1 else series.body | {"series": series.series()}
        try:
            await self._client.create(body, resource=EVENTS, namespace=body["metadata"]["namespace"])
        except ApiError as refused:
            if refused.code != CONFLICT:
                raise
            # An attempt whose answer was lost has made it; what has happened since is patched into it.
            series.written = 1
            return
        series.written = count

    async def _is_patched(self, series: Series) -> bool:
        """Whether the Event was still there: they expire."""
        metadata = series.body["metadata"]
        try:
            patch = {"series": series.series()}
            await self._client.patch(EVENTS, metadata["name"], patch, namespace=metadata["namespace"])
        except ApiError as refused:
            if refused.code != NOT_FOUND:
                raise
            return False
        return True

    async def _keep_up(self) -> None:
        rounds = REFRESH // FINISH
        while True:
            for number in range(rounds):
                await asyncio.sleep(FINISH.total_seconds())
                self._want_all(self._correlator.finished(self._now()))
                if number == rounds - 1:
                    self._want_all(self._correlator.refreshed())

    def _want_all(self, many: Iterable[Series]) -> None:
        for series in many:
            self._want(series)

    async def _flush(self) -> None:
        self._want_all(self._correlator.refreshed())
        self._is_ending.set()
        try:
            async with asyncio.timeout(self._flush_seconds):
                await self._queue.join()
        except TimeoutError:
            log.warning("events dropped at the end", extra={"events": len(self._under_way)})


def _drop(series: Series, why: Exception) -> None:
    body = series.body
    told = {"event": body["metadata"]["name"], "reason": body["reason"], "why": str(why)}
    log.warning("event not written", extra=told)
    series.written = series.wanted
