"""Patience: work is told about, and whoever waits may end it."""

from __future__ import annotations

import asyncio

import pytest

from hardpoint.machinery import patience
from hardpoint.machinery.lazily import lazily


class Enough(Exception):
    pass


def test_without_a_limit_nobody_is_asked() -> None:
    patience.spend(1 << 60)
    assert not patience.interrupt()


def test_whoever_waits_is_asked_after_so_many_steps_and_told_how_many() -> None:
    told: list[int] = []
    with patience.limited(10, told.append):
        for steps in (4, 6, 1, 10, 100):
            patience.spend(steps)
    patience.spend(100)
    assert told == [11, 110]


def test_what_is_raised_ends_the_work() -> None:
    def enough(_: int) -> None:
        raise Enough

    with patience.limited(1000, enough):
        patience.spend_searching(100, "a" * 1000)
        with pytest.raises(Enough):
            patience.interrupt()


async def test_a_limit_is_for_whoever_set_it() -> None:
    told: list[int] = []

    async def other() -> None:
        await asyncio.sleep(0)
        patience.spend(100)

    task = asyncio.create_task(other())
    with patience.limited(10, told.append):
        await task
    assert told == []


class Thing:
    def __init__(self) -> None:
        self.times = 0

    @lazily
    def answer(self) -> int:
        """What it is."""
        self.times += 1
        return 42


def test_what_is_lazy_is_worked_out_once() -> None:
    thing = Thing()
    assert (thing.answer, thing.answer, thing.times) == (42, 42, 1)
    assert Thing.answer.__doc__ == "What it is."
