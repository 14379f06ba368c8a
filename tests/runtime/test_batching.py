"""Batches: nothing told is lost or told twice, and nobody who tells waits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.runtime.batching import Batches, Pace


class Sink:
    """Remembers its batches, and takes none while it is shut."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.came = asyncio.Event()

    async def take(self, batch: Sequence[int]) -> None:
        self.batches.append(list(batch))
        self.came.set()
        await self.is_open.wait()


async def test_a_full_batch_does_not_wait() -> None:
    sink = Sink()
    batches = Batches(sink.take, buffer_max=10, batch_max=2, wait_seconds=3600)
    async with batches.running():
        batches.put(1)
        batches.put(2)
        await sink.came.wait()
        assert sink.batches == [[1, 2]]


async def test_a_lonely_item_leaves_in_time() -> None:
    sink = Sink()
    batches = Batches(sink.take, buffer_max=10, batch_max=5, wait_seconds=0.01)
    async with batches.running():
        batches.put(1)
        await sink.came.wait()
        assert sink.batches == [[1]]


async def test_what_does_not_fit_is_refused() -> None:
    sink = Sink()
    sink.is_open.clear()
    batches = Batches(sink.take, buffer_max=2, batch_max=1, wait_seconds=3600)
    async with batches.running():
        assert batches.put(1)
        await sink.came.wait()
        assert batches.put(2)
        assert batches.put(3)
        assert not batches.put(4)
        sink.is_open.set()
    assert sink.batches == [[1], [2], [3]]
    assert not batches.put(5)


async def test_what_is_too_large_together_is_refused() -> None:
    sink = Sink()
    batches = Batches(sink.take, buffer_max=10, batch_max=10, wait_seconds=3600, weigh=abs, weight_max=10)
    async with batches.running():
        assert [batches.put(item) for item in (6, 5, 4, 1)] == [True, False, True, False]
    assert sink.batches == [[6, 4]]


async def test_several_may_be_under_way() -> None:
    sink = Sink()
    sink.is_open.clear()
    batches = Batches(sink.take, buffer_max=10, batch_max=1, wait_seconds=3600, parallel=2)
    async with batches.running():
        for item in range(3):
            batches.put(item)
        await sink.came.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        assert sink.batches == [[0], [1]]
        sink.is_open.set()
    assert sink.batches == [[0], [1], [2]]


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=12), st.integers(1, 4))
def test_everything_arrives_once_and_in_order(bursts: list[int], batch_max: int) -> None:
    async def tell() -> list[list[int]]:
        sink = Sink()
        batches = Batches(sink.take, buffer_max=1000, batch_max=batch_max, wait_seconds=0.0)
        async with batches.running():
            number = 0
            for burst in bursts:
                for _ in range(burst):
                    batches.put(number)
                    number += 1
                await asyncio.sleep(0)
        return sink.batches

    told = asyncio.run(tell())
    assert [item for batch in told for item in batch] == list(range(sum(bursts)))
    assert all(0 < len(batch) <= batch_max for batch in told)


@given(st.lists(st.floats(0, 2), min_size=1, max_size=40))
def test_a_pace_is_kept(pauses: list[float]) -> None:
    pace = Pace(per_second=10, burst=3)
    now, sent = 100.0, []
    for pause in pauses:
        now += pause
        now += pace.delay_seconds(now)
        sent.append(now)
    for number, moment in enumerate(sent):
        within = [other for other in sent[number:] if other < moment + 1]
        assert len(within) <= 10 + 3 + 1


def test_after_a_rest_a_burst_goes_at_once() -> None:
    pace = Pace(per_second=10, burst=3)
    assert [round(pace.delay_seconds(100.0), 6) for _ in range(4)] == [0.0, 0.0, 0.0, 0.1]
