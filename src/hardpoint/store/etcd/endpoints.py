"""The members of an etcd cluster: which one to ask, and what it means when it does not answer.

A read goes to the next member when one fails it. A write is sent once, to a member we are connected to: if its answer
is lost, the write may have happened, and that is what the caller is told.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import grpc
import grpc.aio

from hardpoint.store.contract import Closed, UnknownOutcome, Unreachable
from hardpoint.store.etcd.calls import WATCH, Answer, Call, Request

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
READ_SECONDS = 5.0
WRITE_SECONDS = 10.0

_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 2000),
    # A peer that vanished without a word is noticed in 15 seconds. etcd forbids asking more often than every 5.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    # Endpoints are named one by one; a proxy from the environment has no business between them and us.
    ("grpc.enable_http_proxy", 0),
]

# etcd answered, and the answer was no. After any other status nobody knows whether a write happened.
_REFUSALS = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNIMPLEMENTED,
}


class Endpoint:
    """One member."""

    def __init__(self, address: str, credentials: Any | None) -> None:
        self.address = address
        self._methods: dict[str, Any] = {}
        if credentials is None:
            self._channel = grpc.aio.insecure_channel(address, options=_OPTIONS)
        else:
            self._channel = grpc.aio.secure_channel(address, credentials, options=_OPTIONS)

    def is_ready(self) -> bool:
        return bool(self._channel.get_state(try_to_connect=True) is grpc.ChannelConnectivity.READY)

    async def wait_until_ready(self) -> Endpoint:
        await self._channel.channel_ready()
        return self

    async def call(self, call: Call[Request, Answer], request: Request, seconds: float) -> Answer:
        """Ask once. Raises AioRpcError."""
        method = self._methods.get(call.path)
        if method is None:
            method = self._methods[call.path] = self._channel.unary_unary(call.path, **_codecs(call))
        answer: Answer = await method(request, timeout=seconds)
        return answer

    def watch(self) -> Any:
        """A new stream for a watch. A member that lost its leader ends it, so that we go elsewhere."""
        return self._channel.stream_stream(WATCH.path, **_codecs(WATCH))(metadata=(("hasleader", "true"),))

    async def close(self) -> None:
        await self._channel.close()


class Endpoints:
    """All members, the one in use first."""

    def __init__(self, addresses: Sequence[str], credentials: Any | None) -> None:
        self._members = [Endpoint(address, credentials) for address in addresses]
        self.is_closed = False

    async def read(self, call: Call[Request, Answer], request: Request) -> Answer:
        """Ask one member after the other until one answers. Raises Unreachable, or AioRpcError for a refusal."""
        failure: BaseException | None = None
        for _ in range(len(self._members) + 1):
            member = await self.ready()
            try:
                return await self._ask(member, call, request, READ_SECONDS)
            except grpc.aio.AioRpcError as cause:
                if is_refusal(cause):
                    raise
                self.suspect(member, cause)
                failure = cause
        raise Unreachable(f"no answer from etcd at {self._addresses()}") from failure

    async def write(self, call: Call[Request, Answer], request: Request) -> Answer:
        """Ask one member once. Raises Unreachable, UnknownOutcome, or AioRpcError for a refusal."""
        member = await self.ready()
        try:
            return await self._ask(member, call, request, WRITE_SECONDS)
        except grpc.aio.AioRpcError as cause:
            if is_refusal(cause):
                raise
            self.suspect(member, cause)
            raise UnknownOutcome(
                f"etcd at {member.address} took a write and gave no answer ({cause.details()}); it may have happened"
            ) from cause

    async def ready(self) -> Endpoint:
        """A member we are connected to. Raises Unreachable."""
        if self.is_closed:
            raise Closed
        for member in self._members:
            if member.is_ready():
                return member
        return await self._first_to_connect()

    def suspect(self, member: Endpoint, cause: BaseException) -> None:
        """It failed: ask the others first from now on."""
        log.debug("etcd member failed", extra={"address": member.address, "cause": str(cause)})
        self._members.remove(member)
        self._members.append(member)

    async def close(self) -> None:
        self.is_closed = True
        await asyncio.gather(*(member.close() for member in self._members))

    async def _ask(self, member: Endpoint, call: Call[Request, Answer], request: Request, seconds: float) -> Answer:
        try:
            return await member.call(call, request, seconds)
        except asyncio.CancelledError:
            self.check_cancelled()
            raise

    def check_cancelled(self) -> None:
        """Raise Closed if it was not the task that was cancelled but its call, by `close`."""
        task = asyncio.current_task()
        if self.is_closed and task and not task.cancelling():
            raise Closed from None

    async def _first_to_connect(self) -> Endpoint:
        attempts = [asyncio.create_task(member.wait_until_ready()) for member in self._members]
        try:
            done, _ = await asyncio.wait(attempts, timeout=CONNECT_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for attempt in attempts:
                attempt.cancel()
            await asyncio.gather(*attempts, return_exceptions=True)
        if self.is_closed:
            raise Closed
        for attempt in done:
            return attempt.result()
        raise Unreachable(f"no etcd answers at {self._addresses()}; is it running, and are the certificates right?")

    def _addresses(self) -> str:
        return ", ".join(sorted(member.address for member in self._members))


def is_refusal(error: grpc.aio.AioRpcError) -> bool:
    """Whether etcd itself said no, so that nothing happened."""
    return error.code() in _REFUSALS


def _codecs(call: Call[Request, Answer]) -> dict[str, Any]:
    return {"request_serializer": call.request.SerializeToString, "response_deserializer": call.answer.FromString}
