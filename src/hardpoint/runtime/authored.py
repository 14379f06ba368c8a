"""Calling a function that somebody else wrote: async ones here, plain ones in threads, failures with their place.

What an author's function raises is theirs to read, so it is logged once, with the line of their file it came from. Its
words may quote what the function was given; whatever of that is secret is cut out first.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import logging
import traceback
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

from hardpoint.machinery.errors import ConfigError, HardpointError

R_co = TypeVar("R_co", covariant=True)

log = logging.getLogger(__name__)

THREADS_MAX = 32
"""How many calls of one plain function run at once. A function that hangs takes its own threads, not others'."""
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
        self._is_async = _is_async(function)
        self._threads: ThreadPoolExecutor | None = None

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
            returned = self._function(*arguments) if self._is_async else await self._in_thread(*arguments)
            return cast("R_co", await returned if inspect.isawaitable(returned) else returned)
        except Exception as raised:  # noqa: BLE001 Anything may come out of a stranger's function.
            self._log(raised, secrets)
            # Not chained: whoever logs this error would log the author's words with it, secrets and all.
            raise AuthorFailed(f"{self.name} failed") from None

    def complain(self, what: str) -> None:
        """Log that what it returned cannot be used. `what` holds nothing that was returned."""
        log.error("function broke its promise", extra={"function": self.name, "at": self.place, "error": what})

    def close(self) -> None:
        """Take no more calls. Those under way go on."""
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    async def _in_thread(self, *arguments: Any) -> R_co | Awaitable[R_co]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix=self.name)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, functools.partial(self._function, *arguments))

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
    own = (__file__, functools.__file__, "concurrent/futures/thread.py")
    return [frame for frame in frames if not frame.filename.endswith(own)]


def _place(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else repr(function)


def _is_async(function: Callable[..., Any]) -> bool:
    unwrapped = inspect.unwrap(function)
    if isinstance(unwrapped, functools.partial):
        unwrapped = unwrapped.func
    return inspect.iscoroutinefunction(unwrapped) or inspect.iscoroutinefunction(type(unwrapped).__call__)
