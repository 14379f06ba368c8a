"""Values that remember how they were written.

Times, durations and amounts have many spellings: `90s` is `1m30s`. A value that is read and goes elsewhere, say into an
object of another version, is written there as it was read; whatever is computed from it is written our way.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from hardpoint.machinery import durations, quantity, timestamps

_CANONICAL_TIME_LENGTH = len("2026-01-02T03:04:05Z")


class SpelledTime(datetime):
    text = ""
    """As it was written; "" for one that was computed."""


class SpelledDuration(timedelta):
    text = ""


class SpelledQuantity(quantity.Quantity):
    """A quantity whose spelling is not the canonical one."""

    __slots__ = ("written",)

    written: str | int | float


def read_time(value: Any, read: Any) -> datetime:
    """The time that `read` makes of a text."""
    moment: datetime = read(value)
    if not isinstance(value, str) or (len(value) == _CANONICAL_TIME_LENGTH and value[-1] == "Z"):
        return moment
    whole = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond)
    spelled = SpelledTime(*whole, moment.tzinfo)
    spelled.text = value
    return spelled


def time_text(moment: datetime) -> str:
    """A Time. Raises ValueError if nobody can tell which."""
    return getattr(moment, "text", "") or timestamps.format_time(_aware(moment))


def micro_time_text(moment: datetime) -> str:
    return getattr(moment, "text", "") or timestamps.format_micro_time(_aware(moment))


def _aware(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{moment} has no time zone; use datetime.now(UTC), or ctx.now")
    return moment


def read_duration(value: Any, read: Any) -> timedelta:
    """The duration of a text as Go has it; `read` takes what is one already, and knows the bounds."""
    if not isinstance(value, str):
        length: timedelta = read(value)
        return length
    try:
        nanoseconds = durations.parse(value)
    except durations.BadDuration as wrong:
        raise ValueError(str(wrong)) from wrong
    length = read(timedelta(microseconds=nanoseconds // 1000))
    if duration_text(length) == value:
        return length
    spelled = SpelledDuration(length.days, length.seconds, length.microseconds)
    spelled.text = value
    return spelled


def duration_text(length: timedelta) -> str:
    return getattr(length, "text", "") or durations.format_go(length // timedelta(microseconds=1) * 1000)


def read_quantity(value: Any) -> quantity.Quantity:
    """The amount of a text or a number. Raises ValueError."""
    if isinstance(value, quantity.Quantity):
        return value
    try:
        amount = quantity.parse(quantity.json_text(value))
    except quantity.BadQuantity as wrong:
        raise ValueError(str(wrong)) from wrong
    if str(amount) == value:
        return amount
    spelled = SpelledQuantity(amount.digits, amount.exponent, amount.format)
    spelled.written = value
    return spelled


def quantity_json(amount: quantity.Quantity) -> str | int | float:
    return amount.written if isinstance(amount, SpelledQuantity) else str(amount)
