"""Watches that are cut off again and again, by clients that leave and servers that die: every event once, in order."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from tests.chaos.history import Change, change
from tests.chaos.process import API_ALONE, Server, running
from tests.chaos.wire import LOST, Wire
from tests.chaos.workload import MARK, Workload, list_ours, replay, watching

WATCHERS = 6
LIVES, LIVES_LONG = 6, 120
LIFE_SECONDS = (0.1, 0.6)
STAY_SECONDS = (0.0, 0.1)
"""How long a watcher stays connected."""
RETRY_SECONDS = 0.02


@dataclass
class Watcher:
    """Follows by revision, and never learns: it leaves in the middle of whatever it is being told."""

    server: Server
    chance: random.Random
    revision: int
    seen: list[Change] = field(default_factory=list)
    connections: int = 0

    async def follow(self, upto: asyncio.Event) -> None:
        """Watch until the mark has been seen, which is written once `upto` is set."""
        while not (upto.is_set() and self.seen and self.seen[-1].name == MARK):
            stays = self.chance.uniform(*STAY_SECONDS) if not upto.is_set() else 1.0
            try:
                async with asyncio.timeout(stays):
                    await self._one_connection()
            except TimeoutError:
                continue
            except LOST:
                await asyncio.sleep(RETRY_SECONDS)  # As a client would, rather than knock without pause.

    async def _one_connection(self) -> None:
        wire = await Wire.open(self.server)
        self.connections += 1
        try:
            async for event in wire.watch(watching(self.revision)):
                assert event["type"] in ("ADDED", "MODIFIED", "DELETED"), event
                self.seen.append(change(event))
                self.revision = self.seen[-1].revision
        finally:
            wire.cut()


@pytest.mark.timeout(600)
async def test_every_event_once_and_in_order(tmp_path: Path, chance: random.Random, is_long: bool) -> None:
    async with running(Server(tmp_path, arguments=API_ALONE)) as server:
        before = await list_ours(server)
        watchers = [Watcher(server, chance, before.revision) for _ in range(WATCHERS)]
        is_over = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            for watcher in watchers:
                tasks.create_task(watcher.follow(is_over), name="watcher")
            await live_and_die(server, chance, LIVES_LONG if is_long else LIVES)
            after = await list_ours(server)
            is_over.set()
            happened = await replay(server, before, after)
    assert happened is not None
    print(f"{len(happened)} events over {sum(watcher.connections for watcher in watchers)} connections")
    assert len(happened) > 10 * (LIVES_LONG if is_long else LIVES), "too quiet to count"
    for watcher in watchers:
        assert [seen for seen in watcher.seen if seen.name != MARK] == happened


async def live_and_die(server: Server, chance: random.Random, lives: int) -> None:
    """Write, kill, start again."""
    stamps = count()
    for _ in range(lives):
        workload = Workload(server, chance, stamps=stamps)
        writing = asyncio.create_task(workload.run(), name="workload")
        await workload.first_answer.wait()
        await asyncio.sleep(chance.uniform(*LIFE_SECONDS))  # The moment of death is what is being varied.
        await server.kill()
        await writing
        await server.start()
