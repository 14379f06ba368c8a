"""The log of changes: who waits is told, and nothing is left of who gave up."""

from __future__ import annotations

import asyncio

from hardpoint.apiserver import hub
from hardpoint.apiserver.hub import Change, Log
from hardpoint.store.contract import Event


def change(revision: int) -> Change:
    return Change(Event(f"/registry/core/pods/default/p{revision}", b"{}", revision, None))


async def test_many_watchers_are_told_together() -> None:
    log = Log(0)
    count = hub.MANY_WATCHERS + 1
    waiting = [asyncio.create_task(log.grown(0, 30)) for _ in range(count)]
    await asyncio.sleep(0)
    log.append(change(1))
    log.wake()
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    log.append(change(2))
    log.wake()
    assert await asyncio.gather(*waiting) == [True] * count
    assert len(log.changes) == 2


async def test_few_watchers_are_told_at_once() -> None:
    log = Log(0)
    waiting = asyncio.create_task(log.grown(0, 30))
    await asyncio.sleep(0)
    log.append(change(1))
    log.wake()
    await asyncio.sleep(0)
    assert waiting.done()


async def test_nothing_is_left_of_who_gave_up() -> None:
    log = Log(0)
    assert not await log.grown(0, 0)
    cut = asyncio.create_task(log.grown(0, 30))
    await asyncio.sleep(0)
    cut.cancel()
    await asyncio.wait([cut])
    assert not log._waiting
