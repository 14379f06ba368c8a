"""When a cron job runs: five fields of numbers, names, ranges and steps, or a word such as `@daily`; and where."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from hardpoint.machinery import durations
from hardpoint.machinery.fielderrors import quote

_DESCRIPTORS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_INT64_DIGITS_MAX = 18


class BadSchedule(ValueError):
    """Not a schedule; the message is the one kube-apiserver gives."""


@dataclass(frozen=True, slots=True)
class Field:
    """The values one field of a schedule may take, and the names some of them have."""

    least: int
    most: int
    names: Mapping[str, int] = field(default_factory=dict)


def _numbered(first: int, *names: str) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(names, first)}


_MONTHS = _numbered(1, "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = _numbered(0, "sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (Field(0, 59), Field(0, 23), Field(1, 31), Field(1, 12, _MONTHS), Field(0, 6, _DAYS))


@lru_cache(maxsize=1024)
def schedule_problem(text: str) -> str | None:
    """What is wrong with a schedule, or None."""
    try:
        _check(text)
    except BadSchedule as wrong:
        return str(wrong)
    return None


def time_zone_problem(name: str) -> list[str]:
    """What is wrong with the name of a time zone: it must be one that the IANA knows."""
    if not name:
        return ["timeZone must be nil or non-empty string"]
    parts = name.split("/")
    if any(part in (".", "..") or part.startswith("-") or not _ZONE_PART.fullmatch(part) for part in parts):
        return [f"unknown time zone {name}"]
    wrong = []
    if name.lower() == "local":
        wrong.append("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
    if name != "Local" and not _is_known(name):
        wrong.append(f"unknown time zone {name}")
    return wrong


@lru_cache(maxsize=256)
def _is_known(name: str) -> bool:
    """Where this machine has no table of time zones, every well-formed name is believed."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        return not _has_zones()
    return True


@cache
def _has_zones() -> bool:
    return bool(available_timezones())


def _check(text: str) -> None:
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, space, text = text.partition("=")[2].partition(" ")
        if not space:
            raise BadSchedule("invalid schedule format: runtime error: slice bounds out of range [:-1]")
        if zone not in ("", "Local") and not _is_known(zone):
            raise BadSchedule(f"provided bad location {zone}: unknown time zone {zone}")
        text = text.strip()
    if text.startswith("@"):
        _check_descriptor(text)
        return
    parts = text.split()
    if len(parts) != len(_FIELDS):
        raise BadSchedule(f"expected exactly {len(_FIELDS)} fields, found {len(parts)}: [{' '.join(parts)}]")
    for part, bounds in zip(parts, _FIELDS, strict=True):
        for expression in filter(None, part.split(",")):
            _check_range(expression, bounds)


def _check_descriptor(text: str) -> None:
    if text in _DESCRIPTORS:
        return
    if not text.startswith("@every "):
        raise BadSchedule(f"unrecognized descriptor: {text}")
    try:
        durations.parse(text.removeprefix("@every "))
    except durations.BadDuration as wrong:
        raise BadSchedule(f"failed to parse duration {text}: {wrong}") from wrong


def _check_range(text: str, bounds: Field) -> None:
    span, *steps = text.split("/")
    low, *rest = span.split("-")
    if low in ("*", "?"):
        start, end = bounds.least, bounds.most
    else:
        start = _number(low, bounds)
        if len(rest) > 1:
            raise BadSchedule(f"too many hyphens: {text}")
        end = _number(rest[0], bounds) if rest else start
    if len(steps) > 1:
        raise BadSchedule(f"too many slashes: {text}")
    step = _integer(steps[0]) if steps else 1
    if steps and not rest:
        end = bounds.most
    if start < bounds.least:
        raise BadSchedule(f"beginning of range ({start}) below minimum ({bounds.least}): {text}")
    if end > bounds.most:
        raise BadSchedule(f"end of range ({end}) above maximum ({bounds.most}): {text}")
    if start > end:
        raise BadSchedule(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise BadSchedule(f"step of range should be a positive number: {text}")


def _number(text: str, bounds: Field) -> int:
    named = bounds.names.get(text.lower())
    return _integer(text) if named is None else named


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise BadSchedule(f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: invalid syntax")
    if len(text) > _INT64_DIGITS_MAX:
        raise BadSchedule(f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: value out of range")
    number = int(text)
    if number < 0:
        raise BadSchedule(f"negative number ({number}) not allowed: {text}")
    return number
