"""API Priority and Fairness, for a server with one event loop.

Seats bound how much is under way, but here most requests run to their end without ever waiting: whoever has a thousand
connections would get a thousand turns of the loop to another's one, and seats would not notice. So the gate watches
the loop's turns as well. In each turn requests are let in at once for a few milliseconds' worth of work. Who comes
later waits in the queue of their flow, and the next turns belong to the levels by their shares, and within a level to
the queue that had least. Where nobody floods, nobody waits, and all of this costs about two microseconds.

The exempt are never refused and need no seat, but under a flood they too take turns, user by user.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from time import monotonic, perf_counter
from typing import Any

from hardpoint.apiserver.flow import tallies
from hardpoint.apiserver.flow.contract import Limits, Overloaded
from hardpoint.apiserver.flow.courses import FIRST_GUESS_SECONDS, LEARNING, Course, Courses
from hardpoint.apiserver.flow.levels import Level, Levels, Queue, Waiting, had_seconds, with_mandatory
from hardpoint.apiserver.flow.pushback import Brake, RetryAfter
from hardpoint.apiserver.flow.schemas import in_order
from hardpoint.apiserver.target import Target
from hardpoint.machinery.exposition import Family
from hardpoint.machinery.messages import User

Json = dict[str, Any]

SEATS = 600
TURN_SECONDS = 0.002
"""So much work is begun in one turn of the loop."""
WAIT_SECONDS_MAX = 15.0

# What the gate cannot see: reading a request and writing an answer, and the encryption of each byte.
_TRANSPORT_SECONDS = 60e-6
_BYTE_SECONDS = 3e-9

UNTAKEN_BYTES_MAX = 64 * 1024 * 1024
"""Who has left so much of their answers untaken gets no more large ones."""
_SLOW_SECONDS = 5.0
"""A client that has not taken its answer by then no longer holds a seat for it."""
_SWEEPS = 20
"""So often those who wait are looked at before their time is over."""


class GateSeat:
    """A request inside."""

    __slots__ = ("_began", "_gate", "_turn", "course", "headers", "is_taken", "queue", "width")

    def __init__(self, gate: Gate, course: Course, width: int, turn: int, queue: Queue | None) -> None:
        self._gate = gate
        self._turn = turn
        self._began = perf_counter()
        self.course = course
        self.headers = course.headers
        self.width = width
        self.queue = queue
        self.is_taken = True

    def leave(self, answer_bytes: int | None = None) -> None:
        if self.is_taken:
            self.is_taken = False
            self._gate.leave(self, perf_counter() - self._began, self._turn, answer_bytes)

    def leave_when_taken(self, answer_bytes: int) -> Callable[[], None]:
        owner = self.course.owner
        owner.untaken_bytes += answer_bytes
        timer = asyncio.get_running_loop().call_later(_SLOW_SECONDS, self.leave, answer_bytes)
        is_taken = False

        def taken() -> None:
            nonlocal is_taken
            if not is_taken:
                is_taken = True
                timer.cancel()
                owner.untaken_bytes -= answer_bytes
                self.leave(answer_bytes)

        return taken


class Gate:
    """Lets requests in, level by level and flow by flow. One event loop's own."""

    def __init__(self, seats: int = SEATS, *, wait_seconds_max: float = WAIT_SECONDS_MAX) -> None:
        self._levels = Levels(seats)
        self._courses = Courses(self._levels)
        self._retry_after: dict[str, RetryAfter] = {}
        self._brake = Brake(per_second=500, burst=100, wait_seconds_max=1.0)
        self._wait_seconds_max = wait_seconds_max
        self._turn = 0
        self._spent_seconds = 0.0
        """How much work was done, or begun, in this turn."""
        self._is_turn_coming = False
        self._waiting = 0
        self._served_seconds = 0.0
        """What the level served last had had; a level that comes back after a rest begins there."""
        self._is_sweeping = False
        self._running_loop: asyncio.AbstractEventLoop | None = None
        self.configure((), ())

    def configure(self, schemas: Iterable[Json], levels: Iterable[Json]) -> None:
        """Go by these FlowSchemas and PriorityLevelConfigurations from now on."""
        self._levels.configure(with_mandatory(levels))
        self._courses.configure(in_order(schemas))

    def enter(self, user: User, verb: str, where: Target) -> GateSeat | None:
        course = self._courses.find(user, verb, where)
        level = course.level
        if level.active or self._spent_seconds >= TURN_SECONDS:
            return None
        size = course.size
        if size is None:
            width = 1
        elif course.owner.untaken_bytes > UNTAKEN_BYTES_MAX:
            return None
        else:
            width = size.width(level)
        if level.in_use + width <= level.nominal or self._levels.fits(level, width):
            return self._sit(course, width)
        return None

    async def wait(self, user: User, verb: str, where: Target) -> GateSeat:
        course = self._courses.find(user, verb, where)
        level = course.level
        width = 1 if course.size is None else course.size.width(level)
        if course.size is not None and course.owner.untaken_bytes > UNTAKEN_BYTES_MAX:
            return await self._reject(course, "untaken-answers")
        if level.shape.queues or level.is_exempt:
            return await self._wait(course, width, has_seat=False)
        if not self._levels.fits(level, width):
            return await self._reject(course, "concurrency-limit")
        return await self._wait(course, width, has_seat=True)

    def refuse(self) -> float:
        return self._brake.delay_seconds(monotonic())

    def families(self) -> Iterator[Family]:
        """What `/metrics` tells."""
        return tallies.families(self._levels, self._courses.tallies)

    # In and out.

    def _sit(self, course: Course, width: int, queue: Queue | None = None) -> GateSeat:
        course.level.in_use += width
        course.tally.dispatched += 1
        if not self._is_turn_coming:
            self._expect_turn()
        return GateSeat(self, course, width, self._turn, queue)

    def leave(self, seat: GateSeat, elapsed: float, turn: int, answer_bytes: int | None) -> None:
        """A request is over, `elapsed` seconds after it began in that turn."""
        course = seat.course
        level = course.level
        level.in_use -= seat.width
        course.tally.finished += 1
        # Who began in an earlier turn has waited since, for a disk or for others; how long it worked is not known.
        cost = _TRANSPORT_SECONDS + (elapsed if turn == self._turn else min(elapsed, FIRST_GUESS_SECONDS))
        if course.size is not None and answer_bytes is not None:
            course.size.learn(answer_bytes)
            cost += answer_bytes * _BYTE_SECONDS
        self._spent_seconds += cost
        if seat.queue is not None:
            error = cost - course.seconds
            seat.queue.executing -= 1
            seat.queue.had_seconds += error
            level.had_seconds += error / level.weight
            course.seconds += error * LEARNING
        if self._waiting and not self._is_turn_coming:
            self._expect_turn()

    async def _wait(self, course: Course, width: int, *, has_seat: bool) -> GateSeat:
        level = course.level
        queue = level.queue(course.hand)
        if level.shape.queues and len(queue.waiting) >= level.shape.queue_length_max:
            return await self._reject(course, "queue-full")
        began = monotonic()
        future = self._loop().create_future()
        waiting = Waiting(future, width, course.seconds, has_seat, began + self._wait_seconds_max)
        if has_seat:
            level.in_use += width
        if not level.active:
            level.had_seconds = max(level.had_seconds, self._served_seconds)
        level.wait_in(queue, waiting)
        course.tally.waiting += 1
        self._waiting += 1
        if not self._is_turn_coming:
            self._expect_turn()
        if not self._is_sweeping:
            self._expect_sweep()
        try:
            await future
        except TimeoutError:
            self._give_up(course, queue, waiting)
            return await self._reject(course, "time-out")
        except BaseException:
            self._give_up(course, queue, waiting)
            raise
        finally:
            course.tally.waiting -= 1
        course.tally.waited.observe(monotonic() - began)
        # The dispatcher took the seat already, so that it does not give it to two.
        level.in_use -= width
        return self._sit(course, width, queue)

    def _give_up(self, course: Course, queue: Queue, waiting: Waiting) -> None:
        """Somebody does not wait any longer, or was called and did not come."""
        level = course.level
        if waiting.is_called:
            queue.executing -= 1
        elif level.withdraw(queue, waiting):
            self._waiting -= 1
        if waiting.is_called or waiting.has_seat:
            level.in_use -= waiting.width
        if self._waiting and not self._is_turn_coming:
            self._expect_turn()

    async def _reject(self, course: Course, reason: str) -> GateSeat:
        name = course.level.shape.name
        course.tally.rejected[reason] += 1
        seconds = self._retry_after.setdefault(name, RetryAfter()).refuse(int(monotonic()))
        await asyncio.sleep(self.refuse())
        raise Overloaded(seconds, course.headers)

    # Turns.

    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._running_loop is None:
            self._running_loop = asyncio.get_running_loop()
        return self._running_loop

    def _expect_turn(self) -> None:
        self._is_turn_coming = True
        self._loop().call_soon(self._take_turn)

    def _expect_sweep(self) -> None:
        """A timer for each who waits would cost more than the waiting; one for all will do."""
        self._is_sweeping = True
        self._loop().call_later(self._wait_seconds_max / _SWEEPS, self._sweep)

    def _sweep(self) -> None:
        self._is_sweeping = False
        now = monotonic()
        for level in self._levels:
            for _, waiting in level.expired(now):
                if not waiting.future.done():
                    waiting.future.set_exception(TimeoutError())
        if self._waiting:
            self._expect_sweep()

    def _take_turn(self) -> None:
        """A new turn of the loop: call those in whose turn it is."""
        self._is_turn_coming = False
        self._turn += 1
        self._spent_seconds = 0.0
        begun_seconds = 0.0
        while self._waiting and begun_seconds < TURN_SECONDS:
            called = self._call_next()
            if called is None:
                return  # They wait for seats; whoever leaves calls them.
            begun_seconds += called
        if self._waiting:
            self._expect_turn()

    def _call_next(self) -> float | None:
        """Call in the request that is next by right, and tell what it will probably cost; None if none can sit."""
        for level in self._by_right():
            for queue in level.by_right():
                first = queue.waiting[0]
                # A large answer may have to wait for seats; smaller ones behind it need not wait with it.
                if first.has_seat or self._levels.fits(level, first.width):
                    return self._call(level, queue)
        return None

    def _by_right(self) -> list[Level]:
        """The levels in which somebody waits; the first is the one that had least for its shares."""
        active = [level for level in self._levels if level.active]
        if len(active) > 1:
            active.sort(key=had_seconds)
        return active

    def _call(self, level: Level, queue: Queue) -> float:
        first = level.take(queue)
        self._waiting -= 1
        if first.future.done():
            return 0.0  # It was cancelled, and has not noticed yet.
        self._served_seconds = level.had_seconds
        if not first.has_seat:
            level.in_use += first.width
        queue.executing += 1
        queue.had_seconds += first.seconds
        level.had_seconds += first.seconds / level.weight
        first.is_called = True
        first.future.set_result(None)
        return first.seconds


_conforms: type[Limits] = Gate
