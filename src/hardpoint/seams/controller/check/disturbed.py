"""Whatever a correct API, the network and other clients may do, the world ends as it does without that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from hardpoint.runtime.promises import Broken, NotAsked, Promises, expect
from hardpoint.seams.controller.check.trial import Bench, Trial
from hardpoint.seams.controller.check.undisturbed import undisturbed
from hardpoint.seams.controller.host import Fault, Plan, faults

LOOKS_PER_SECOND_MAX = 20
IMPATIENT_SECONDS = 1.5
WAITING_SHARE = 0.9
"""How much of the time a Retry-After names must have passed; clocks and sockets take their share."""

THROTTLED_MAX = 6

promises: Promises[Bench] = Promises()

ALL: Sequence[Fault] = (
    *faults.FAILURES,
    *faults.FAILURES_AFTER,
    *faults.CUTS,
    *faults.CUTS_AFTER,
    faults.SLOW,
    faults.CONFLICT,
    *faults.GONE,
    faults.WATCH_CUT,
    faults.LATE,
    faults.NO_BOOKMARKS,
    faults.STALE,
)
DISTURBANCES: Sequence[tuple[str, Sequence[Fault], bool]] = (
    ("somebody else changes objects under its hands (409)", (faults.CONFLICT,), False),
    ("requests fail before anything was done (500, 503, cut connections)", (*faults.FAILURES, *faults.CUTS), False),
    ("writes are done but the answer is lost", (*faults.FAILURES_AFTER, *faults.CUTS_AFTER), False),
    ("watches are too old (410), so that events come again or not at all", faults.GONE, False),
    ("watches are cut in the middle of an event", (faults.WATCH_CUT,), False),
    ("events come late", (faults.LATE,), True),
    ("lists show an older state", (faults.STALE,), True),
    ("answers are slow", (faults.SLOW,), False),
    ("all of that happens at once", ALL, False),
)
"""What happens, as which faults, and whether to every request each time."""


def _converges(happening: Sequence[Fault], *, always: bool) -> Callable[[Bench], Awaitable[None]]:
    async def test(bench: Bench) -> None:
        expected = (await undisturbed(bench)).expected
        async with bench.trial(Plan(happening, bench.seed, always)) as trial:
            await trial.create_objects()
            await trial.converge(expected)
            if not trial.record.faults():
                raise NotAsked("it made no request that this can happen to")

    return test


for words, happening, always in DISTURBANCES:
    promises(f"it ends in the same state when {words}")(_converges(happening, always=always))


@promises("it comes back no sooner than a 429 asks, and ends in the same state")
async def _waits(bench: Bench) -> None:
    expected = (await undisturbed(bench)).expected
    async with bench.trial(Plan((faults.TOO_MANY,), bench.seed, strikes_max=THROTTLED_MAX)) as trial:
        await trial.create_objects()
        await trial.settle(faults.RETRY_AFTER_SECONDS + bench.settle_seconds)
        await trial.converge(expected)
        _expect_patience(trial)


def _expect_patience(trial: Trial) -> None:
    struck = [each for each in trial.record.faults() if each.fault == faults.TOO_MANY.name]
    throttled = {(each.method, each.path, each.body): each for each in struck}
    for each in trial.record.asked:
        told = throttled.get((each.method, each.path, each.body))
        if told is None or each.number <= told.number:
            continue
        waited = each.seconds - told.seconds
        if waited < WAITING_SHARE * faults.RETRY_AFTER_SECONDS:
            asked = faults.RETRY_AFTER_SECONDS
            raise Broken(f"was asked to wait {asked} s and came back after {waited:.2f} s: {each}; before, {told}")


@promises("watches that end as soon as they begin do not make it ask in a tight loop")
async def _no_tight_loop(bench: Bench) -> None:
    await undisturbed(bench)
    async with bench.trial(Plan((faults.WATCH_OVER,), bench.seed, always=True)) as trial:
        await trial.create_objects()
        began = trial.api.seconds
        await trial.pass_time(IMPATIENT_SECONDS)
        request, times = trial.record.most_repeated(began)
        rate = times / IMPATIENT_SECONDS
        expect(rate <= LOOKS_PER_SECOND_MAX, f"asked {rate:.0f} times a second: {request}")
