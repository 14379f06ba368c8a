"""Awaiting with a word before the wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from hardpoint.serving.stepping import await_after


class Said:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


async def test_what_is_ready_needs_no_word() -> None:
    async def ready() -> int:
        return 7

    said = Said()
    assert await await_after(said, ready()) == 7
    assert said.times == 0


async def test_the_word_comes_once_and_before_the_wait() -> None:
    gate: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def waits() -> int:
        first = await gate
        await asyncio.sleep(0)
        await asyncio.sleep(0.001)
        return first + 1

    assert await await_after(lambda: gate.set_result(1), waits()) == 2


async def test_what_is_raised_comes_out() -> None:
    async def fails(*, after_waiting: bool) -> None:
        if after_waiting:
            await asyncio.sleep(0)
        raise ValueError("no")

    for after_waiting in (False, True):
        with pytest.raises(ValueError, match="no"):
            await await_after(lambda: None, fails(after_waiting=after_waiting))


async def test_the_end_of_an_iterator_comes_out() -> None:
    async def nothing() -> AsyncIterator[bytes]:
        await asyncio.sleep(0)
        for piece in ():
            yield piece

    with pytest.raises(StopAsyncIteration):
        await await_after(lambda: None, anext(nothing()))


async def test_a_timeout_inside_works() -> None:
    async def patient() -> str:
        try:
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        except TimeoutError:
            await asyncio.sleep(0)
            return "timed out"
        return "never"

    assert await await_after(lambda: None, patient()) == "timed out"


@pytest.mark.parametrize("resists", [False, True])
async def test_a_cancellation_is_the_coroutines_to_handle(resists: bool) -> None:
    began = asyncio.Event()
    heard: list[str] = []

    async def waits() -> str:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            heard.append("cancelled")
            await asyncio.sleep(0)
            if not resists:
                raise
        return "done"

    async def outer() -> str:
        return await await_after(lambda: None, waits())

    task = asyncio.create_task(outer())
    await began.wait()
    task.cancel()
    results = await asyncio.gather(task, return_exceptions=True)
    assert heard == ["cancelled"]
    assert results == ["done"] if resists else isinstance(results[0], asyncio.CancelledError)
