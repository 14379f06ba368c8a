"""Functions that somebody else wrote: called without being trusted."""

from __future__ import annotations

import asyncio
import functools
import logging
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hardpoint.machinery.errors import ConfigError
from hardpoint.runtime.authored import THREADS_MAX, Authored, AuthorFailed


def plain(word: str) -> str:
    return f"{word} {threading.current_thread() is threading.main_thread()}"


async def waiting(word: str) -> str:
    await asyncio.sleep(0)
    return f"{word} {threading.current_thread() is threading.main_thread()}"


class Called:
    async def __call__(self, word: str) -> str:
        return f"{word} called"


@pytest.mark.parametrize(
    ("function", "returned"),
    [
        pytest.param(plain, "hi False", id="plain ones in a thread"),
        pytest.param(waiting, "hi True", id="async ones here"),
        pytest.param(functools.partial(waiting), "hi True", id="a partial of an async one"),
        pytest.param(lambda word: waiting(word), "hi True", id="a plain one that returns an awaitable"),
        pytest.param(Called(), "hi called", id="an object that can be called"),
    ],
)
async def test_any_kind_of_function_is_called_rightly(function: Callable[..., Any], returned: str) -> None:
    authored: Authored[str] = Authored("@app.test", function)
    assert await authored("hi") == returned


async def test_plain_functions_run_side_by_side_and_hold_up_nobody() -> None:
    barrier = threading.Barrier(THREADS_MAX, timeout=10)
    authored: Authored[int] = Authored("@app.test", barrier.wait)
    numbers = await asyncio.gather(*(authored() for _ in range(THREADS_MAX)))
    assert sorted(numbers) == list(range(THREADS_MAX))


async def test_who_leaves_early_leaves_room_for_others() -> None:
    may_end = threading.Event()
    authored: Authored[bool] = Authored("@app.test", may_end.wait)
    hanging = [asyncio.create_task(authored()) for _ in range(THREADS_MAX)]
    await asyncio.sleep(0)
    for task in hanging:
        task.cancel()
    waiting = asyncio.create_task(authored())
    await asyncio.gather(*hanging, return_exceptions=True)
    assert not waiting.done()
    may_end.set()
    async with asyncio.timeout(10):
        assert await waiting


@pytest.mark.parametrize("raised", [StopIteration, SystemExit, KeyboardInterrupt, GeneratorExit])
async def test_a_function_cannot_end_more_than_itself(raised: type[BaseException]) -> None:
    def leave() -> None:
        raise raised

    with pytest.raises(AuthorFailed):
        await Authored("@app.test", leave)()


def test_a_thread_that_hangs_does_not_keep_a_program_from_ending() -> None:
    program = """
import asyncio, threading
from hardpoint.runtime.authored import Authored

async def main():
    try:
        async with asyncio.timeout(0.05):
            await Authored("@app.test", threading.Event().wait)()
    except TimeoutError:
        print("given up")

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True)
    assert (done.stdout, done.stderr) == ("given up\n", "")


async def test_what_it_raises_is_logged_with_its_line_and_without_the_secret(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "s3cr3t-t0k3n"

    def deeper(token: str) -> None:
        raise KeyError(token)

    def careless(token: str) -> None:
        deeper(token)

    authored: Authored[None] = Authored("@app.test", careless)
    with pytest.raises(AuthorFailed) as failed:
        await authored(secret, secrets=(secret,))
    (record,) = caplog.records
    values = vars(record)
    assert values["error"] == "KeyError: '***'"
    assert values["at"].startswith(f"test_authored.py:{deeper.__code__.co_firstlineno + 1} < test_authored.py:")
    assert secret not in str(values)
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__


def test_where_it_is_and_what_it_takes() -> None:
    authored: Authored[str] = Authored("@app.test", plain)
    assert authored.takes("word")
    assert not authored.takes()
    assert not authored.takes("word", "another")
    line = plain.__code__.co_firstlineno
    assert str(authored.wrong("is wrong")) == f"{__file__}:{line}: @app.test: plain is wrong"


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"@app\.test goes on a function, not on 7"):
        Authored("@app.test", 7)  # type: ignore[arg-type]  # that is the point
