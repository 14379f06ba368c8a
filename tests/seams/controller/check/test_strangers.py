"""Controllers that others' libraries run are looked at like ours: here one of kopf."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from hardpoint.seams.controller.check import Bench, crashing, promises
from tests.seams.controller.check.benches import bench
from tests.seams.controller.check.test_check import CLEANS, CONFLICTS, CRASHES, LOST, NEIGHBOURS, WORKS

pytest.importorskip("kopf", reason="kopf is not installed")
OPERATOR = Path(__file__).with_name("kopf_operator.py")


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    kopf = bench(tmp_path_factory.mktemp("kopf"), patience_seconds=12.0)
    kopf.command = [sys.executable, str(OPERATOR)]
    kopf.objects = kopf.objects[1:]
    kopf.settle_seconds = 0.8
    return kopf


@pytest.mark.parametrize("kept", [(CONFLICTS, LOST, NEIGHBOURS), (CRASHES, CLEANS)], ids=["disturbed", "crashing"])
async def test_an_operator_of_kopf_is_good(
    operator: Bench, kept: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crashing, "CRASHES_MAX", 4)
    works = await promises.finding(WORKS, operator)
    assert works.outcome == "ok", works.detail
    found = await asyncio.gather(*(promises.finding(promise, operator) for promise in kept))
    assert {each.promise: (each.outcome, each.detail) for each in found} == dict.fromkeys(kept, ("ok", ""))
