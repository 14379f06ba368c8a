"""The sequences tool: what it takes out of an answer, and what a recording of v1.37 says about our apply."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import orjson
import pytest

from hardpoint.client.transport import Answer

ROOT = Path(__file__).parents[2]
REFERENCE = Path(os.environ.get("HARDPOINT_REFERENCE", ROOT.parent / "shared" / "reference"))


@pytest.fixture(scope="module")
def sequences() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import sequences  # type: ignore[import-not-found, unused-ignore]
    finally:
        sys.path.pop(0)
    return sequences


def answer(status: int, body: object) -> Answer:
    return Answer(status, {}, orjson.dumps(body))


def test_what_differs_between_servers_is_taken_out(sequences: ModuleType) -> None:
    metadata = {
        "name": "x",
        "uid": "u",
        "resourceVersion": "7",
        "managedFields": [{"manager": "b", "time": "t"}, {"manager": "a", "time": "t"}],
    }
    obj = {"kind": "Service", "metadata": metadata, "spec": {"clusterIP": "10.0.0.1"}, "status": {"a": 1}}
    code, left = sequences.normalized(answer(200, obj))
    assert (code, left["spec"]) == (200, {"clusterIP": "<ip>"})
    assert left["metadata"] == {"name": "x", "managedFields": [{"manager": "b"}, {"manager": "a"}]}


def test_refusals_are_told_without_times_and_objects(sequences: ModuleType) -> None:
    status = {
        "reason": "Conflict",
        "message": 'conflict with "m" using v1 at 2026-01-01T00:00:00Z: .a; Invalid value: "{\\"a\\":1}": no',
        "details": {"causes": [{"reason": "r", "field": "b", "message": "m"}, {"reason": "r", "field": "a"}]},
    }
    assert sequences.normalized(answer(409, status)) == [
        409,
        "Conflict",
        'conflict with "m" using v1: .a; Invalid value: <object>',
        [["r", "a", ""], ["r", "b", "m"]],
    ]


@pytest.mark.skipif(not (REFERENCE / "sequences.jsonl").exists(), reason=f"no recorded sequences at {REFERENCE}")
def test_every_recorded_step_is_the_same(sequences: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    found = sequences.main([str(REFERENCE / "sequences.jsonl"), "--diff", "3", "--at-least", "100"])
    assert found == 0, capsys.readouterr().out


def test_a_recording_that_is_not_there_is_a_mistake(sequences: ModuleType, tmp_path: Path) -> None:
    assert sequences.main([str(tmp_path / "none.jsonl")]) == 2
