"""A controller that is killed at any moment, or does not hear of a change, makes up for it."""

from __future__ import annotations

from hardpoint.runtime.promises import Promises
from hardpoint.seams.controller.check.trial import Bench, Trial
from hardpoint.seams.controller.check.undisturbed import GRACE_SECONDS, undisturbed

CRASHES_MAX = 30

promises: Promises[Bench] = Promises()


@promises("killed right before and right after each of its writes, it ends in the same state")
async def _crashes(bench: Bench) -> None:
    expected = (await undisturbed(bench)).expected
    async with bench.trial() as trial:
        trial.api.crash_at_writes(trial.crash, times_max=CRASHES_MAX)
        await trial.create_objects()
        await trial.converge(expected)


@promises("killed right before and right after each write of a clean-up, it leaves nothing behind")
async def _crashes_while_cleaning(bench: Bench) -> None:
    await undisturbed(bench)
    async with bench.trial() as trial:
        await _work(trial)
        trial.api.crash_at_writes(trial.crash, times_max=CRASHES_MAX)
        await trial.delete_objects()
        await trial.expect_nothing_left()


@promises("objects that come while the API is away are not missed")
async def _misses_creation(bench: Bench) -> None:
    expected = (await undisturbed(bench)).expected
    async with bench.trial() as trial:
        trial.api.be_away()
        await trial.create_objects()
        await _come_back(trial)
        await trial.converge(expected)


@promises("objects that go while the API is away are cleaned up after")
async def _misses_deletion(bench: Bench) -> None:
    await undisturbed(bench)
    async with bench.trial() as trial:
        await _work(trial)
        trial.api.be_away()
        await trial.delete_objects()
        await _come_back(trial)
        await trial.expect_nothing_left()


@promises("objects that go while it is not running are cleaned up after")
async def _is_down(bench: Bench) -> None:
    await undisturbed(bench)
    async with bench.trial() as trial:
        await _work(trial)
        await trial.program.stop(grace_seconds=GRACE_SECONDS)
        await trial.free_leases()
        await trial.delete_objects()
        trial.program.resume()
        await trial.expect_nothing_left()


@promises("objects that go are cleaned up after: nothing it made stays, and no finalizer")
async def _cleans_up(bench: Bench) -> None:
    await undisturbed(bench)
    async with bench.trial() as trial:
        await _work(trial)
        await trial.delete_objects()
        await trial.expect_nothing_left()


async def _work(trial: Trial) -> None:
    await trial.create_objects()
    await trial.settle()


async def _come_back(trial: Trial) -> None:
    listed = await trial.client.list("namespaces")
    trial.api.return_having_forgotten(int(listed["metadata"]["resourceVersion"]))
    await trial.wait_until_it_looks_again()
