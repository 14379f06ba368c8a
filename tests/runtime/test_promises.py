"""Promises: kept, broken, not looked at."""

from __future__ import annotations

import asyncio

from hardpoint.machinery.errors import HardpointError
from hardpoint.runtime.promises import Broken, Finding, NotAsked, Promises, expect

promises: Promises[list[str]] = Promises()


@promises("kept")
async def _kept(guest: list[str]) -> None:
    guest.append("kept")
    expect(True, "never said")


@promises("broken")
async def _broken(guest: list[str]) -> None:
    expect(False, "did something else")


@promises("broken, told otherwise")
async def _told(guest: list[str]) -> None:
    raise Broken("said so")


@promises("not looked at")
async def _skipped(guest: list[str]) -> None:
    raise NotAsked("give more")


@promises("slow")
async def _slow(guest: list[str]) -> None:
    await asyncio.Event().wait()


@promises("failing")
async def _failing(guest: list[str]) -> None:
    raise HardpointError("cannot be reached")


async def test_each_promise_has_an_outcome() -> None:
    guest: list[str] = []
    found = [finding async for finding in promises.findings(guest, patience_seconds=0.01)]
    assert [(one.promise, one.outcome, one.detail) for one in found] == [
        ("kept", "ok", ""),
        ("broken", "FAIL", "did something else"),
        ("broken, told otherwise", "FAIL", "said so"),
        ("not looked at", "skip", "give more"),
        ("slow", "FAIL", "it took more than 0.01 s"),
        ("failing", "FAIL", "cannot be reached"),
    ]
    assert guest == ["kept"]


async def test_promises_of_others_come_after_ones_own() -> None:
    own: Promises[list[str]] = Promises()

    @own("first")
    async def _first(guest: list[str]) -> None: ...

    own.include(promises)
    found: list[Finding] = [finding async for finding in own.findings([], patience_seconds=0.01)]
    assert [one.promise for one in found][:2] == ["first", "kept"]
