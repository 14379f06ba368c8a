"""Which of the things that happen become Events, and which are only counted. The rules are client-go's.

The same thing again is a series: one Event with a count, told at the second time, then every half hour while it goes
on, and when six minutes have passed without it. A thing that differs by its words alone is an Event of its own; from
the tenth such within ten minutes they are told as one. And a reporter may begin 25 Events about an object at once, then
one every five minutes. It is all decided from values that come in; writing Events is `recorder.py`'s business.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from hardpoint.machinery import names
from hardpoint.machinery.timestamps import format_micro_time

Json = dict[str, Any]
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

FINISH = timedelta(minutes=6)
REFRESH = timedelta(minutes=30)
SIMILAR_MAX = 10
SIMILAR_WITHIN = timedelta(minutes=10)
BURST = 25
REFILL = timedelta(minutes=5)
REMEMBERED_MAX = 4096
NOTE_BYTES_MAX = 1024
WORD_BYTES_MAX = 128
"""Of a reason, an action and a reporting instance."""
COMBINED = "(combined from similar events): "


class Happening(NamedTuple):
    """Something that happened, as far as its being the same as another is concerned."""

    regarding: tuple[tuple[str, str], ...]
    related: tuple[tuple[str, str], ...]
    type: str
    reason: str
    action: str
    note: str | None
    """None stands for many similar ones."""


@dataclass(eq=False, slots=True)
class Series:
    """An Event, how often that happened, and how much of it is told."""

    body: Json
    """The Event, without its series."""
    last_seen: datetime
    count: int = 1
    wanted: int = 1
    """Up to which count it shall be told."""
    written: int = 0
    """Up to which count it has been; nothing was while it is 0."""

    def is_due(self) -> bool:
        return self.written < self.wanted

    def want_all(self) -> bool:
        """Have all of it told. Whether there is anything new."""
        self.wanted = self.count
        return self.is_due()

    def series(self) -> Json:
        return {"count": self.count, "lastObservedTime": format_micro_time(self.last_seen)}


class Recent(Generic[K, V]):
    """A dict that forgets what was not used for longest."""

    def __init__(self, count_max: int = REMEMBERED_MAX) -> None:
        self._kept: OrderedDict[K, V] = OrderedDict()
        self._count_max = count_max

    def get(self, key: K) -> V | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: K, value: V) -> V:
        self._kept[key] = value
        if len(self._kept) > self._count_max:
            self._kept.popitem(last=False)
        return value

    def pop(self, key: K) -> None:
        self._kept.pop(key, None)

    def items(self) -> list[tuple[K, V]]:
        return list(self._kept.items())


@dataclass(slots=True)
class _Similar:
    last_seen: datetime
    notes: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Allowance:
    left: float
    since: datetime

    def take(self, now: datetime) -> bool:
        """Spend one, if there is one."""
        refilled = max(now - self.since, timedelta()) / REFILL
        self.left, self.since = min(self.left + refilled, BURST), now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Correlator:
    """What one reporter has had to say lately."""

    def __init__(self, reporter: str, instance: str) -> None:
        self._reporter = reporter
        self._instance = shortened(instance, WORD_BYTES_MAX)
        self._series: Recent[Happening, Series] = Recent()
        self._similar: Recent[Happening, _Similar] = Recent()
        self._allowances: Recent[Hashable, _Allowance] = Recent()

    def note(
        self, about: Json, related: Json | None, type: str, reason: str, action: str, note: str, now: datetime
    ) -> Series | None:
        """Count something; the Event that is to be written now because of it, if there is one to be.

        Raises KeyError for an object without a kind or a name.
        """
        regarding = reference(about)
        happening = self._combined(
            Happening(
                _identity(regarding),
                _identity(reference(related)) if related is not None else (),
                type,
                shortened(reason, WORD_BYTES_MAX),
                shortened(action or reason, WORD_BYTES_MAX),
                note,
            ),
            now,
        )
        series = self._series.get(happening)
        if series is not None:
            return self._counted(happening, series, now)
        if not self._may_begin(happening, now):
            return None
        words = f"{COMBINED}{note}" if happening.note is None else note
        body = self._body(happening, regarding, related, words, now)
        return self._series.put(happening, Series(body, now))

    def finished(self, now: datetime) -> list[Series]:
        """Forget what has not happened for a while; the Events that have to be brought up to date before."""
        over = [(key, series) for key, series in self._series.items() if now - series.last_seen > FINISH]
        for key, _ in over:
            self._series.pop(key)
        return [series for _, series in over if series.want_all()]

    def refreshed(self) -> list[Series]:
        """The Events that have to be brought up to date."""
        return [series for _, series in self._series.items() if series.want_all()]

    def _combined(self, happening: Happening, now: datetime) -> Happening:
        """The same, or what stands for it and others if there are too many that differ by their words alone."""
        alike = happening._replace(note=None)
        similar = self._similar.get(alike)
        if similar is None or now - similar.last_seen > SIMILAR_WITHIN:
            similar = self._similar.put(alike, _Similar(now))
        similar.last_seen = now
        similar.notes.add(happening.note or "")
        if len(similar.notes) < SIMILAR_MAX:
            return happening
        similar.notes.pop()
        return alike

    def _counted(self, happening: Happening, series: Series, now: datetime) -> Series | None:
        series.count += 1
        series.last_seen = now
        if series.count > 2 or not self._may_begin(happening, now):
            return None
        series.wanted = 2
        return series

    def _may_begin(self, happening: Happening, now: datetime) -> bool:
        key = (happening.regarding, happening.type)
        allowance = self._allowances.get(key) or self._allowances.put(key, _Allowance(BURST, now))
        return allowance.take(now)

    def _body(self, happening: Happening, regarding: Json, related: Json | None, note: str, now: datetime) -> Json:
        namespace = regarding.get("namespace") or "default"
        body = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": _event_name(regarding["name"], now), "namespace": namespace},
            "eventTime": format_micro_time(now),
            "reportingController": self._reporter,
            "reportingInstance": self._instance,
            "action": happening.action,
            "reason": happening.reason,
            "regarding": regarding,
            "note": shortened(note, NOTE_BYTES_MAX),
            "type": happening.type,
        }
        return body if related is None else body | {"related": reference(related)}


def reference(about: Json) -> Json:
    """What refers to an object. Raises KeyError for one without a kind or a name."""
    metadata = about["metadata"]
    found = {
        "kind": about["kind"],
        "namespace": metadata.get("namespace"),
        "name": metadata["name"],
        "uid": metadata.get("uid"),
        "apiVersion": about["apiVersion"],
        "resourceVersion": metadata.get("resourceVersion"),
    }
    return {key: value for key, value in found.items() if value}


def shortened(text: str, bytes_max: int) -> str:
    """The beginning of a text, and dots if there was more."""
    if names.length(text) <= bytes_max:
        return text
    return text.encode(errors="replace")[: bytes_max - 3].decode(errors="ignore") + "..."


def _identity(reference: Json) -> tuple[tuple[str, str], ...]:
    # An object that has changed is still the object that something happens to again and again.
    return tuple((key, value) for key, value in reference.items() if key != "resourceVersion")


def _event_name(name: str, now: datetime) -> str:
    """The object's name and the moment; where an Event cannot be named so, a name that nobody else has."""
    unique = f"{name}.{int(now.timestamp() * 1e9):x}"
    return unique if not names.dns_subdomain(unique) else str(uuid.uuid4())
