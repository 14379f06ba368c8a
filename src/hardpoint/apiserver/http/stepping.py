"""A coroutine's first step, taken without waiting for the event loop's next turn.

Most requests are answered from memory: their coroutine never waits for anything. A task for each would cost its
creation and a trip through the loop's queue. Instead the first step is taken on the spot, in the name of a task that
exists anyway (`asyncio.current_task()`, and with it `asyncio.timeout` and `TaskGroup`, work as always), and only a
coroutine that does wait is continued inside that task.

Entering and leaving a task by hand is what asyncio documents for those who drive coroutines themselves:
https://docs.python.org/3/library/asyncio-extending.html.
"""

from __future__ import annotations

import asyncio
import types
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Awaitable, Callable, Generator
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Waiting(Generic[T]):
    """A coroutine that has taken its first step and waits for something. Await `rest()`, in the same task, once."""

    __slots__ = ("_on", "_steps")

    def __init__(self, steps: Generator[Any, Any, T], on: Any) -> None:
        self._steps = steps
        self._on = on

    @types.coroutine
    def rest(self, interruption: BaseException | None = None) -> Generator[Any, Any, T]:
        """The rest of it. An `interruption` that hit the task in the meantime was meant for the coroutine."""
        return (yield from _rest(self._steps, self._on, interruption))


def take_first_step(awaitable: Awaitable[T], task: asyncio.Task[Any], context: Context) -> T | Waiting[T]:
    """The result, if no wait is needed for it; what it raises comes out here.

    `task` is idle (it awaits something of the caller's) and runs in `context`.
    """
    return context.run(_take_first_step, awaitable, task)


def _take_first_step(awaitable: Awaitable[T], task: asyncio.Task[Any]) -> T | Waiting[T]:
    loop = task.get_loop()
    steps = awaitable.__await__()
    _enter_task(loop, task)
    try:
        on = next(steps)
    except StopIteration as done:
        result: T = done.value
        return result
    finally:
        _leave_task(loop, task)
    return Waiting(steps, on)


@types.coroutine
def await_after(before_waiting: Callable[[], None], awaitable: Awaitable[T]) -> Generator[Any, Any, T]:
    """Await it, but call `before_waiting` first if that means to wait."""
    steps = awaitable.__await__()
    try:
        on = next(steps)
    except StopIteration as done:
        result: T = done.value
        return result
    before_waiting()
    return (yield from _rest(steps, on))


def _rest(steps: Generator[Any, Any, T], on: Any, interruption: BaseException | None = None) -> Generator[Any, Any, T]:
    """Go on with `steps`, which waits on `on`; it is `yield from`, entered in the middle."""
    while True:
        if interruption is None:
            try:
                yield on
            except BaseException as thrown:  # noqa: BLE001 Whatever it is, it is for `steps` to decide about.
                interruption = thrown
            else:
                return (yield from steps)
        try:
            on = steps.throw(interruption)
        except StopIteration as done:
            result: T = done.value
            return result
        interruption = None
