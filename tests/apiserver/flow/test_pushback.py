"""Retry-After grows while refusals go on and shrinks when they cease; refusals leave at a bounded rate."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver.flow.pushback import RETRY_AFTER_MAX, Brake, RetryAfter


def test_it_doubles_while_refusals_go_on() -> None:
    after = RetryAfter()
    told = [after.refuse(second) for second in range(100, 170) for _ in range(100)]
    assert told[0] == 1
    assert sorted(set(told)) == [1, 2, 4, 8, 16, 32]
    assert told[-1] == RETRY_AFTER_MAX


def test_it_shrinks_one_by_one_when_they_cease() -> None:
    after = RetryAfter()
    for second in range(100, 104):
        for _ in range(100):
            after.refuse(second)
    grown = after.seconds
    assert grown > 1
    told = [after.refuse(second) for second in range(200, 200 + 10 * grown, 10)]
    assert told == sorted(told, reverse=True)
    assert told[-1] == 1


@given(st.lists(st.integers(0, 5), max_size=200))
def test_it_is_never_less_than_a_second_nor_more_than_the_most(pauses: list[int]) -> None:
    after, now = RetryAfter(), 0
    for pause in pauses:
        now += pause
        assert 1 <= after.refuse(now) <= RETRY_AFTER_MAX


@given(st.lists(st.floats(0, 0.01), min_size=1, max_size=500))
def test_a_brake_lets_no_more_through_and_nobody_waits_for_long(pauses: list[float]) -> None:
    brake = Brake(per_second=100, burst=10, wait_seconds_max=0.5)
    now, leaving = 50.0, []
    for pause in pauses:
        now += pause
        delay = brake.delay_seconds(now)
        assert 0 <= delay <= 0.5
        leaving.append((now + delay, delay))
    begun = [moment for moment, delay in leaving if delay < 0.5]
    for moment in begun:
        assert len([other for other in begun if moment <= other < moment + 0.1]) <= 10 + 10 + 2
