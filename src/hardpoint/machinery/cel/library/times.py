"""Parts of dates and lengths of time: `t.getFullYear()`, `t.getHours('Europe/Rome')`, `d.getSeconds()`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from hardpoint.machinery.cel.functions import Overload, member
from hardpoint.machinery.cel.instants import date_in
from hardpoint.machinery.cel.types import DURATION, INT, STRING, TIMESTAMP
from hardpoint.machinery.cel.values import Duration, Timestamp

_PARTS: dict[str, Callable[[datetime], int]] = {
    "getFullYear": lambda date: date.year,
    "getMonth": lambda date: date.month - 1,
    "getDayOfYear": lambda date: date.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda date: date.day - 1,
    "getDate": lambda date: date.day,
    "getDayOfWeek": lambda date: date.isoweekday() % 7,
    "getHours": lambda date: date.hour,
    "getMinutes": lambda date: date.minute,
    "getSeconds": lambda date: date.second,
    "getMilliseconds": lambda date: date.microsecond // 1000,
}
_UNITS = {"getHours": 3600 * 10**9, "getMinutes": 60 * 10**9, "getSeconds": 10**9, "getMilliseconds": 10**6}


def _dates(name: str, part: Callable[[datetime], int]) -> list[Overload]:
    def of(moment: Timestamp, zone: str | None = None) -> int:
        return part(date_in(moment, zone))

    return [member(name, (TIMESTAMP,), INT, of), member(name, (TIMESTAMP, STRING), INT, of)]


def _length(name: str, unit: int) -> Overload:
    def of(length: Duration) -> int:
        # Towards zero, as Go does.
        return abs(length.nanoseconds) // unit * (1 if length.nanoseconds >= 0 else -1)

    return member(name, (DURATION,), INT, of)


OVERLOADS = (
    *(overload for name, part in _PARTS.items() for overload in _dates(name, part)),
    *(_length(name, unit) for name, unit in _UNITS.items()),
)
