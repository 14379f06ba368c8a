"""Which happenings become Events: series, similar ones, and too many."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.runtime.eventseries import BURST, Correlator, Recent, Series, shortened

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def pod(name: str = "web", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", **metadata},
    }


class Told:
    """A correlator and a clock."""

    def __init__(self) -> None:
        self.correlator = Correlator("crontabs", "crontabs-0")
        self.now = NOW

    def __call__(
        self, note: str = "it started", *, about: dict[str, Any] | None = None, type: str = "Normal", **more: Any
    ) -> Series | None:
        self.now += SECOND
        return self.correlator.note(
            about or pod(), more.get("related"), type, more.get("reason", "Started"), "", note, self.now
        )


@pytest.fixture
def tell() -> Told:
    return Told()


def test_an_event_says_who_what_and_when(tell: Told) -> None:
    series = tell(related=pod("db", resourceVersion="7"))
    assert series is not None
    moment = NOW + SECOND
    assert series.body == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"web.{int(moment.timestamp() * 1e9):x}", "namespace": "shop"},
        "eventTime": "2026-01-02T03:04:06.678901Z",
        "reportingController": "crontabs",
        "reportingInstance": "crontabs-0",
        "action": "Started",
        "reason": "Started",
        "regarding": {"kind": "Pod", "namespace": "shop", "name": "web", "uid": "uid-web", "apiVersion": "v1"},
        "related": {
            "kind": "Pod",
            "namespace": "shop",
            "name": "db",
            "uid": "uid-db",
            "apiVersion": "v1",
            "resourceVersion": "7",
        },
        "note": "it started",
        "type": "Normal",
    }


def test_events_about_the_cluster_are_in_default(tell: Told) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}
    series = tell(about=node)
    assert series is not None
    assert series.body["metadata"]["namespace"] == "default"
    assert "namespace" not in series.body["regarding"]


def test_an_object_whose_name_no_event_can_have(tell: Told) -> None:
    series = tell(about=pod("system:node"))
    assert series is not None
    assert ":" not in series.body["metadata"]["name"]


def test_the_same_again_is_a_series_that_is_told_at_the_second_time(tell: Told) -> None:
    first = tell()
    assert first is not None
    first.written = 1
    assert tell(about=pod(resourceVersion="8")) is first, "another version of an object is the same object"
    assert first.is_due()
    first.written = 2
    assert tell() is None
    assert not first.is_due()
    assert first.series() == {"count": 3, "lastObservedTime": "2026-01-02T03:04:08.678901Z"}
    assert tell.correlator.refreshed() == [first]
    assert first.wanted == 3


def test_a_series_ends_after_six_minutes(tell: Told) -> None:
    first = tell()
    assert first is not None
    first.written = 1
    for _ in range(3):
        tell()
    assert tell.correlator.finished(tell.now + timedelta(minutes=6)) == []
    assert tell.correlator.finished(tell.now + timedelta(minutes=6, seconds=1)) == [first]
    again = tell()
    assert again is not None
    assert again is not first


def test_similar_ones_are_told_as_one_from_the_tenth_on(tell: Told) -> None:
    told = [tell(f"job {number} started") for number in range(14)]
    notes = [series.body["note"] if series is not None else None for series in told]
    assert notes[:9] == [f"job {number} started" for number in range(9)]
    assert notes[9] == "(combined from similar events): job 9 started"
    assert told[10] is told[9]
    assert notes[11:] == [None, None, None]
    tell.now += timedelta(minutes=11)
    fresh = tell("job 99 started")
    assert fresh is not None
    assert fresh.body["note"] == "job 99 started"


def test_a_reporter_may_begin_so_many_about_an_object(tell: Told) -> None:
    begun = [tell(reason=f"Reason{number}") for number in range(BURST + 10)]
    assert [series is not None for series in begun] == [True] * BURST + [False] * 10
    assert tell(reason="Other", about=pod("other")) is not None, "other objects have their own allowance"
    assert tell(reason="Other", type="Warning") is not None, "and so has the other type"
    tell.now += timedelta(minutes=5)
    assert tell(reason="Later") is not None
    assert tell(reason="TooSoon") is None


def test_what_was_not_told_for_spam_is_still_counted(tell: Told) -> None:
    kept = tell()
    assert kept is not None
    kept.written = 1
    for number in range(BURST):
        tell(reason=f"Reason{number}")
    assert tell() is None
    assert kept in tell.correlator.refreshed()
    assert kept.count == 2


HAPPENINGS = st.tuples(st.sampled_from(["Started", "Failed", "Seen"]), st.sampled_from(["a", "b", "c", "d"]))


@given(st.lists(HAPPENINGS))
def test_everything_is_counted_once(happened: list[tuple[str, str]]) -> None:
    tell = Told()
    begun = {tell(note, reason=reason) for reason, note in happened} - {None}
    assert Counter({(one.body["reason"], one.body["note"]): one.count for one in begun if one}) == Counter(happened)
    for one in tell.correlator.refreshed():
        assert one.wanted == one.count


@given(st.text(), st.integers(3, 60))
def test_texts_are_shortened_to_bytes(text: str, bytes_max: int) -> None:
    short = shortened(text, bytes_max)
    assert len(short.encode(errors="replace")) <= bytes_max
    if len(text.encode(errors="surrogatepass")) <= bytes_max:
        assert short == text


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    recent.get("a")
    recent.put("c", 3)
    assert recent.items() == [("a", 1), ("c", 3)]
