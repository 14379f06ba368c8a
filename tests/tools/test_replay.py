"""The replay tool: what it takes out of an answer, what it counts, and what a recording of v1.37 says about us."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import orjson
import pytest

from hardpoint.client.transport import Answer

ROOT = Path(__file__).parents[2]
REFERENCE = Path(os.environ.get("HARDPOINT_REFERENCE", ROOT.parent / "shared" / "reference"))
OURS = {
    "cronjobs",
    "daemonsets",
    "deployments",
    "jobs",
    "pods",
    "podtemplates",
    "replicasets",
    "replicationcontrollers",
    "statefulsets",
}


@pytest.fixture(scope="module")
def replay() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replay", ROOT / "tools" / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["replay"] = module
    spec.loader.exec_module(module)
    return module


def answer(status: int, body: Any, warning: str = "") -> Answer:
    return Answer(status, {"warning": warning} if warning else {}, orjson.dumps(body))


def recording(folder: Path, *exchanges: Any) -> str:
    file = folder / "answers.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps(exchange) for exchange in exchanges))
    return str(file)


def config_map(recorded: Any) -> Any:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}}
    return {"name": "a map", "url": "api/v1/namespaces/default/configmaps", "body": body, "answer": recorded}


STORED = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "default"},
    "data": {"k": "v"},
}


def test_what_no_two_servers_share_is_taken_out(replay: ModuleType) -> None:
    uid = "0123abcd-0123-4abc-8abc-0123456789ab"
    body = {
        "kind": "Service",
        "metadata": {"name": "a", "uid": uid, "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"owner": uid}},
        "spec": {"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"], "volume": "kube-api-access-x7k2p"},
        "status": {"loadBalancer": {}},
    }
    assert replay.normalized(answer(201, body)) == [
        201,
        {
            "kind": "Service",
            "metadata": {"name": "a", "labels": {"owner": "<uid>"}},
            "spec": {"clusterIP": "<ip>", "clusterIPs": "<ip>", "volume": "kube-api-access-<x>"},
        },
        [],
    ]


def test_an_empty_status_stays(replay: ModuleType) -> None:
    assert replay.normalized(answer(201, {"kind": "Job", "status": {}}))[1] == {"kind": "Job", "status": {}}


def test_causes_are_sorted_and_warnings_told_apart(replay: ModuleType) -> None:
    causes = [{"reason": "B", "field": "b", "message": "2"}, {"reason": "A", "field": "a", "message": "1"}]
    body = {"reason": "Invalid", "message": "no", "details": {"causes": causes}}
    warning = '299 - "one, \\"two\\"", 299 - "three"'
    assert replay.normalized(answer(422, body, warning)) == [
        422,
        "Invalid",
        "no",
        [["A", "a", "1"], ["B", "b", "2"]],
        ['299 - "one, \\"two\\""', '299 - "three"'],
    ]


def test_a_server_of_our_own_is_asked(replay: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = recording(tmp_path, config_map([201, STORED, []]), config_map([409, "AlreadyExists", "taken", [], []]))
    assert replay.main([file, "--diff", "1", "--at-least", "50"]) == 0
    printed = capsys.readouterr().out
    assert "--- configmaps a map" in printed
    assert '-  "AlreadyExists",' in printed
    assert "1 of 2 answers are the same: 50.0 %" in printed
    assert replay.main([file, "--at-least", "51"]) == 1


def test_a_recording_without_exchanges_is_misuse(
    replay: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = recording(tmp_path, config_map([201, STORED, []]))
    assert replay.main([file, "--kind", "pods"]) == 2
    assert "no exchanges to replay" in capsys.readouterr().err
    assert replay.main([str(tmp_path / "missing")]) == 2


@pytest.mark.skipif(
    not (REFERENCE / "answers.jsonl").exists(), reason="no answers recorded from v1.37; set HARDPOINT_REFERENCE"
)
async def test_pods_and_workloads_are_answered_as_v1_37_answers_them(replay: ModuleType) -> None:
    exchanges = [each for each in replay.read(REFERENCE / "answers.jsonl") if each.kind in OURS]
    async with replay.asking(None) as client:
        results = await replay.replay(client, exchanges)
    different = [result for result in results if not result.is_same]
    shown = "\n".join(replay.difference(result) for result in different[:5])
    assert len(different) <= 0.01 * len(results), shown
