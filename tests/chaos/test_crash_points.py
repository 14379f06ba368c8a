"""A crash inside the store, at each of its steps: before and after the commit, the news of it, the forgetting."""

from __future__ import annotations

import asyncio
import random
import sys
from itertools import count
from pathlib import Path

import pytest

from hardpoint.store import failpoints
from tests.chaos import planted
from tests.chaos.campaign import Report, one_round
from tests.chaos.process import API_ALONE, UP, Server, running
from tests.chaos.workload import Workload, list_ours

COMPACTING = (sys.executable, str(Path(planted.__file__)), planted.compacted_all_the_time.__name__)
POINTS = {
    "store.before_commit": (UP, 0.1),
    "store.after_commit": (UP, 0.1),
    "store.before_publish": (UP, 0.1),
    "store.before_checkpoint": (UP, 1.0),
    "store.after_checkpoint": (UP, 1.0),
    "store.before_floor": (COMPACTING, 0.1),
    "store.before_sweep": (COMPACTING, 0.1),
    "store.after_sweep": (COMPACTING, 0.1),
}
"""Where it crashes, in which program, and how likely that is each time it gets there."""
CRASHES, CRASHES_LONG = 1, 50
LIFE_SECONDS_MAX = 0.4


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("point", POINTS)
async def test_a_crash_here_loses_nothing(point: str, tmp_path: Path, chance: random.Random, is_long: bool) -> None:
    report, stamps, crashes = Report(), count(), 0
    wanted = CRASHES_LONG if is_long else CRASHES
    program, probability = POINTS[point]
    async with running(Server(tmp_path, program=program, arguments=API_ALONE)) as server:

        async def end() -> None:
            nonlocal crashes
            try:
                async with asyncio.timeout(LIFE_SECONDS_MAX):
                    crashes += await server.ended() == failpoints.EXIT_CODE
            except TimeoutError:
                await server.kill()
            # It is looked at in peace.
            del server.environment[failpoints.VARIABLE]

        while min(crashes, report.rounds) < wanted and not report.broken:
            before = await list_ours(server)
            await server.kill()
            server.environment[failpoints.VARIABLE] = f"{point}=panic:{probability}"
            await server.start_somehow(failpoints.EXIT_CODE)
            await one_round(server, before, Workload(server, chance, stamps=stamps), tmp_path / "history", report, end)
    print(f"{crashes} crashes; {report}")
    assert report.broken == []
