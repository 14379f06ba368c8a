"""The audit webhook as a backend: the seam's host, told events."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

from hardpoint.apiserver.audit.auditor import Backend
from hardpoint.apiserver.audit.encoding import truncated
from hardpoint.apiserver.audit.log import Mode
from hardpoint.seams.audit.host import Sending, Teller, WebhookSink


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """What can be said about the webhook."""

    config_file: Path
    mode: Mode = "batch"
    sending: Sending = field(default_factory=Sending)
    event_bytes_max: int | None = None


def make_backend(options: WebhookOptions, webhook: Teller) -> WebhookBackend:
    sink = WebhookSink(webhook, options.sending)
    return WebhookBackend(sink, mode=options.mode, event_bytes_max=options.event_bytes_max)


class WebhookBackend:
    """Tells a webhook. In the blocking modes a request waits until its event was taken, or given up."""

    name = "webhook"

    def __init__(self, sink: WebhookSink, *, mode: Mode, event_bytes_max: int | None = None) -> None:
        """An event larger than `event_bytes_max` loses its objects; one that is still too large is lost."""
        self._sink = sink
        self._mode = mode
        self._event_bytes_max = event_bytes_max
        self._too_large = 0

    def tell(self, line: bytes) -> Awaitable[bool] | bool:
        if self._event_bytes_max is not None and len(line) > self._event_bytes_max:
            line = truncated(line)
            if len(line) > self._event_bytes_max:
                self._too_large += 1
                return True
        if self._mode == "batch":
            self._sink.put(line)
            return True
        return self._wait(line)

    def lost(self) -> int:
        return self._sink.lost() + self._too_large

    async def check(self) -> None:
        """A webhook that is away is no reason to call the server unwell: events wait for it."""

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._sink.running()

    async def _wait(self, line: bytes) -> bool:
        is_taken = await self._sink.send_now(line)
        return is_taken or self._mode == "blocking"


_conforms: type[Backend] = WebhookBackend
