"""What production does to requests, one fault each, and the seeded plan that says which request suffers which.

A fault is something a correct API server, the network or other clients are allowed to do. The plan decides by the
request and how often it was made, not by its place in the stream: two runs of a program whose tasks race suffer alike.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, Protocol
from urllib.parse import urlencode

import orjson

from hardpoint.machinery.errors import ApiError, expired
from hardpoint.machinery.messages import Request, Response
from hardpoint.seams.controller.host import streams
from hardpoint.seams.controller.host.record import HOUSEKEEPING, Asked

RETRY_AFTER_SECONDS = 1
SLOW_SECONDS = (0.1, 0.4)
LATE_SECONDS = 0.4
STRIKES_PER_REQUEST = 2
STRIKES_MAX = 60
"""After so many faults a plan is over: what never gets an answer cannot converge."""
WRITES_STRUCK_MAX = 10
"""Nor do more writes suffer. Controllers wait twice as long after each failure in a row, most from 5 ms on: an object
with many children would be waited for in vain after twenty."""


class Exchange(Protocol):
    """A request on its way, as a fault sees it."""

    request: Request
    asked: Asked
    roll: random.Random

    async def forward(self) -> Response:
        """What the server really answers; it has then done what was asked."""
        ...

    async def interfere(self) -> None:
        """Have somebody else change the object that the request is about."""
        ...

    def revision_before(self) -> int:
        """A revision that the server had some changes ago."""
        ...


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that happens to a request."""

    name: str
    fits: Callable[[Asked], bool]
    act: Callable[[Exchange], Awaitable[Response]]


def cut() -> NoReturn:
    """End the connection without a word: the socket server closes the connection of a handler that is cancelled."""
    raise asyncio.CancelledError


def refusal(error: ApiError) -> Response:
    headers = [("Retry-After", str(error.retry_after_seconds))] if error.retry_after_seconds else []
    return Response(error.code, orjson.dumps(error.status()), headers=headers)


def _answering(name: str, error: ApiError, fits: Callable[[Asked], bool]) -> Fault:
    async def act(exchange: Exchange) -> Response:
        return refusal(error)

    return Fault(name, fits, act)


def _answering_after(name: str, error: ApiError) -> Fault:
    async def act(exchange: Exchange) -> Response:
        await exchange.forward()
        return refusal(error)

    return Fault(name, _is_write, act)


async def _cut_before(exchange: Exchange) -> Response:
    cut()


async def _cut_after(exchange: Exchange) -> Response:
    await exchange.forward()
    cut()


async def _slowly(exchange: Exchange) -> Response:
    await asyncio.sleep(exchange.roll.uniform(*SLOW_SECONDS))
    return await exchange.forward()


async def _after_somebody_else(exchange: Exchange) -> Response:
    await exchange.interfere()
    return await exchange.forward()


async def _expired(exchange: Exchange) -> Response:
    error = expired(f"too old resource version: {exchange.asked.query.get('resourceVersion')} (of another time)")
    if exchange.roll.random() < 0.5:
        return refusal(error)
    return Response(200, stream=streams.saying(error))


async def _cut_in_the_middle(exchange: Exchange) -> Response:
    response = await exchange.forward()
    if response.stream is None:
        return response
    response.stream = streams.cut_within_a_line(response.stream, after_events=exchange.roll.randint(0, 2))
    return response


async def _over_at_once(exchange: Exchange) -> Response:
    response = await exchange.forward()
    if response.stream is not None:
        response.stream = streams.over_at_once(response.stream)
    return response


async def _late(exchange: Exchange) -> Response:
    response = await exchange.forward()
    if response.stream is not None:
        response.stream = streams.late(response.stream, LATE_SECONDS)
    return response


async def _without_bookmarks(exchange: Exchange) -> Response:
    response = await exchange.forward()
    if response.stream is not None:
        response.stream = streams.without_bookmarks(response.stream)
    return response


async def _stale(exchange: Exchange) -> Response:
    query = dict(exchange.asked.query)
    query |= {"resourceVersion": str(exchange.revision_before()), "resourceVersionMatch": "Exact"}
    request = exchange.request
    exchange.request = Request(
        request.method, request.path, urlencode(query), request.headers, request.body, request.peer
    )
    return await exchange.forward()


