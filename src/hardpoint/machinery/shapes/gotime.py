"""Times that clients send, read as Go's `time.Parse` reads them: rewritten in UTC, or refused in its words.

Once a text has passed here, `timestamps` reads it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hardpoint.machinery import timestamps
from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.remembering import remembered

SECONDS_LAYOUT = "2006-01-02T15:04:05Z07:00"
MICROSECONDS_LAYOUT = "2006-01-02T15:04:05.000000Z07:00"

_DATE_TIME = r"(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})"
_ZONE = r"(?:Z|([+-])(\d{2}):(\d{2}))"
_SECONDS = re.compile(rf"{_DATE_TIME}(?:[.,](\d+))?{_ZONE}", re.ASCII)
_MICROSECONDS = re.compile(rf"{_DATE_TIME}[.,](\d{{6}}){_ZONE}", re.ASCII)

# A layout's elements: what Go prints when the text does not have it, and what the text must look like.
_ELEMENTS = (
    ("2006", r"\d{4}"),
    ("-", "-"),
    ("01", r"\d{2}"),
    ("-", "-"),
    ("02", r"\d{2}"),
    ("T", "T"),
    ("15", r"\d{2}"),
    (":", ":"),
    ("04", r"\d{2}"),
    (":", ":"),
    ("05", r"\d{2}(?:[.,]\d+)?"),
    ("Z07:00", r"Z|[+-]\d{2}:\d{2}"),
)
_MICRO_ELEMENTS = (*_ELEMENTS[:-2], ("05", r"\d{2}"), (".000000", r"[.,]\d{6}"), _ELEMENTS[-1])

_ZERO = datetime.min.replace(tzinfo=UTC)
_LIMITS = (("month", 1, 12), ("day", 1, 31), ("hour", 0, 23), ("minute", 0, 59), ("second", 0, 59))


class BadTime(HardpointError):
    """A text that is no time; the message is Go's."""


@remembered(count=4096)
def seconds(text: str) -> str | None:
    """A Time as Kubernetes writes it; None is the zero time. Raises BadTime."""
    moment = _moment(text, _SECONDS, SECONDS_LAYOUT)
    return timestamps.format_time(moment) if moment else None


@remembered(count=4096)
def microseconds(text: str) -> str | None:
    """A MicroTime as Kubernetes writes it; None is the zero time. Raises BadTime."""
    moment = _moment(text, _MICROSECONDS, MICROSECONDS_LAYOUT)
    return timestamps.format_micro_time(moment) if moment else None


def _moment(text: str, form: re.Pattern[str], layout: str) -> datetime | None:
    match = form.fullmatch(text)
    if match is None:
        raise BadTime(_refusal(text, layout))
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    for (name, lowest, highest), part in zip(_LIMITS, (month, day, hour, minute, second), strict=True):
        if not lowest <= part <= highest:
            raise BadTime(f"parsing time {quote(text)}: {name} out of range")
    fraction, sign, hours, minutes = match.groups()[6:]
    try:
        microsecond = int((fraction or "0")[:6].ljust(6, "0"))
        moment = datetime(year, month, day, hour, minute, second, microsecond, UTC)
        if sign:
            offset = timedelta(hours=int(hours), minutes=int(minutes))
            moment += -offset if sign == "+" else offset
    except (ValueError, OverflowError):
        raise BadTime(f"parsing time {quote(text)}: day out of range") from None
    return None if moment == _ZERO else moment


def _refusal(text: str, layout: str) -> str:
    """Go's words for the first element of the layout that the text does not have."""
    rest = text
    for element, form in _MICRO_ELEMENTS if layout == MICROSECONDS_LAYOUT else _ELEMENTS:
        match = re.compile(form, re.ASCII).match(rest)
        if match is None:
            return f"parsing time {quote(text)} as {quote(layout)}: cannot parse {quote(rest)} as {quote(element)}"
        rest = rest[match.end() :]
    return f"parsing time {quote(text)}: extra text: {quote(rest)}"
