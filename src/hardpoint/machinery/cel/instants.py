"""Points and lengths of time as text, to the nanosecond; and a point's date in some time zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal

from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.values import Duration, Timestamp, checked_timestamp

_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})"
)
_OFFSET = re.compile(r"([+-]?[0-9]+):([+-]?[0-9]+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 10**9


def parse_timestamp(text: str) -> Timestamp:
    """Raises EvaluationError for what is not RFC 3339."""
    wrong = EvaluationError("type conversion error from 'string' to 'google.protobuf.Timestamp'")
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise wrong
    *parts, fraction, zone = match.groups()
    try:
        moment = datetime(*map(int, parts), tzinfo=UTC)  # type: ignore[misc, arg-type]  # Six numbers, by the pattern.
    except ValueError:
        raise wrong from None
    offset = 0 if zone == "Z" else int(zone[:3]) * 3600 + int(f"{zone[0]}{zone[4:]}") * 60
    if abs(offset) >= 24 * 3600:
        raise wrong
    seconds = (moment - _EPOCH) // timedelta(seconds=1) - offset
    return checked_timestamp(seconds * _SECOND + int((fraction or "0").ljust(9, "0")[:9]))


def format_timestamp(moment: Timestamp) -> str:
    seconds, nanoseconds = divmod(moment.nanoseconds, _SECOND)
    date = _EPOCH + timedelta(seconds=seconds)
    text = f"{date.year:04d}{date.strftime('-%m-%dT%H:%M:%S')}"
    fraction = f".{nanoseconds:09d}".rstrip("0") if nanoseconds else ""
    return f"{text}{fraction}Z"


def format_duration(length: Duration) -> str:
    """Seconds, `1.5s`."""
    seconds = Decimal(repr(length.nanoseconds / _SECOND))
    return f"{seconds.normalize() + 0:f}s"


def date_in(moment: Timestamp, zone: str | None) -> datetime:
    """The moment as a date; without a zone, in UTC. Raises EvaluationError for a zone nobody knows."""
    date = _EPOCH + timedelta(microseconds=moment.nanoseconds // 1000)
    return date if zone is None else date.astimezone(_zone(zone))


def _zone(name: str) -> tzinfo:
    if ":" in name:
        return _offset(name)
    if name in ("", "UTC"):
        return UTC
    from zoneinfo import ZoneInfo  # Few expressions name a zone.

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise EvaluationError(f"unknown time zone {name}") from None


def _offset(text: str) -> tzinfo:
    match = _OFFSET.fullmatch(text)
    if match is None or len(text) > 12:
        raise EvaluationError(f"invalid time zone offset: {text}")
    hours, minutes = int(match[1]), int(match[2])
    if not 0 <= minutes <= 59:
        raise EvaluationError(f"timezone offset minutes out of range [0, 59]: {text}")
    total = hours * 60 - minutes if text.startswith("-") else hours * 60 + minutes
    if abs(total) >= 24 * 60:
        raise EvaluationError(f"invalid time zone offset: {text}")
    return timezone(timedelta(minutes=total))
