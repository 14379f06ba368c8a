"""Awaiting something, with a word before it comes to waiting.

A coroutine that is driven by hand for one step shows whether it is ready or has to wait; asyncio has no call for that.
"""

from __future__ import annotations

import types
from collections.abc import Awaitable, Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def await_after(before_waiting: Callable[[], None], awaitable: Awaitable[T]) -> Generator[Any, Any, T]:
    """Await `awaitable`; if that means to wait, call `before_waiting` first."""
    steps = awaitable.__await__()
    try:
        pending = next(steps)
    except StopIteration as done:
        result: T = done.value
        return result
    before_waiting()
    return (yield from _rest(steps, pending))


def _rest(steps: Generator[Any, Any, T], pending: Any) -> Generator[Any, Any, T]:
    """`yield from steps`, entered after its first step, which waits on `pending`."""
    while True:
        try:
            yield pending
        except BaseException as thrown:  # noqa: BLE001 Whatever it is, it is for `steps` to decide about.
            try:
                pending = steps.throw(thrown)
            except StopIteration as done:
                result: T = done.value
                return result
        else:
            return (yield from steps)
