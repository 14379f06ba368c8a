"""Calling a function that somebody else wrote: async ones here, plain ones in threads, failures with their place.

What an author's function raises is theirs to read, so it is logged once, with the line of their file it came from. Its
words may quote what the function was given; whatever of that is secret is cut out first.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import functools
import inspect
import logging
import threading
import traceback
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from hardpoint.machinery.errors import ConfigError, HardpointError

R_co = TypeVar("R_co", covariant=True)

log = logging.getLogger(__name__)

THREADS_MAX = 32
"""How many calls of one plain function run at once. One that hangs takes its own threads, not others'."""
SECRET_CHARACTERS_MIN = 4
"""Shorter texts are no secrets, and cutting them out would make a log unreadable."""


class AuthorFailed(HardpointError):
    """An author's function raised something. It is logged already; this says only that it happened."""


class Authored(Generic[R_co]):
    """An author's function, ready to be called."""

    def __init__(self, decorator: str, function: Callable[..., R_co | Awaitable[R_co]]) -> None:
        """`decorator` is what errors call the place it was registered with. Raises ConfigError for no function."""
        self.decorator = decorator
        if not callable(function):
            raise ConfigError(f"{decorator} goes on a function, not on {function!r}")
        self._function = function
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self.place = _place(function)
        self.is_async = _is_async(function)
        self._room = asyncio.Semaphore(THREADS_MAX)

    def wrong(self, why: str) -> ConfigError:
        """The error that says where the function is, and what is wrong with it."""
        return ConfigError(f"{self.place}: {self.decorator}: {self.name} {why}")

    def takes(self, *names: str) -> bool:
        """Whether it can be called with so many arguments, in this order."""
        try:
            inspect.signature(self._function).bind(*names)
        except TypeError:
            return False
        return True

    async def __call__(self, *arguments: Any, secrets: Sequence[str] = ()) -> R_co:
        """What the function returns. Raises AuthorFailed. `secrets` are not in the log, whatever it raises."""
        try:
            return await self.call(*arguments)
        except Exception as raised:  # noqa: BLE001 Anything may come out of a stranger's function.
            self._log(raised, secrets)
            # Not chained: whoever logs this error would log the author's words with it, secrets and all.
            raise AuthorFailed(f"{self.name} failed") from None

    async def call(self, *arguments: Any) -> R_co:
        """What the function returns. What it raises comes out as it is, for those whom it is addressed to."""
        try:
            returned = self._function(*arguments) if self.is_async else await self._in_thread(*arguments)
            return cast("R_co", await returned if inspect.isawaitable(returned) else returned)
        except (Exception, asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as raised:
            # A stranger's sys.exit() would end the whole program.
            raise RuntimeError(f"it raised {type(raised).__name__}") from raised

    def line(self, raised: BaseException) -> str:
        """Where in the function's own file it was raised, or from where: `file.py:12`."""
        file = self.place.rpartition(":")[0]
        frames = traceback.extract_tb(raised.__traceback__)
        own = next((frame for frame in reversed(frames) if frame.filename == file), None)
        return f"{Path(own.filename).name}:{own.lineno}" if own is not None else self.place

    def complain(self, what: str) -> None:
        """Log that what it returned cannot be used. `what` holds nothing that was returned."""
        log.error("function broke its promise", extra={"function": self.name, "at": self.place, "error": what})

    async def _in_thread(self, *arguments: Any) -> R_co | Awaitable[R_co]:
        """Call it in a thread of its own, which nobody waits for in the end: it may hang for ever."""
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        returned: asyncio.Future[Any] = loop.create_future()
        call = functools.partial(contextvars.copy_context().run, self._function, *arguments)
        threading.Thread(target=self._work, args=(call, returned, loop), name=self.name, daemon=True).start()
        return cast("R_co", await returned)

    def _work(self, call: Callable[[], Any], returned: asyncio.Future[Any], loop: asyncio.AbstractEventLoop) -> None:
        """A thread's whole life."""
        result, raised = None, None
        try:
            result = call()
        except BaseException as failure:  # noqa: BLE001 Whatever it is, it is for whoever waits.
            raised = failure
        # The loop may be gone by now, and with it everybody who waited.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._done, returned, result, raised)

    def _done(self, returned: asyncio.Future[Any], result: Any, raised: BaseException | None) -> None:
        self._room.release()
        if returned.done():
            return  # Whoever waited has left.
        if raised is None:
            returned.set_result(result)
        elif isinstance(raised, Exception) and not isinstance(raised, StopIteration):
            returned.set_exception(raised)
        else:
            # No future holds a StopIteration, and a stranger's sys.exit() ends nobody but its own thread.
            returned.set_exception(RuntimeError(f"it raised {type(raised).__name__}"))

    def _log(self, raised: Exception, secrets: Sequence[str]) -> None:
        words = f"{type(raised).__name__}: {raised}"
        for secret in secrets:
            if len(secret) >= SECRET_CHARACTERS_MIN:
                words = words.replace(secret, "***")
        at = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(_frames(raised)))
        log.error("function failed", extra={"function": self.name, "at": at, "error": words})


def _frames(raised: Exception) -> list[traceback.FrameSummary]:
    """Where it came from, outermost first, without the frames that called the function."""
    frames = traceback.extract_tb(raised.__traceback__)
    return [frame for frame in frames if frame.filename != __file__]


def _place(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


def _is_async(function: Callable[..., Any]) -> bool:
    unwrapped = inspect.unwrap(function)
    if isinstance(unwrapped, functools.partial):
        unwrapped = unwrapped.func
    return inspect.iscoroutinefunction(unwrapped) or inspect.iscoroutinefunction(type(unwrapped).__call__)
