"""One connection: its requests in order, one at a time, and its answers under back-pressure.

Each connection has one task, which answers what the reader has queued. When the connection is lost the task is
cancelled, unless it is in the middle of a write: that one is finished. Taking a handler's first step at once, without
the task, was measured: it saved 1 µs of 20 and was not worth its subtlety.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, nullcontext
from typing import NamedTuple, Protocol, cast

from hardpoint.machinery import errors
from hardpoint.machinery.messages import Handler, Request, Response
from hardpoint.serving import writing
from hardpoint.serving.limits import Limits
from hardpoint.serving.patience import Patience, Verdict
from hardpoint.serving.peers import Peers
from hardpoint.serving.reading import CLOSE, CLOSE_1_0, TIMED_OUT, Manner, Phase, Reader, Refusal
from hardpoint.serving.stepping import await_after
from hardpoint.serving.streaming import RECORD_BYTES, Outflow

log = logging.getLogger(__name__)

# So many pipelined requests are answered before other connections get their turn.
REQUESTS_PER_TURN = 16

# A larger answer is given in slices: encrypting ten megabytes at once would hold up everybody.
SLICE_BYTES = 128 * 1024

_SAFE_TO_ABANDON = frozenset({"GET", "HEAD"})


class Company(Protocol):
    """What a connection knows of the server: who answers, within which limits, who peers are, and whom to tell."""

    handler: Handler
    limits: Limits
    peers: Peers

    def join(self, connection: Connection) -> bool:
        """Called when connected; False if there is no room."""
        ...

    def settle(self, connection: Connection) -> None:
        """Called when every answer has been given, or never will be: only goodbyes are left."""
        ...

    def leave(self, connection: Connection) -> None:
        """Called when the connection is closed, after `settle` or before."""
        ...


class Turn(NamedTuple):
    """A request that is to be answered."""

    request: Request
    manner: Manner


class Connection(asyncio.Protocol):
    """Speaks HTTP/1.1 with one peer."""

    _transport: asyncio.Transport
    _reader: Reader
    _task: asyncio.Task[None]

    def __init__(self, company: Company, loop: asyncio.AbstractEventLoop) -> None:
        self._company = company
        self._handler = company.handler
        self._loop = loop
        self._patience = Patience(company.limits, loop.time())
        self._turns: deque[Turn | Refusal] = deque()
        """What is to be answered, in order. The first is being worked on, by the task."""
        self._wake: asyncio.Future[None] | None = None
        self._is_blocked = False
        """Whether enough is waiting to be taken by the client."""
        self._is_reading_paused = False
        self._is_streaming = False
        self._is_ending = False
        self._is_finished = False
        self._is_lost = False

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = self._company.peers.peer_of(self._transport)
        self._reader = Reader(peer, self._deliver, self._company.limits, self._company.peers.whole_values)
        self._task = self._loop.create_task(self._run(), name=f"connection of {peer.address}")
        self._task.add_done_callback(self._task_ended)
        if not self._company.join(self):
            self._turns.append(Refusal(503))

    def data_received(self, data: bytes) -> None:
        refusal = self._reader.feed(data)
        if refusal is not None:
            self._queue(refusal)
        elif self._reader.expects_continue and not self._turns:
            self._send_continue()

    def pause_writing(self) -> None:
        self._is_blocked = True

    def resume_writing(self) -> None:
        self._is_blocked = False
        self._poke()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True
        self._is_blocked = False
        turn = self._turns[0] if self._turns else None
        if isinstance(turn, Turn) and not self._is_streaming and turn.request.method not in _SAFE_TO_ABANDON:
            self._poke()
        else:
            self._task.cancel()
        self._company.leave(self)

    # Called by the server.

    def end(self) -> None:
        """Answer what has begun, end streams, then close."""
        self._is_ending = True
        if not self._turns and self._reader.phase is Phase.BETWEEN:
            self._finish()
        elif self._is_streaming:
            self._task.cancel()

    def abort(self) -> None:
        """Close now, whatever is going on."""
        self._task.cancel()
        self._transport.abort()

    def look(self, now: float) -> None:
        """Be reminded of the time: give up on a peer that takes too long."""
        verdict = self._judge(now)
        if verdict is Verdict.QUIET:
            self._finish()
        elif verdict is Verdict.SLOW:
            self._queue(TIMED_OUT)
        elif verdict is Verdict.STALLED:
            log.info("slow client dropped", extra={"task": self._task.get_name()})
            self.abort()

    def _judge(self, now: float) -> Verdict:
        waiting_bytes = self._transport.get_write_buffer_size()
        if waiting_bytes or self._is_finished:
            return self._patience.writing(waiting_bytes, now)
        if self._turns:
            return self._patience.working(now)
        return self._patience.reading(self._reader.phase, self._reader.messages, self._reader.body_bytes, now)

    def _deliver(self, request: Request, manner: Manner) -> None:
        self._queue(Turn(request, manner))

    def _queue(self, turn: Turn | Refusal) -> None:
        if self._turns and not self._is_reading_paused:
            self._is_reading_paused = True
            self._transport.pause_reading()
        self._turns.append(turn)
        self._poke()

    def _resume_reading(self) -> None:
        if self._is_reading_paused:
            self._is_reading_paused = False
            self._transport.resume_reading()

    # The task.

    async def _run(self) -> None:
        served = 0
        while not self._is_lost and not self._is_finished:
            if not self._turns or self._is_blocked:
                await self._wait_until_poked()
                continue
            await self._serve(self._turns[0])
            self._turns.popleft()
            if not self._turns:
                self._catch_up()
            elif (served := served + 1) % REQUESTS_PER_TURN == 0:
                await asyncio.sleep(0)
        await self._close_when_taken()

    def _catch_up(self) -> None:
        """Everything asked so far is answered."""
        if self._is_lost or self._is_finished:
            return
        self._resume_reading()
        if self._reader.expects_continue:
            self._send_continue()
        if self._is_ending and self._reader.phase is Phase.BETWEEN:
            self._finish()

    async def _close_when_taken(self) -> None:
        """Close, but not before the client has taken what is waiting: closing has a time limit, taking need not."""
        if not self._is_lost:
            self._transport.set_write_buffer_limits(high=0)
        while not self._is_lost and self._transport.get_write_buffer_size():
            await self._wait_until_poked()
        self._transport.close()

    async def _wait_until_poked(self) -> None:
        self._wake = self._loop.create_future()
        await self._wake

    def _poke(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _serve(self, turn: Turn | Refusal) -> None:
        if isinstance(turn, Refusal):
            await self._refuse(turn)
            return
        try:
            response = await self._handler(turn.request)
        except Exception as bug:  # noqa: BLE001 The handler promised not to raise; its bug costs this request only.
            response = _failure(turn.request, bug)
        try:
            if response.stream is not None:
                await self._stream(turn, response, response.stream)
            elif len(response.body) > SLICE_BYTES:
                await self._pour(turn, response)
            else:
                self._answer(turn.request, turn.manner, response)
        finally:
            if response.taken is not None:
                response.taken()

    async def _refuse(self, refusal: Refusal) -> None:
        self._transport.write(writing.refusal_answer(refusal))
        if refusal.lingers:
            self._resume_reading()
            await asyncio.sleep(self._company.limits.linger_seconds)
        self._finish()

    def _answer(self, request: Request, manner: Manner, response: Response) -> None:
        if self._is_lost:
            return
        manner = self._manner(manner)
        head, body = writing.whole_answer(response, manner, with_body=request.method != "HEAD")
        if len(body) <= RECORD_BYTES:
            self._transport.write(head + body)
        else:
            self._transport.writelines((head, body))
        if not manner.keeps:
            self._finish()

    async def _pour(self, turn: Turn, response: Response) -> None:
        """Give a large answer slice by slice, no faster than the client takes it, and others their turns in between."""
        manner = self._manner(turn.manner)
        head, body = writing.whole_answer(response, manner, with_body=turn.request.method != "HEAD")
        for start in range(0, len(body), SLICE_BYTES):
            if self._is_lost:
                return
            self._transport.write(head + body[start : start + SLICE_BYTES])
            head = b""
            await asyncio.sleep(0)
            while self._is_blocked:
                await self._wait_until_poked()
        if head:
            self._transport.write(head)
        if not manner.keeps:
            self._finish()

    def _manner(self, wanted: Manner) -> Manner:
        if not self._is_ending:
            return wanted
        return CLOSE if wanted.chunks else CLOSE_1_0

    def _send_continue(self) -> None:
        self._reader.expects_continue = False
        self._transport.write(writing.CONTINUE)

    def _finish(self) -> None:
        """Answer nothing more; the task closes."""
        self._is_finished = True
        self._poke()

    async def _stream(self, turn: Turn, response: Response, stream: AsyncIterator[bytes]) -> None:
        manner = self._manner(turn.manner if turn.manner.chunks else CLOSE_1_0)
        closing = aclosing(stream) if isinstance(stream, AsyncGenerator) else nullcontext()
        async with closing:
            if self._is_lost:
                return
            self._transport.write(writing.stream_head(response, manner))
            if turn.request.method != "HEAD":
                await self._pump(stream, Outflow(self._transport, chunked=manner.chunks))
        if not manner.keeps:
            self._finish()

    async def _pump(self, stream: AsyncIterator[bytes], outflow: Outflow) -> None:
        """Send the stream to its end, or to the server's."""
        self._is_streaming = True
        try:
            while not self._is_ending:
                outflow.add(await await_after(outflow.flush, anext(stream)))
                while self._is_blocked:
                    await self._wait_until_poked()
        except StopAsyncIteration:
            pass
        except asyncio.CancelledError:
            if self._is_lost or not self._is_ending:
                raise
            self._task.uncancel()
        except Exception:
            # The stream is part of the handler and has a bug. The client must not take this for the end.
            log.exception("stream failed")
            self._is_finished = True
            self._transport.abort()
            return
        finally:
            self._is_streaming = False
        outflow.end()

    # The end.

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("connection failed", exc_info=error, extra={"task": task.get_name()})
        if not self._is_finished:
            self._transport.abort()
        self._company.settle(self)


def _failure(request: Request, bug: Exception) -> Response:
    log.error("request failed", exc_info=bug, extra={"method": request.method, "path": request.path})
    return writing.status_response(errors.internal_error("the server failed to handle the request"))
