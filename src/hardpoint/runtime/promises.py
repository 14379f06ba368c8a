"""What a conformance kit is made of: promises, each with a test that a guest keeps or breaks.

    promises: Promises[Caller] = Promises()

    @promises("a token nobody knows is not authenticated")
    async def unknown_token(guest: Caller) -> None:
        answer = await guest.ask(...)
        expect(not answer["status"]["authenticated"], "authenticated a random token")

A promise is told in words because the words are what its breaker reads.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from hardpoint.machinery.errors import HardpointError

S = TypeVar("S")

PATIENCE_SECONDS = 60.0

Outcome = Literal["ok", "FAIL", "skip"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one promise."""

    promise: str
    outcome: Outcome
    detail: str = ""
    """What the guest did instead, why it could not be asked, or a remark."""
    seconds: float = 0.0


class Broken(Exception):
    """The guest broke the promise; the text says what it did."""


class NotAsked(Exception):
    """The promise could not be looked at; the text says what would be needed."""


def expect(kept: bool, otherwise: str) -> None:
    """Raises Broken unless `kept`."""
    if not kept:
        raise Broken(otherwise)


Test = Callable[[S], Awaitable[str | None]]
"""Looks at one promise; what it returns is a remark about a promise that was kept."""


class Promises(Generic[S]):
    """The promises of a seam, in the order they are looked at."""

    def __init__(self) -> None:
        self._tests: dict[str, Test[S]] = {}

    def __call__(self, words: str) -> Callable[[Test[S]], Test[S]]:
        """Registers a test of the promise made in `words`."""

        def register(test: Test[S]) -> Test[S]:
            assert words not in self._tests, f"promised twice: {words}"
            self._tests[words] = test
            return test

        return register

    @property
    def words(self) -> tuple[str, ...]:
        """What is promised."""
        return tuple(self._tests)

    def include(self, others: Promises[S]) -> None:
        """Promise what others promise, too."""
        for words, test in others._tests.items():
            self(words)(test)

    async def findings(self, guest: S, *, patience_seconds: float = PATIENCE_SECONDS) -> AsyncIterator[Finding]:
        """Looks at one promise after the other."""
        for words in self._tests:
            yield await self.finding(words, guest, patience_seconds=patience_seconds)

    async def finding(self, words: str, guest: S, *, patience_seconds: float = PATIENCE_SECONDS) -> Finding:
        """Looks at one promise. A guest that does not answer breaks it."""
        started = time.monotonic()
        outcome, detail = await _outcome(self._tests[words], guest, patience_seconds)
        return Finding(words, outcome, detail, time.monotonic() - started)


async def _outcome(test: Test[S], guest: S, patience_seconds: float) -> tuple[Outcome, str]:
    try:
        async with asyncio.timeout(patience_seconds):
            remark = await test(guest)
    except NotAsked as why:
        return "skip", str(why)
    except Broken as what:
        return "FAIL", str(what)
    except TimeoutError:
        return "FAIL", f"it took more than {patience_seconds:g} s"
    except HardpointError as failed:
        return "FAIL", str(failed)
    return "ok", remark or ""
