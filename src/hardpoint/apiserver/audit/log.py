"""The audit log: events as lines in a file, or on standard output.

In mode `batch` lines are gathered and written by a thread, so that a slow disk holds up nobody. In the blocking modes a
line is written before the request goes on, on the event loop's own thread: that is one system call, and for a file
much cheaper than asking another thread. When lines cannot be written (the disk is full) requests go on, the lines are
counted as lost, and `/readyz/audit-log` says why until writing works again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Literal, Protocol

from hardpoint.apiserver.audit.auditor import Backend
from hardpoint.apiserver.audit.encoding import legacy, truncated
from hardpoint.runtime.batching import Batches

log = logging.getLogger(__name__)

Format = Literal["json", "legacy"]
Mode = Literal["batch", "blocking", "blocking-strict"]

GATHER_SECONDS = 0.25
"""How long a line may wait for others before it is written."""
LINES_PER_WRITE = 1000
BUFFER_BYTES_MAX = 64 * 1024 * 1024
"""So large are the lines that wait to be written, together."""


class Output(Protocol):
    """Takes lines, each whole or not at all. Raises OSError."""

    def write(self, lines: Sequence[bytes]) -> None: ...

    def close(self) -> None: ...


class StandardOutput:
    """Writes to where this process prints."""

    def write(self, lines: Sequence[bytes]) -> None:
        waiting = memoryview(b"".join(lines))
        while waiting:
            waiting = waiting[os.write(sys.stdout.fileno(), waiting) :]

    def close(self) -> None:
        """It is not ours to close."""


class LogBackend:
    """Writes events to an output."""

    name = "log"

    def __init__(
        self, output: Output, *, form: Format, mode: Mode, buffer_max: int, event_bytes_max: int | None = None
    ) -> None:
        """An event larger than `event_bytes_max` loses its objects; one that is still too large is lost."""
        self._output = output
        self._is_legacy = form == "legacy"
        self._mode = mode
        self._event_bytes_max = event_bytes_max
        self._lost = 0
        self._failure: OSError | None = None
        self._batches = Batches(
            self._write,
            buffer_max=buffer_max,
            batch_max=LINES_PER_WRITE,
            wait_seconds=GATHER_SECONDS,
            weigh=len,
            weight_max=BUFFER_BYTES_MAX,
        )

    def tell(self, line: bytes) -> bool:
        if self._event_bytes_max is not None and len(line) > self._event_bytes_max:
            line = truncated(line)
            if len(line) > self._event_bytes_max:
                self._lost += 1
                return True
        if self._is_legacy:
            line = legacy(line)
        line += b"\n"
        if self._mode == "batch":
            if not self._batches.put(line):
                self._lost += 1
            return True
        is_written = self._account([line], self._attempt([line]))
        return is_written or self._mode == "blocking"

    def lost(self) -> int:
        return self._lost

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        try:
            async with self._batches.running():
                yield
        finally:
            self._output.close()

    async def check(self) -> None:
        """Return if what was told last could be written, else raise why not."""
        if self._failure is not None:
            raise RuntimeError(f"the audit log cannot be written: {self._failure.strerror}; {self._lost} events lost")

    async def _write(self, lines: Sequence[bytes]) -> None:
        self._account(lines, await asyncio.to_thread(self._attempt, lines))

    def _attempt(self, lines: Sequence[bytes]) -> OSError | None:
        """Write, and return why that was not possible."""
        try:
            self._output.write(lines)
        except OSError as failure:
            return failure
        return None

    def _account(self, lines: Sequence[bytes], failure: OSError | None) -> bool:
        """Remember how an attempt ended, and tell when that has changed."""
        if failure is not None:
            self._lost += len(lines)
            if self._failure is None:
                log.error("audit log cannot be written", extra={"reason": failure.strerror, "events": len(lines)})
        elif self._failure is not None:
            log.info("audit log can be written again", extra={"lost": self._lost})
        self._failure = failure
        return failure is None


_conforms: type[Backend] = LogBackend
