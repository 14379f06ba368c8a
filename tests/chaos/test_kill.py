"""`kill -9` at any moment: whatever was acknowledged is there, in the order in which it was acknowledged.

What this cannot show is a sync that was skipped: the kernel keeps what a killed process has written. Power cuts are
simulated below the store, in its own tests.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.chaos.campaign import kill_again_and_again
from tests.chaos.process import API_ALONE, Server, running

PARTS = 4
"""The campaign is cut into parts so that several workers can share it."""
KILLS, KILLS_LONG = 100, 1000


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("part", range(PARTS))
async def test_nothing_acknowledged_is_lost(part: int, tmp_path: Path, chance: random.Random, is_long: bool) -> None:
    rounds = (KILLS_LONG if is_long else KILLS) // PARTS
    async with running(Server(tmp_path, arguments=API_ALONE)) as server:
        report = await kill_again_and_again(server, chance, tmp_path / "history.jsonl", rounds=rounds)
    print(report)
    assert report.broken == [], f"the record is {tmp_path / 'history.jsonl'}"
