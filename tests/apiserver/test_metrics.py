"""The metrics, read back by the parser of Prometheus' own client library."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from hardpoint.apiserver.metrics import BUCKETS, Metrics
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.messages import Request

POD = ("", "v1", "pods", "", "namespace")


def samples(
    metrics: Metrics, name: str, stored: Mapping[tuple[str, str], int] | None = None
) -> list[tuple[dict, float]]:
    """Labels and value of every sample of that name."""
    families = text_string_to_metric_families(metrics.render(stored).decode())
    return [(one.labels, one.value) for family in families for one in family.samples if one.name == name]


def test_requests_are_counted_by_their_labels() -> None:
    metrics = Metrics()
    metrics.observe("create", *POD, 201, 0.001)
    metrics.observe("create", *POD, 201, 0.001)
    metrics.observe("create", *POD, 409, 0.001)
    metrics.observe("create", *POD, 201, 0.001, True)
    labels = {
        "component": "apiserver",
        "dry_run": "",
        "group": "",
        "resource": "pods",
        "scope": "namespace",
        "subresource": "",
        "verb": "POST",
        "version": "v1",
    }
    assert samples(metrics, "apiserver_request_total") == [
        ({"code": "201", **labels}, 2),
        ({"code": "409", **labels}, 1),
        ({"code": "201", **labels, "dry_run": "All"}, 1),
    ]


@given(st.lists(st.floats(0, 100), min_size=1))
def test_a_histogram_adds_up(durations: list[float]) -> None:
    metrics = Metrics()
    for number, seconds in enumerate(durations):
        metrics.observe("get", *POD, 200 + number % 3, seconds)
    buckets = {
        float(labels["le"]): value for labels, value in samples(metrics, "apiserver_request_duration_seconds_bucket")
    }
    for bound in (*BUCKETS, float("inf")):
        assert buckets[bound] == sum(seconds <= bound for seconds in durations)
    ((_, count),) = samples(metrics, "apiserver_request_duration_seconds_count")
    ((_, total),) = samples(metrics, "apiserver_request_duration_seconds_sum")
    assert (count, total) == (len(durations), pytest.approx(sum(durations)))


def test_a_watch_has_no_duration() -> None:
    metrics = Metrics()
    metrics.observe("watch", *POD, 200, 600)
    assert samples(metrics, "apiserver_request_total")[0][0]["verb"] == "WATCH"
    assert not samples(metrics, "apiserver_request_duration_seconds_count")


@pytest.mark.parametrize(
    ("verb", "label"),
    [("get", "GET"), ("GET", "GET"), ("create", "POST"), ("UPDATE", "PUT"), ("watch", "WATCH"), ("brew", "OTHER")],
)
def test_verbs_are_labelled_as_methods(verb: str, label: str) -> None:
    metrics = Metrics()
    metrics.observe(verb, *POD, 200, 0.1)
    assert samples(metrics, "apiserver_request_total")[0][0]["verb"] == label


def test_strangers_cannot_invent_series() -> None:
    metrics = Metrics()
    for number in range(1000):
        metrics.observe(f"brew{number}", "", "", "", "", "", 405, 0.1)
    ((labels, count),) = samples(metrics, "apiserver_request_total")
    assert (labels["verb"], count) == ("OTHER", 1000)


def test_what_runs_now_is_a_gauge() -> None:
    metrics = Metrics()
    metrics.mutating += 1
    with metrics.long_running("watch", *POD):
        ((labels, running),) = samples(metrics, "apiserver_longrunning_requests")
        assert (labels["verb"], running) == ("WATCH", 1)
    assert samples(metrics, "apiserver_longrunning_requests")[0][1] == 0
    assert samples(metrics, "apiserver_current_inflight_requests") == [
        ({"request_kind": "mutating"}, 1),
        ({"request_kind": "readOnly"}, 0),
    ]


def test_stored_objects_are_told_the_old_way_and_the_new() -> None:
    stored = {("apps", "deployments"): 3, ("", "pods"): 12}
    metrics = Metrics()
    assert samples(metrics, "apiserver_storage_objects", stored) == [
        ({"resource": "pods"}, 12),
        ({"resource": "deployments.apps"}, 3),
    ]
    assert samples(metrics, "apiserver_resource_objects", stored)[1] == (
        {"group": "apps", "resource": "deployments"},
        3,
    )


def test_the_process_is_described() -> None:
    metrics = Metrics()
    assert samples(metrics, "process_resident_memory_bytes")[0][1] > 1_000_000
    assert samples(metrics, "process_open_fds")[0][1] > 2
    assert samples(metrics, "process_start_time_seconds")[0][1] > 1_700_000_000


async def test_metrics_are_asked_for(request_for: Callable[..., Request]) -> None:
    async def count() -> Mapping[tuple[str, str], int]:
        return {("", "pods"): 7}

    metrics = Metrics(count)
    answer = await metrics.respond(request_for("/metrics"))
    assert answer is not None
    assert answer.content_type.startswith("text/plain; version=0.0.4")
    assert b'apiserver_storage_objects{resource="pods"} 7\n' in answer.body
    assert await metrics.respond(request_for("/metric")) is None
    with pytest.raises(ApiError):
        await metrics.respond(request_for("/metrics", method="POST"))
