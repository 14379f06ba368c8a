"""Lengths of time: the short form tables show (`5d4h`), and Go's own notation (`1h2m3.5s`)."""

from __future__ import annotations

import re
from datetime import timedelta

from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.fielderrors import quote

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_YEAR = 365 * _DAY

# Below a limit, an age is told in one unit, or in two of which the smaller is left out when it is zero.
_STEPS: tuple[tuple[int, tuple[tuple[int, str], ...]], ...] = (
    (2 * _MINUTE, ((1, "s"),)),
    (10 * _MINUTE, ((_MINUTE, "m"), (1, "s"))),
    (3 * _HOUR, ((_MINUTE, "m"),)),
    (8 * _HOUR, ((_HOUR, "h"), (_MINUTE, "m"))),
    (2 * _DAY, ((_HOUR, "h"),)),
    (8 * _DAY, ((_DAY, "d"), (_HOUR, "h"))),
    (2 * _YEAR, ((_DAY, "d"),)),
    (8 * _YEAR, ((_YEAR, "y"), (_DAY, "d"))),
)

NANOSECONDS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")
_INT64_MAX = 2**63 - 1


class BadDuration(HardpointError):
    """A text that is no duration; the message is Go's."""


def human(length: timedelta) -> str:
    """About how long, in at most two units. Clocks differ, so up to two seconds in the future are no time at all."""
    # Go truncates towards zero where Python rounds down.
    seconds = int(length.total_seconds())
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    for limit, units in _STEPS:
        if seconds < limit:
            return _told(seconds, units)
    return f"{seconds // _YEAR}y"


def _told(seconds: int, units: tuple[tuple[int, str], ...]) -> str:
    text = ""
    for size, unit in units:
        amount, seconds = divmod(seconds, size)
        if amount or not text:
            text += f"{amount}{unit}"
    return text


def parse(text: str) -> int:
    """The nanoseconds of a Go duration. Raises BadDuration in Go's words."""
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in ("-", "+") and text else text
    if rest == "0":
        return 0
    if not rest:
        raise BadDuration(f"time: invalid duration {quote(text)}")
    total = 0
    at = 0
    while at < len(rest):
        part = _PART.match(rest, at)
        assert part is not None
        total += _nanoseconds(part, text)
        at = part.end()
        if total > _INT64_MAX + (sign < 0):
            raise BadDuration(f"time: invalid duration {quote(text)}")
    return sign * total


def _nanoseconds(part: re.Match[str], whole: str) -> int:
    number, fraction, unit = part.group(1), part.group(2) or "", part.group(3)
    if not (number or fraction) or len(number) > 20:
        raise BadDuration(f"time: invalid duration {quote(whole)}")
    if not unit:
        raise BadDuration(f"time: missing unit in duration {quote(whole)}")
    if unit not in NANOSECONDS:
        raise BadDuration(f"time: unknown unit {quote(unit)} in duration {quote(whole)}")
    scale = NANOSECONDS[unit]
    whole_units = int(number or "0") * scale
    part_of_unit: int = int(fraction[:18] or "0") * scale // 10 ** len(fraction[:18])
    return whole_units + part_of_unit


def format_go(nanoseconds: int) -> str:
    """As Go prints a Duration: `1h2m3.5s`, `1.5ms`, `0s`."""
    if nanoseconds == 0:
        return "0s"
    sign, size = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if size < 10**9:
        unit = next(unit for unit in ("ms", "µs", "ns") if size >= NANOSECONDS[unit])
        return f"{sign}{_decimal(size, NANOSECONDS[unit])}{unit}"
    minutes, rest = divmod(size, 60 * 10**9)
    text = f"{_decimal(rest, 10**9)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
    return sign + text


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    fraction = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)
