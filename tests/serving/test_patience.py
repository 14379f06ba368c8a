"""How long a peer may take, told in seconds that do not pass."""

from __future__ import annotations

import pytest

from hardpoint.serving.limits import Limits
from hardpoint.serving.patience import Patience, Verdict
from hardpoint.serving.reading import Phase

LIMITS = Limits(head_seconds=10, idle_seconds=20, body_grace_seconds=5, body_bytes_per_second_min=100, stall_seconds=30)


@pytest.fixture
def patience() -> Patience:
    return Patience(LIMITS, now=0)


def test_a_quiet_connection_is_closed_after_a_while(patience: Patience) -> None:
    assert patience.reading(Phase.BETWEEN, 0, 0, 20) is Verdict.FINE
    assert patience.reading(Phase.BETWEEN, 0, 0, 21) is Verdict.QUIET


def test_a_connection_in_use_is_never_quiet(patience: Patience) -> None:
    for message in range(100):
        assert patience.reading(Phase.BETWEEN, message, 0, now=message * 19) is Verdict.FINE


def test_a_head_that_trickles_in_is_refused(patience: Patience) -> None:
    verdicts = [patience.reading(Phase.HEAD, 1, 0, now) for now in range(1, 13)]
    assert verdicts == [Verdict.FINE] * 11 + [Verdict.SLOW]


def test_a_body_has_to_keep_up(patience: Patience) -> None:
    assert patience.reading(Phase.BODY, 1, 0, now=0) is Verdict.FINE
    assert patience.reading(Phase.BODY, 1, 0, now=5) is Verdict.FINE
    assert patience.reading(Phase.BODY, 1, 600, now=6) is Verdict.FINE
    assert patience.reading(Phase.BODY, 1, 600, now=7) is Verdict.SLOW


def test_handling_takes_as_long_as_it_takes(patience: Patience) -> None:
    for now in range(0, 10_000, 100):
        assert patience.working(now) is Verdict.FINE
    assert patience.reading(Phase.BETWEEN, 1, 0, 10_000) is Verdict.FINE, "the quiet begins after the answer"


def test_an_answer_nobody_takes_ends_the_connection(patience: Patience) -> None:
    assert patience.writing(1000, now=0) is Verdict.FINE
    assert patience.writing(900, now=29) is Verdict.FINE
    assert patience.writing(900, now=58) is Verdict.FINE
    assert patience.writing(900, now=60) is Verdict.STALLED
