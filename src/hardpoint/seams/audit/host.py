"""The cluster's side of the audit seam: events to a webhook, in batches, never in a request's way.

Batches leave when they are full or old enough, so many a second; several may be under way. One that is not taken is
sent again, each time after a longer wait, and given up after a few attempts. What does not fit into the buffer
meanwhile is lost and counted.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from hardpoint.machinery.errors import GuestError
from hardpoint.runtime.batching import Batches, Pace
from hardpoint.seams.audit.contract import API_VERSION, BATCH_BYTES_MAX, BATCH_EVENTS_MAX, EVENT_HEAD, EVENT_LIST

log = logging.getLogger(__name__)

Json = dict[str, Any]

PATIENCE_SECONDS = 30.0
UNDER_WAY_MAX = 15
BUFFER_BYTES_MAX = 64 * 1024 * 1024
"""So large are the events that wait, together; kube-apiserver counts them only."""
_BACKOFF_FACTOR = 1.5
_BACKOFF_JITTER = 0.2
_LIST_HEAD = b'{"kind":"%b","apiVersion":"%b","metadata":{},"items":[' % (EVENT_LIST.encode(), API_VERSION.encode())


class Teller(Protocol):
    """A webhook that takes what it is told: `hardpoint.client.webhook.Webhook`."""

    async def tell(self, obj: bytes, *, patience_seconds: float) -> None:
        """Return when it was taken. Raises GuestError."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Sending:
    """How events are sent. The numbers are kube-apiserver's."""

    buffer_max: int = 10_000
    batch_max: int = BATCH_EVENTS_MAX
    batch_bytes_max: int = BATCH_BYTES_MAX
    wait_seconds: float = 30.0
    per_second: float = 10.0
    burst: int = 15
    first_backoff_seconds: float = 10.0
    attempts: int = 5


class WebhookSink:
    """Sends encoded events to a webhook."""

    def __init__(self, webhook: Teller, sending: Sending = Sending()) -> None:  # noqa: B008 It is frozen.
        self._webhook = webhook
        self._sending = sending
        self._lost = 0
        self._is_stopping = asyncio.Event()
        self._batches: Batches[bytes] = Batches(
            self._send,
            buffer_max=sending.buffer_max,
            batch_max=sending.batch_max,
            wait_seconds=sending.wait_seconds,
            pace=Pace(sending.per_second, sending.burst),
            parallel=UNDER_WAY_MAX,
            weigh=len,
            weight_max=BUFFER_BYTES_MAX,
        )

    def put(self, line: bytes) -> None:
        """Take an event that is JSON already; it is lost if there is no room."""
        if not self._batches.put(line):
            self._lost += 1

    def send_now(self, line: bytes) -> Awaitable[bool]:
        """Send one event by itself, once, and tell whether it was taken: somebody waits for it."""
        return self._try_to_send([line], attempts=1)

    def lost(self) -> int:
        """How many events were given up."""
        return self._lost

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send until left; what is left then gets one attempt."""
        try:
            async with self._batches.running():
                try:
                    yield
                finally:
                    self._is_stopping.set()
        finally:
            await self._webhook.close()

    async def _send(self, lines: Sequence[bytes]) -> None:
        for batch in _split(lines, self._sending.batch_bytes_max):
            await self._try_to_send(batch, attempts=self._sending.attempts)

    async def _try_to_send(self, lines: Sequence[bytes], *, attempts: int) -> bool:
        body = event_list(lines)
        delay = self._sending.first_backoff_seconds
        for attempt in range(1, attempts + 1):
            try:
                await self._webhook.tell(body, patience_seconds=PATIENCE_SECONDS)
            except GuestError as failure:
                is_last = attempt == attempts or self._is_stopping.is_set()
                log.warning(
                    "audit webhook did not take events",
                    extra={"reason": str(failure), "events": len(lines), "attempt": attempt, "is_last": is_last},
                )
                if is_last:
                    break
                await self._wait(delay * (1 + _BACKOFF_JITTER * random.random()))  # noqa: S311 It spreads retries.
                delay *= _BACKOFF_FACTOR
            else:
                return True
        self._lost += len(lines)
        return False

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._is_stopping.wait()
        except TimeoutError:
            pass


def event_list(lines: Sequence[bytes]) -> bytes:
    """Encoded events as an EventList, where they no longer say themselves what they are."""
    items = [b"{" + line[len(EVENT_HEAD) :] if line.startswith(EVENT_HEAD) else line for line in lines]
    return _LIST_HEAD + b",".join(items) + b"]}"


def _split(lines: Sequence[bytes], bytes_max: int) -> Iterator[Sequence[bytes]]:
    """The lines in batches of a size; a line that is larger by itself goes alone."""
    begin = size = 0
    for number, line in enumerate(lines):
        if size and size + len(line) > bytes_max:
            yield lines[begin:number]
            begin, size = number, 0
        size += len(line)
    yield lines[begin:]
