"""Points in time as Kubernetes writes them: `Time` in whole seconds, `MicroTime` with six digits, both in UTC.

The time itself always comes in as an argument. Texts that clients send are checked by the shapes; here they are read
back once they are known to be good.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from hardpoint.machinery.errors import HardpointError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


class BadTimestamp(HardpointError):
    """A text that is no RFC 3339 timestamp."""


def format_time(moment: datetime) -> str:
    """`2026-01-02T03:04:05Z`; fractions of a second are dropped."""
    since = (moment if moment.tzinfo is UTC else moment.astimezone(UTC)) - _EPOCH
    return _text(since // _SECOND)


@lru_cache(maxsize=64)
def _text(seconds: int) -> str:
    """A second since 1970. A busy server asks for the same one again and again."""
    return (_EPOCH + seconds * _SECOND).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def format_micro_time(moment: datetime) -> str:
    """`2026-01-02T03:04:05.000006Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def parse_time(text: str) -> datetime:
    """A Time or MicroTime, in UTC. Raises BadTimestamp."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as cause:
        raise BadTimestamp(f"{text!r} is no timestamp; write it like 2026-01-02T03:04:05Z") from cause
    if moment.tzinfo is None:
        raise BadTimestamp(f"{text!r} has no time zone; end it in Z for UTC")
    return moment.astimezone(UTC)


def since(text: str | None, now: datetime) -> timedelta | None:
    """How long ago a timestamp was; None if it is missing, empty or unreadable."""
    if not text:
        return None
    try:
        return now - parse_time(text)
    except (BadTimestamp, OverflowError):
        return None
