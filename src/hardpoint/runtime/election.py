"""One of several replicas leads: the rules of client-go's leader election, over the same Lease.

    election = LeaderElection(client, "crontabs", "operators", new_identity())
    async with election.leading():
        ...                         # while nobody else does this

No two machines' clocks are compared. A candidate takes a Lease over once it has itself seen it unchanged for as long as
it was granted. A leader counts from the moment it *sent* the last renewal that succeeded, and stops `renew_seconds`
after it, which is before anybody else may begin: so there are never two, however long an answer was under way or a
process stood still, as long as clocks run about equally fast. client-go counts from later; here the whole of
`lease_seconds - renew_seconds` is left for the work under way to end.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Protocol

from hardpoint.client.client import Client
from hardpoint.client.transport import TransportError
from hardpoint.machinery.errors import ApiError, ConfigError, HardpointError
from hardpoint.machinery.timestamps import format_micro_time
from hardpoint.runtime.electionlease import CONFLICT, LeaseLock, Record

log = logging.getLogger(__name__)

JITTER = 1.2
"""Candidates wait up to this many times longer than `retry_seconds` says, so that they do not ask in step."""
RELEASED_LEASE_SECONDS = 1
_NEVER = -math.inf


class LeadershipLost(HardpointError):
    """The Lease could not be renewed in time, or somebody else has it."""


class Clock(Protocol):
    """One machine's time."""

    def time(self) -> float:
        """Seconds since some moment; it never goes back."""
        ...

    def now(self) -> datetime: ...

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine we run on."""

    def time(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Reporter(Protocol):
    """Who is told in an Event that leadership changed: an EventRecorder."""

    def event(self, about: dict[str, Any], type: str, reason: str, message: str) -> None: ...


class LeaderElection:
    """One candidate for one Lease."""

    def __init__(
        self,
        client: Client,
        name: str,
        namespace: str,
        identity: str,
        lease_seconds: int = 15,
        renew_seconds: float = 10.0,
        retry_seconds: float = 2.0,
        *,
        labels: Mapping[str, str] = MappingProxyType({}),
        on_change: Callable[[bool], object] = lambda leads: None,
        recorder: Reporter | None = None,
        clock: Clock | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`on_change` is told whether this candidate leads: when it begins to wait, then at every change.

        `identity` must be this candidate's alone: who comes back under an old one is taken for the old one. Raises
        ConfigError.
        """
        _check(identity, lease_seconds, renew_seconds, retry_seconds)
        self.identity = identity
        self.lease_seconds = lease_seconds
        self.renew_seconds = renew_seconds
        self.retry_seconds = retry_seconds
        self._lock = LeaseLock(client, namespace, name, labels)
        self._on_change = on_change
        self._recorder = recorder
        self._clock = clock or SystemClock()
        self._chance = chance
        self._seen = Record()
        self._seen_at = _NEVER
        self._leads_until = _NEVER

    @property
    def leader(self) -> str:
        """Who held the Lease when it was last looked at; empty for nobody."""
        return self._seen.holder

    @property
    def is_leading(self) -> bool:
        """Whether this very moment is within the time that was granted.

        Ask before a step that must not be repeated: a process that stood still may run on for a little before the news
        that its time is over reaches it.
        """
        return self._clock.time() < self._leads_until

    @asynccontextmanager
    async def leading(self) -> AsyncIterator[None]:
        """Wait to be the leader; run the body; release the Lease when it has ended, however it ended.

        The body is cancelled as soon as leadership is lost, and LeadershipLost comes out in its place. It should end
        within `lease_seconds - renew_seconds` then: from that moment on another may lead.
        """
        await self._acquire()
        try:
            async with asyncio.timeout(None) as office, self._kept(office):
                yield
        except TimeoutError as ended:
            if not office.expired():
                raise
            raise LeadershipLost(f"{self.identity} no longer leads: {self._why_not()}") from ended
        finally:
            self._leads_until = _NEVER
            self._tell(leads=False)
            await self._release()

    def _why_not(self) -> str:
        if self._seen.holder not in ("", self.identity):
            return f"Lease {self._lock} is held by {self._seen.holder}"
        return f"Lease {self._lock} could not be renewed within {self.renew_seconds:g} s"

    async def _acquire(self) -> None:
        log.info("waiting for lease", extra={"lease": str(self._lock), "identity": self.identity})
        self._on_change(False)
        while not await self._attempt():
            await self._clock.sleep(self.retry_seconds * (1 + JITTER * self._chance()))
        self._tell(leads=True)

    @asynccontextmanager
    async def _kept(self, office: asyncio.Timeout) -> AsyncIterator[None]:
        """Renew until left. If that fails, or stops for any other reason, `office` ends."""

        loop = asyncio.get_running_loop()
        overdue: list[asyncio.TimerHandle] = []

        def end(_: object) -> None:
            if not office.expired():
                office.reschedule(loop.time())
                overdue.append(loop.call_later(self.lease_seconds - self.renew_seconds, self._warn))

        tasks = [
            asyncio.create_task(self._renew(), name=f"renew {self._lock}"),
            asyncio.create_task(self._watch_the_time(), name=f"deadline of {self._lock}"),
        ]
        for task in tasks:
            task.add_done_callback(end)
        try:
            yield
        finally:
            for handle in overdue:
                handle.cancel()
            for task in tasks:
                task.remove_done_callback(end)
                task.cancel()
            await asyncio.wait(tasks)

    def _warn(self) -> None:
        log.error("work goes on though another may lead", extra={"lease": str(self._lock), "identity": self.identity})

    async def _renew(self) -> None:
        """Return when somebody else has the Lease."""
        while self._seen.holder == self.identity:
            await self._clock.sleep(self.retry_seconds)
            await self._attempt()

    async def _watch_the_time(self) -> None:
        """Return when the time that was granted is over."""
        while (left := self._leads_until - self._clock.time()) > 0:
            await self._clock.sleep(left)

    async def _attempt(self) -> bool:
        """Acquire or renew once, and tell whether that succeeded in time."""
        try:
            # A request that hangs must leave time for another.
            async with asyncio.timeout(self.renew_seconds / 2):
                return await self._acquire_or_renew()
        except (ApiError, TransportError) as failure:
            log.warning("lease not written", extra={"lease": str(self._lock), "why": str(failure)})
        except TimeoutError:
            log.warning("lease not written", extra={"lease": str(self._lock), "why": "no answer in time"})
        return False

    async def _acquire_or_renew(self) -> bool:
        if self._seen.holder == self.identity and self._is_valid() and self._lock.lease is not None:
            # Most often nobody has touched it, and looking first would be a request for nothing.
            try:
                return await self._write(self._record(self._seen))
            except (ApiError, TransportError) as failure:
                log.debug("lease not renewed at once", extra={"lease": str(self._lock), "why": str(failure)})
        found = await self._lock.read()
        if found is None:
            return await self._write(self._record(None))
        if found != self._seen:
            self._see(found)
        if found.holder not in ("", self.identity) and self._is_valid():
            return False
        return await self._write(self._record(found))

    def _record(self, found: Record | None) -> Record:
        """What the Lease shall say, after it said what was found."""
        now = format_micro_time(self._clock.now())
        if found is None:
            return Record(self.identity, self.lease_seconds, now, now, transitions=0)
        if found.holder == self.identity:
            return Record(self.identity, self.lease_seconds, found.acquired or now, now, found.transitions)
        return Record(self.identity, self.lease_seconds, now, now, found.transitions + 1)

    async def _write(self, record: Record) -> bool:
        """Write it, and count from before it was sent. What arrives after the last grant was over is no renewal."""
        granted_until = self._clock.time() + self.renew_seconds
        if self._lock.lease is None:
            await self._lock.create(record)
        else:
            await self._lock.replace(record)
        self._see(record)
        last_moment = granted_until if self._leads_until == _NEVER else min(granted_until, self._leads_until)
        if self._clock.time() >= last_moment:
            return False
        self._leads_until = granted_until
        return True

    def _see(self, record: Record) -> None:
        if record.holder != self._seen.holder:
            log.info("lease has a new holder", extra={"lease": str(self._lock), "holder": record.holder})
        self._seen, self._seen_at = record, self._clock.time()

    def _is_valid(self) -> bool:
        """Whether the Lease, as long as we have seen it unchanged, is still somebody's."""
        return self._clock.time() < self._seen_at + self._seen.lease_seconds

    async def _release(self) -> None:
        """Give the Lease back if it is ours, so that the next one need not wait for it to expire."""
        try:
            async with asyncio.timeout(self.renew_seconds):
                while not await self._is_given_back():
                    pass
        except (ApiError, TransportError, TimeoutError) as failure:
            log.warning("lease not released", extra={"lease": str(self._lock), "why": str(failure) or "no answer"})

    async def _is_given_back(self) -> bool:
        found = await self._lock.read()
        if found is None or found.holder != self.identity:
            return True
        now = format_micro_time(self._clock.now())
        given_back = Record("", RELEASED_LEASE_SECONDS, now, now, found.transitions)
        try:
            await self._lock.replace(given_back)
        except ApiError as refused:
            if refused.code != CONFLICT:
                raise
            return False
        self._see(given_back)
        return True

    def _tell(self, *, leads: bool) -> None:
        told = {"lease": str(self._lock), "identity": self.identity}
        log.info("lease acquired" if leads else "lease given up", extra=told)
        self._on_change(leads)
        if self._recorder is not None:
            said = f"{self.identity} {'became leader' if leads else 'stopped leading'}"
            self._recorder.event(self._lock.about(), "Normal", "LeaderElection", said)


def _check(identity: str, lease_seconds: int, renew_seconds: float, retry_seconds: float) -> None:
    if not identity:
        raise ConfigError("a candidate for a Lease needs an identity of its own")
    if lease_seconds <= renew_seconds:
        raise ConfigError(f"lease_seconds ({lease_seconds:g}) must be greater than renew_seconds ({renew_seconds:g})")
    if renew_seconds <= JITTER * retry_seconds or retry_seconds <= 0:
        raise ConfigError(
            f"renew_seconds ({renew_seconds:g}) must be greater than {JITTER:g} times retry_seconds "
            f"({retry_seconds:g}), and that greater than 0"
        )


_conforms: type[Clock] = SystemClock
