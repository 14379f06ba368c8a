from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.durations import BadDuration, format_go, human, parse

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR
YEAR = 365 * DAY


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1.9, "0s"),
        (-1, "0s"),
        (0, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (2 * MINUTE, "2m"),
        (2 * MINUTE + 1, "2m1s"),
        (10 * MINUTE - 1, "9m59s"),
        (10 * MINUTE, "10m"),
        (3 * HOUR - 1, "179m"),
        (3 * HOUR, "3h"),
        (3 * HOUR + MINUTE, "3h1m"),
        (8 * HOUR - 1, "7h59m"),
        (8 * HOUR, "8h"),
        (2 * DAY - 1, "47h"),
        (2 * DAY, "2d"),
        (2 * DAY + HOUR, "2d1h"),
        (8 * DAY, "8d"),
        (2 * YEAR - 1, "729d"),
        (2 * YEAR, "2y"),
        (2 * YEAR + DAY, "2y1d"),
        (8 * YEAR - 1, "7y364d"),
        (8 * YEAR, "8y"),
        (9 * YEAR - 1, "8y"),
    ],
)
def test_human(seconds: float, text: str) -> None:
    assert human(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("0s", 0),
        ("1s", 10**9),
        ("+1s", 10**9),
        ("-1.5h", -5400 * 10**9),
        ("1h2m3.5s", 3723_500_000_000),
        ("1ms", 10**6),
        ("1us1µs1ns", 2001),
        (".5s", 5 * 10**8),
        ("1.s", 10**9),
        ("2562047h47m16.854775807s", 2**63 - 1),
        ("-2562047h47m16.854775808s", -(2**63)),
    ],
)
def test_parse(text: str, nanoseconds: int) -> None:
    assert parse(text) == nanoseconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        ("s", 'time: invalid duration "s"'),
        (".s", 'time: invalid duration ".s"'),
        ("3", 'time: missing unit in duration "3"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("1h 2m", 'time: unknown unit "h " in duration "1h 2m"'),
        ("9999999999h", 'time: invalid duration "9999999999h"'),
        ("9" * 5000 + "h", f'time: invalid duration "{"9" * 5000}h"'),
    ],
)
def test_what_is_no_duration(text: str, message: str) -> None:
    with pytest.raises(BadDuration) as refused:
        parse(text)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_500, "1.5µs"),
        (1_500_000, "1.5ms"),
        (10**9, "1s"),
        (60 * 10**9, "1m0s"),
        (3600 * 10**9, "1h0m0s"),
        (-3723_500_000_000, "-1h2m3.5s"),
    ],
)
def test_format_go(nanoseconds: int, text: str) -> None:
    assert format_go(nanoseconds) == text


@given(st.integers(-(2**63), 2**63 - 1))
def test_what_is_printed_is_read_back(nanoseconds: int) -> None:
    assert parse(format_go(nanoseconds)) == nanoseconds
