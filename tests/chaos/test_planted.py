"""The campaign finds bugs: it is run on products that have one, and must say so."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.chaos import planted
from tests.chaos.campaign import Report, kill_again_and_again
from tests.chaos.process import API_ALONE, Server

KILLS_TO_FIND_IT = 50


async def campaign(plant: Callable[[], None], place: Path, chance: random.Random, *, rounds: int) -> Report:
    program = (sys.executable, str(Path(planted.__file__)), plant.__name__)
    server = Server(place, program=program, arguments=API_ALONE)
    try:
        await server.start()
        return await kill_again_and_again(server, chance, place / "history.jsonl", rounds=rounds)
    finally:
        await server.kill()


@pytest.mark.parametrize("bug", planted.BUGS, ids=lambda bug: bug.__name__)
async def test_a_planted_bug_is_found(bug: Callable[[], None], tmp_path: Path, chance: random.Random) -> None:
    report = await campaign(bug, tmp_path, chance, rounds=KILLS_TO_FIND_IT)
    print(report, *report.broken[:3], sep="\n")
    assert report.broken


async def test_compaction_at_every_moment_breaks_nothing(tmp_path: Path, chance: random.Random, is_long: bool) -> None:
    rounds = 200 if is_long else 20
    report = await campaign(planted.compacted_all_the_time, tmp_path, chance, rounds=rounds)
    print(report)
    assert report.broken == []
    assert report.forgotten * 2 < report.rounds, "most histories must be kept long enough to be judged"