def _is_of_interest(asked: Asked) -> bool:
    return bool(asked.where.resource) and (asked.where.group, asked.where.resource) not in HOUSEKEEPING


def _is_write(asked: Asked) -> bool:
    return asked.is_write


def _is_answered_at_once(asked: Asked) -> bool:
    return _is_of_interest(asked) and not asked.is_watch


def _is_watch(asked: Asked) -> bool:
    return _is_of_interest(asked) and asked.is_watch


def _is_watch_from_somewhere(asked: Asked) -> bool:
    return _is_watch(asked) and asked.query.get("resourceVersion", "0") not in ("", "0")


def _is_watch_from_nowhere(asked: Asked) -> bool:
    return _is_watch(asked) and not _is_watch_from_somewhere(asked)


def _changes_what_exists(asked: Asked) -> bool:
    return asked.is_write and asked.method in ("PUT", "PATCH") and bool(asked.where.name)


def _takes_any_age(asked: Asked) -> bool:
    return asked.is_list and _is_of_interest(asked) and asked.query.get("resourceVersion") == "0"


THROTTLED = ApiError(
    429, "TooManyRequests", "Too many requests, please try again later.", retry_after_seconds=RETRY_AFTER_SECONDS
)
_FAILED = ApiError(500, "InternalError", "Internal error occurred: etcdserver: leader changed")
_AWAY = ApiError(503, "ServiceUnavailable", "the server is currently unable to handle the request")
_TIMED_OUT = ApiError(504, "Timeout", "Timeout: request did not complete within the allotted duration")

TOO_MANY = _answering("429 with Retry-After", THROTTLED, _is_answered_at_once)
FAILURES = (
    _answering("500 before it was done", _FAILED, _is_answered_at_once),
    _answering("503 before it was done", _AWAY, _is_answered_at_once),
)
FAILURES_AFTER = (
    _answering_after("500 although it was done", _FAILED),
    _answering_after("504 although it was done", _TIMED_OUT),
)
CUTS = (Fault("connection cut before it was done", _is_answered_at_once, _cut_before),)
CUTS_AFTER = (Fault("connection cut although it was done", _is_write, _cut_after),)
SLOW = Fault("answered slowly", _is_answered_at_once, _slowly)
CONFLICT = Fault("somebody else changed the object first", _changes_what_exists, _after_somebody_else)
GONE = (
    Fault("watch cut within a line", _is_watch_from_nowhere, _cut_in_the_middle),
    Fault("410, events were missed", _is_watch_from_somewhere, _expired),
)
WATCH_CUT = Fault("watch cut within a line", _is_watch, _cut_in_the_middle)
WATCH_OVER = Fault("watch over as soon as it began", _is_watch, _over_at_once)
LATE = Fault("events come late", _is_watch, _late)
NO_BOOKMARKS = Fault("bookmarks withheld", _is_watch, _without_bookmarks)
STALE = Fault("list of an older state", _takes_any_age, _stale)


@dataclass(slots=True)
class Plan:
    """Which request suffers which of these faults: each the first two times it is made, until there were enough."""

    faults: Sequence[Fault] = ()
    seed: int = 0
    always: bool = False
    """Whether every request suffers, every time: for faults that cost no more than patience."""
    strikes_max: int = STRIKES_MAX
    _made: Counter[str] = field(default_factory=Counter)
    _struck: Counter[str] = field(default_factory=Counter)
    _writes_struck: int = 0

    def strike(self, asked: Asked) -> tuple[Fault, random.Random] | None:
        """What happens to this request, and the dice for it; None: nothing."""
        key = f"{asked.method} {asked.path} {'watch' if asked.is_watch else ''}"
        self._made[key] += 1
        fitting = [fault for fault in self.faults if fault.fits(asked)]
        if not fitting or not (self.always or self._may_strike(key, is_write=asked.is_write)):
            return None
        self._struck[key] += 1
        self._writes_struck += asked.is_write
        roll = random.Random(f"{self.seed} {key} {self._made[key]}")  # noqa: S311 # dice, not secrets
        return roll.choice(fitting), roll

    def _may_strike(self, key: str, *, is_write: bool) -> bool:
        if is_write and self._writes_struck >= WRITES_STRUCK_MAX:
            return False
        return self._struck[key] < STRIKES_PER_REQUEST and self._struck.total() < self.strikes_max
