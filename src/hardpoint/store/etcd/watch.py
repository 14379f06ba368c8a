"""A watch that outlives its connection: it resumes behind the last event it delivered, wherever a member answers.

etcd is asked for events from the last delivered revision on, not from the one behind it, and what was delivered is
dropped. That way etcd itself finds out whether anything in between was compacted, which includes the values that the
first new events supersede.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any

import grpc
import grpc.aio

from hardpoint.store.contract import Compacted, Event, Unreachable
from hardpoint.store.etcd.calls import ALL_KEYS
from hardpoint.store.etcd.endpoints import Endpoint, Endpoints
from hardpoint.store.etcd.wire import kv_pb2, rpc_pb2
from hardpoint.store.prefixes import end_of

log = logging.getLogger(__name__)

_PAUSE_SECONDS_MIN, _PAUSE_SECONDS_MAX = 0.05, 1.0


class Watch:
    """`Store.watch` over etcd."""

    def __init__(self, endpoints: Endpoints, prefix: str, after: int) -> None:
        self._endpoints = endpoints
        self._prefix = prefix
        self._position = after
        self._member: Endpoint | None = None
        self._stream: Any = None
        self._pause = _PAUSE_SECONDS_MIN

    async def __aenter__(self) -> AsyncIterator[Sequence[Event]]:
        try:
            await self._connect()
        except (grpc.aio.AioRpcError, EOFError) as cause:
            await self._lose(cause)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._disconnect()

    def __aiter__(self) -> AsyncIterator[Sequence[Event]]:
        return self

    async def __anext__(self) -> Sequence[Event]:
        while True:
            try:
                if self._stream is None:
                    await self._connect()
                if events := await self._read():
                    self._position = events[-1].revision
                    return events
            except (grpc.aio.AioRpcError, EOFError, Unreachable) as cause:
                await self._lose(cause)
            except Compacted:
                self._disconnect()
                raise
            except asyncio.CancelledError:
                # Cancelling a read ends its stream, but not the watch: whoever asks again gets what comes next.
                self._disconnect()
                self._endpoints.check_cancelled()
                raise

    async def _connect(self) -> None:
        self._member = await self._endpoints.ready()
        self._stream = self._member.watch()
        wanted = rpc_pb2.WatchCreateRequest(
            key=self._prefix.encode() or ALL_KEYS,
            range_end=(end_of(self._prefix) or ALL_KEYS.decode()).encode(),
            start_revision=self._position,
            prev_kv=True,
            fragment=True,
        )
        try:
            await self._stream.write(rpc_pb2.WatchRequest(create_request=wanted))
        except asyncio.InvalidStateError as cause:
            raise EOFError("the stream ended before it began") from cause
        await self._answer()

    def _disconnect(self) -> None:
        if self._stream is not None:
            self._stream.cancel()
            self._stream = None

    async def _lose(self, cause: BaseException) -> None:
        log.debug("watch lost its member", extra={"prefix": self._prefix, "cause": str(cause)})
        self._disconnect()
        if self._member is not None and not isinstance(cause, Unreachable):
            self._endpoints.suspect(self._member, cause)
        await asyncio.sleep(self._pause)
        self._pause = min(self._pause * 2, _PAUSE_SECONDS_MAX)

    async def _read(self) -> list[Event]:
        """The events of one answer, none if it is about something else."""
        happened: list[kv_pb2.Event] = []
        while True:
            answer = await self._answer()
            happened += answer.events
            # A large answer comes in fragments; between them, part of a revision would count as all of it.
            if not answer.fragment:
                return [self._event(event) for event in happened if event.kv.mod_revision > self._position]

    async def _answer(self) -> rpc_pb2.WatchResponse:
        answer = await self._stream.read()
        if answer is grpc.aio.EOF:
            raise EOFError("the stream ended")
        assert isinstance(answer, rpc_pb2.WatchResponse)
        if answer.compact_revision:
            raise Compacted(self._position, answer.compact_revision)
        if answer.canceled:
            raise EOFError(answer.cancel_reason)
        self._pause = _PAUSE_SECONDS_MIN
        return answer

    def _event(self, event: kv_pb2.Event) -> Event:
        kv = event.kv
        is_create = kv.create_revision == kv.mod_revision and event.type == kv_pb2.Event.PUT
        if not is_create and not event.HasField("prev_kv"):
            # It was compacted while the event was on its way.
            raise Compacted(self._position, kv.mod_revision)
        value = None if event.type == kv_pb2.Event.DELETE else kv.value
        return Event(kv.key.decode(), value, kv.mod_revision, None if is_create else event.prev_kv.value)
