"""How much may be done before somebody is asked whether it may go on.

What strangers wrote, schemas and patterns and rules, can turn a small object into a lot of work. Whoever works through
it tells how much that is with `spend`; whoever waits says with `limited` how much is done before `ask` is called, which
raises something to end it. Where nobody set a limit, nobody is asked. A step is about a tenth of a microsecond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_STEPS_BETWEEN_INTERRUPTS = 1000
_STATES_A_STEP = 100

Ask = Callable[[int], None]
"""Is told how many steps were done since it was asked last, or are about to be. Raises something to end them."""


class _Limit:
    __slots__ = ("ask", "left", "steps")

    def __init__(self, steps: int, ask: Ask) -> None:
        self.steps = self.left = steps
        self.ask = ask


_limit: ContextVar[_Limit | None] = ContextVar("patience", default=None)


@contextmanager
def limited(steps: int, ask: Ask) -> Iterator[None]:
    """While this is open, `ask` is called whenever so many steps were done."""
    token = _limit.set(_Limit(steps, ask))
    try:
        yield
    finally:
        _limit.reset(token)


def spend(steps: int) -> None:
    """So many steps were done, or are about to be. Raises what whoever is asked raises."""
    limit = _limit.get()
    if limit is None:
        return
    limit.left -= steps
    if limit.left < 0:
        limit.ask(limit.steps - limit.left)
        limit.left = limit.steps


def spend_searching(program_size: int, text: str) -> None:
    """A regular expression is about to be searched for: in the worst case each of its states at each character."""
    spend(program_size * len(text) // _STATES_A_STEP)


def interrupt() -> bool:
    """For those who only know how to be interrupted: never so, but time passes."""
    spend(_STEPS_BETWEEN_INTERRUPTS)
    return False
