"""What a controller does when nothing goes wrong: the measure of everything else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from hardpoint.runtime.promises import Broken, NotAsked, Promises, expect
from hardpoint.seams.controller.check.state import Expected, State
from hardpoint.seams.controller.check.trial import Bench, Trial
from hardpoint.seams.controller.host import Record

REQUESTS_PER_SECOND_MAX = 5.0
GRACE_SECONDS = 30.0
"""How long a pod may take to end after it was asked to."""

promises: Promises[Bench] = Promises()


@dataclass(frozen=True, slots=True)
class Rest:
    """What came of two undisturbed runs."""

    expected: Expected
    record: Record
    rest_began: float
    rest_ended: float


async def undisturbed(bench: Bench) -> Rest:
    """What came of two undisturbed runs, which are made once. Raises NotAsked if they did not end well."""
    if "rest" not in bench.memory:
        try:
            bench.memory["rest"] = await _run_twice(bench)
        except Broken as broken:
            bench.memory["rest"] = broken
    found = bench.memory["rest"]
    if isinstance(found, Broken):
        raise NotAsked("it does not even do its work when nothing goes wrong; see the first promise")
    assert isinstance(found, Rest)
    return found


async def _run_twice(bench: Bench) -> Rest:
    """One after the other: programs have ports of their own, which two of them could not both take."""
    trial, state, began, ended = await _run(bench)
    _, other, _, _ = await _run(bench)
    return Rest(Expected.of(state, other), trial.record, began, ended)


async def _run(bench: Bench) -> tuple[Trial, State, float, float]:
    async with bench.trial() as trial:
        await trial.create_objects()
        await trial.settle()
        expect(not trial.program.exits, f"the program {''.join(map(str, trial.program.exits[:1]))}")
        if not trial.record.writes():
            await _wait_for_a_slow_one(trial)
        began = trial.api.seconds
        await asyncio.sleep(bench.settle_seconds)
        return trial, await trial.state(), began, trial.api.seconds


async def _wait_for_a_slow_one(trial: Trial) -> None:
    """One may look at the world at once and take its time to act."""
    try:
        await trial.wait_until_it_writes()
    except Broken:
        given = ", ".join(sorted({each["kind"] for each in trial.bench.objects})) or "nothing"
        raise Broken(f"it wrote nothing when it was given {given}; name others with --objects") from None
    await trial.settle()


@promises("given objects it does its work, and then rests")
async def _works(bench: Bench) -> None:
    try:
        await undisturbed(bench)
    except NotAsked:
        broken: Any = bench.memory["rest"]
        raise broken from None


@promises("at rest it asks for next to nothing")
async def _rests(bench: Bench) -> None:
    rest = await undisturbed(bench)
    seconds = rest.rest_ended - rest.rest_began
    asked = [each for each in rest.record.asked if rest.rest_began <= each.seconds <= rest.rest_ended]
    request, times = rest.record.most_repeated(rest.rest_began)
    calm = len(asked) <= max(REQUESTS_PER_SECOND_MAX * seconds, REQUESTS_PER_SECOND_MAX)
    expect(calm, f"made {len(asked)} requests in {seconds:.1f} s with nothing to do, {times} times {request}")


@promises("it ends when it is asked to, and when it is started again it changes nothing")
async def _restarts(bench: Bench) -> None:
    await undisturbed(bench)
    async with bench.trial() as trial:
        await trial.create_objects()
        await trial.settle()
        before = _versions(await trial.objects())
        began = trial.api.seconds
        expect(await trial.program.stop(grace_seconds=GRACE_SECONDS), f"did not end in {GRACE_SECONDS:g} s")
        trial.program.resume()
        await trial.settle()
        after = _versions(await trial.objects())
        changed = sorted(name for name in before | after if before.get(name) != after.get(name))
        writes = "; ".join(str(each) for each in trial.record.writes(began)[:1])
        expect(not changed, f"after a restart it changed {', '.join(changed[:5])}: {writes}")


def _versions(objects: list[dict[str, Any]]) -> dict[str, str]:
    """Which version each object has."""
    return {
        f"{each['kind']} {each['metadata'].get('namespace', '')}/{each['metadata']['name']}": each["metadata"][
            "resourceVersion"
        ]
        for each in objects
    }
