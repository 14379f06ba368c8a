"""Rounds of writing, killing and looking: the same for the product and for products with a bug planted in them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from tests.chaos import history
from tests.chaos.checker import Round, broken_promises
from tests.chaos.history import Change, Listing, change
from tests.chaos.process import Server
from tests.chaos.wire import LOST, Wire
from tests.chaos.workload import Workload, list_ours, replay, watching

KILL_SECONDS = (0.001, 0.060)
"""How long after the first answer of a round the server is killed."""
ACKNOWLEDGED_MIN = 4
"""A round in which less was acknowledged proves too little to be counted."""
ANSWER_SECONDS_MAX = 20.0


@dataclass
class Report:
    """What a campaign came to."""

    rounds: int = 0
    too_quiet: int = 0
    forgotten: int = 0
    """Rounds whose history was compacted before it could be watched again."""
    acknowledged: int = 0
    unknown: int = 0
    ready_seconds: list[float] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        slowest = max(self.ready_seconds)
        return (
            f"{self.rounds} kills counted, {self.too_quiet} too quiet, {self.forgotten} compacted away, "
            f"{self.acknowledged} acknowledged, {self.unknown} unknown, {len(self.broken)} promises broken, "
            f"ready again after {sorted(self.ready_seconds)[len(self.ready_seconds) // 2]:.2f} s "
            f"({slowest:.2f} s at most)"
        )


async def kill_again_and_again(server: Server, chance: random.Random, record: Path, *, rounds: int) -> Report:
    """Kill the server in so many rounds that count, or until it breaks a promise. It is left running."""

    async def end() -> None:
        await asyncio.sleep(chance.uniform(*KILL_SECONDS))  # The moment of death is what is being varied.
        await server.kill()

    report = Report()
    stamps = count()
    while report.rounds < rounds and not report.broken:
        assert report.too_quiet <= 3 * rounds, "the machine is too slow for this campaign: most rounds are too quiet"
        before = await list_ours(server)
        await one_round(server, before, Workload(server, chance, stamps=stamps), record, report, end)
    return report


async def one_round(
    server: Server,
    before: Listing,
    workload: Workload,
    record: Path,
    report: Report,
    end: Callable[[], Awaitable[None]],
) -> None:
    """Let the clients write until `end` has ended the server, start it again, and judge what is left."""
    async with asyncio.TaskGroup() as tasks:
        looking_on = tasks.create_task(_look_on(server, before), name="live watch")
        tasks.create_task(workload.run(), name="workload")
        async with asyncio.timeout(ANSWER_SECONDS_MAX):
            await workload.first_answer.wait()
        await end()
    history.write(record, workload.operations)
    started = time.monotonic()
    await server.start()
    report.ready_seconds.append(time.monotonic() - started)
    await _judge(server, Round(before, workload.operations, looking_on.result(), before, ()), report)


async def _look_on(server: Server, before: Listing) -> list[Change]:
    seen: list[Change] = []
    with suppress(*LOST):
        wire = await Wire.open(server)
        try:
            async for event in wire.watch(watching(before.revision)):
                seen.append(change(event))
        finally:
            wire.cut()
    return seen


async def _judge(server: Server, found: Round, report: Report) -> None:
    """Look at what is left after a kill."""
    after = await list_ours(server)
    happened = await replay(server, found.before, after)
    acknowledged = sum(each.outcome == "done" and each.verb != "get" for each in found.operations)
    if happened is None:
        report.forgotten += 1
    else:
        report.broken += broken_promises(Round(found.before, found.operations, found.live, after, happened))
    if acknowledged < ACKNOWLEDGED_MIN:
        report.too_quiet += 1
    else:
        report.rounds += 1
        report.acknowledged += acknowledged
        report.unknown += sum(each.outcome == "unknown" for each in found.operations)
