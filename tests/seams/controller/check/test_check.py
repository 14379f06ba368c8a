"""The conformance kit of the controller seam passes a good controller, and names what is wrong with others."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from hardpoint.seams.controller.check import Bench, crashing, disturbed, promises, undisturbed
from tests.seams.controller.check.benches import bench

WORKS = "given objects it does its work, and then rests"
RESTS = "at rest it asks for next to nothing"
CLEANS = "objects that go are cleaned up after: nothing it made stays, and no finalizer"
IS_DOWN = "objects that go while it is not running are cleaned up after"
CRASHES = "killed right before and right after each of its writes, it ends in the same state"
CRASHES_CLEANING = "killed right before and right after each write of a clean-up, it leaves nothing behind"
NEIGHBOURS = "fields that others set stay as they are: labels, annotations, conditions"
SURVIVES = "objects it does not understand do not keep it from the others: new fields, odd values"
LEASE = "it writes nothing once somebody else holds its lease, and goes on when it has it back"
THROTTLED = "it comes back no sooner than a 429 asks, and ends in the same state"
TIGHT = "watches that end as soon as they begin do not make it ask in a tight loop"
STALE = "it ends in the same state when lists show an older state"
LOST = "it ends in the same state when writes are done but the answer is lost"
FAILS = "it ends in the same state when requests fail before anything was done (500, 503, cut connections)"
CONFLICTS = "it ends in the same state when somebody else changes objects under its hands (409)"

NOT_ASKED = {STALE: "it made no request that this can happen to", LEASE: "it holds no Lease"}
"""What cannot happen to the small controller, which never asks for old lists and holds no lease."""


@pytest.fixture(autouse=True)
def few_crashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crashing, "CRASHES_MAX", 6)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The small controller; what it does undisturbed is found out once."""
    return bench(tmp_path_factory.mktemp("good"))


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(undisturbed.promises.words, id="undisturbed"),
        pytest.param(disturbed.promises.words[:5], id="disturbed"),
        pytest.param(disturbed.promises.words[5:], id="disturbed in other ways"),
        pytest.param(crashing.promises.words[:3], id="crashing"),
        pytest.param(crashing.promises.words[3:], id="cleaning up"),
        pytest.param((NEIGHBOURS, SURVIVES, LEASE), id="with neighbours"),
    ],
)
async def test_a_good_controller_keeps_every_promise(good: Bench, kept: tuple[str, ...]) -> None:
    await promises.finding(WORKS, good)
    found = await asyncio.gather(*(promises.finding(promise, good) for promise in kept))
    expected = {promise: ("skip", NOT_ASKED[promise]) if promise in NOT_ASKED else ("ok", "") for promise in kept}
    assert {each.promise: (each.outcome, each.detail) for each in found} == expected


async def test_the_rights_of_a_good_controller_are_those_it_used(good: Bench) -> None:
    found = await promises.finding("the rights it needs can be told", good)
    assert "core configmaps: list,patch" in found.detail
    assert "example.com greetings/status: patch" in found.detail


@pytest.mark.parametrize(
    ("defect", "promise", "words"),
    [
        pytest.param("hot-loop", WORKS, "it did not come to rest in 3 s", id="never rests"),
        pytest.param("polls", RESTS, "GET /apis/example.com/v1/greetings", id="polls"),
        pytest.param("keeps-finalizer", CLEANS, "finalizers ['example.com/archive'] were not removed", id="finalizer"),
        pytest.param("no-owner", CLEANS, "left behind: ConfigMap default/bye-0 (no owner)", id="leaks"),
        pytest.param("relies-on-events", IS_DOWN, "ConfigMap archive/default.bye (no owner)", id="relies on events"),
        pytest.param("relies-on-events", CRASHES_CLEANING, "killed right", id="leaks on a crash"),
        pytest.param("makes-before-it-tells", LOST, "times, undisturbed 1", id="creates again after a lost answer"),
        pytest.param("gives-up", FAILS, "is missing", id="gives up"),
        pytest.param("ignores-409", CONFLICTS, "somebody else changed the object first", id="ignores conflicts"),
        pytest.param("impatient", THROTTLED, "was asked to wait 1 s and came back after 0.0", id="ignores 429"),
        pytest.param("tight", TIGHT, "times a second: GET /apis/example.com/v1/greetings", id="tight loop"),
        pytest.param("overwrites", NEIGHBOURS, "an annotation of ConfigMap default/bye-0", id="overwrites children"),
        pytest.param(
            "overwrites-status", NEIGHBOURS, "a condition of Greeting default/bye", id="overwrites conditions"
        ),
        pytest.param("crashes-on-unknown", SURVIVES, "unexpected keyword argument", id="crashes on a new field"),
        pytest.param("trusts-old-lists", STALE, "(list of an older state)", id="trusts old lists"),
        pytest.param("leads-for-ever", LEASE, "wrote although hardpoint-check-rival held its lease", id="leads on"),
    ],
)
async def test_a_defect_is_found_and_named(tmp_path: Path, defect: str, promise: str, words: str) -> None:
    found = await promises.finding(promise, bench(tmp_path, defect, patience_seconds=3.0))
    assert (found.outcome, words in found.detail) == ("FAIL", True), found


async def test_a_crash_between_two_writes_shows_what_was_made_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crashing, "CRASHES_MAX", 8)
    found = await promises.finding(CRASHES, bench(tmp_path, "makes-before-it-tells", patience_seconds=3.0))
    assert "ConfigMap default/" in found.detail
    assert "times, undisturbed 1; request" in found.detail
    assert "POST /api/v1/namespaces/default/configmaps (killed right after it), seed 0" in found.detail


async def test_a_controller_that_leads_and_stops_when_it_must_is_good(tmp_path: Path) -> None:
    found = await promises.finding(LEASE, bench(tmp_path, "leads"))
    assert found.outcome == "ok", found.detail


@pytest.mark.parametrize(
    ("command", "words"),
    [
        pytest.param(["no-such-program"], "no-such-program cannot be run: No such file", id="no program"),
        pytest.param([sys.executable, "-c", "exit('no luck')"], "listed and watched nothing in 1 s", id="ends at once"),
        pytest.param(["sleep", "60"], "it listed and watched nothing in 1 s", id="does nothing"),
    ],
)
async def test_what_is_no_controller_breaks_the_first_promise(tmp_path: Path, command: list[str], words: str) -> None:
    broken = bench(tmp_path, patience_seconds=1.0)
    broken.command, broken.start_seconds = command, 1.0
    found = await promises.finding(WORKS, broken)
    assert words in found.detail
    after = await promises.finding(RESTS, broken)
    assert after.outcome == "skip"


async def test_a_controller_that_is_given_nothing_of_its_kind_is_told_so(tmp_path: Path) -> None:
    idle = bench(tmp_path)
    idle.objects = idle.objects[:1]
    found = await promises.finding(WORKS, idle)
    assert found.detail == "it wrote nothing when it was given ConfigMap; name others with --objects"


def test_each_part_of_the_kit_is_in_it() -> None:
    assert {*undisturbed.promises.words, *disturbed.promises.words, *crashing.promises.words} < set(promises.words)
