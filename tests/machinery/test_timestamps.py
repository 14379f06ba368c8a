from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.timestamps import BadTimestamp, format_micro_time, format_time, parse_time, since

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678901, UTC)


def test_time_is_in_whole_seconds() -> None:
    assert format_time(MOMENT) == "2026-01-02T03:04:05Z"


def test_micro_time_has_six_digits() -> None:
    assert format_micro_time(MOMENT) == "2026-01-02T03:04:05.678901Z"
    assert format_micro_time(MOMENT.replace(microsecond=0)) == "2026-01-02T03:04:05.000000Z"


def test_other_zones_are_told_in_utc() -> None:
    assert format_time(MOMENT.astimezone(timezone(timedelta(hours=5)))) == "2026-01-02T03:04:05Z"


def test_early_years_have_four_digits() -> None:
    assert format_time(datetime(1, 1, 1, tzinfo=UTC)) == "0001-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-02T03:04:05Z", MOMENT.replace(microsecond=0)),
        ("2026-01-02T03:04:05.678901Z", MOMENT),
        ("2026-01-02T03:04:05.678901999Z", MOMENT),
        ("2026-01-02T08:04:05+05:00", MOMENT.replace(microsecond=0)),
    ],
)
def test_parse_time(text: str, moment: datetime) -> None:
    assert parse_time(text) == moment
    assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-02T03:04:05"])
def test_what_is_no_timestamp(text: str) -> None:
    with pytest.raises(BadTimestamp):
        parse_time(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_micro_times_round_trip(moment: datetime) -> None:
    assert parse_time(format_micro_time(moment)) == moment


def test_since() -> None:
    assert since("2026-01-02T03:04:00Z", MOMENT.replace(microsecond=0)) == timedelta(seconds=5)
    assert since(None, MOMENT) is since("", MOMENT) is since("nonsense", MOMENT) is None
