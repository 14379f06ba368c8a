"""A controller's metrics: controller-runtime's names and labels, read back by Prometheus' own parser."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from time import perf_counter

from prometheus_client.parser import text_string_to_metric_families

from hardpoint.runtime.controllermetrics import QUEUE_BUCKETS, RECONCILE_BUCKETS, ControllerMetrics
from hardpoint.runtime.workqueue import WorkQueue

Told = dict[tuple[str, tuple[tuple[str, str], ...]], float]

RECONCILE = {
    "controller_runtime_reconcile_total": ("counter", {"controller", "result"}),
    "controller_runtime_reconcile_errors_total": ("counter", {"controller"}),
    "controller_runtime_terminal_reconcile_errors_total": ("counter", {"controller"}),
    "controller_runtime_reconcile_panics_total": ("counter", {"controller"}),
    "controller_runtime_reconcile_time_seconds": ("histogram", {"controller", "le"}),
    "controller_runtime_max_concurrent_reconciles": ("gauge", {"controller"}),
    "controller_runtime_active_workers": ("gauge", {"controller"}),
}
QUEUE = {
    "workqueue_depth": ("gauge", {"name", "controller", "priority"}),
    "workqueue_adds_total": ("counter", {"name", "controller"}),
    "workqueue_queue_duration_seconds": ("histogram", {"name", "controller", "le"}),
    "workqueue_work_duration_seconds": ("histogram", {"name", "controller", "le"}),
    "workqueue_unfinished_work_seconds": ("gauge", {"name", "controller"}),
    "workqueue_longest_running_processor_seconds": ("gauge", {"name", "controller"}),
    "workqueue_retries_total": ("counter", {"name", "controller"}),
}
OTHERS = {
    "rest_client_requests_total": ("counter", {"code", "method", "host"}),
    "leader_election_master_status": ("gauge", {"name"}),
}


def told(metrics: ControllerMetrics) -> Told:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
    }


def test_names_types_and_labels_are_those_of_controller_runtime() -> None:
    metrics = ControllerMetrics()
    metrics.controller("tabs", workers=4)
    metrics.queue("tabs")
    metrics.requested("200", "GET", "127.0.0.1:6443")
    metrics.leads("tabs", True)
    found = {}
    for family in text_string_to_metric_families(metrics.render().decode()):
        name = f"{family.name}_total" if family.type == "counter" else family.name
        found[name] = (family.type, {label for sample in family.samples for label in sample.labels})
    ours = {name: shape for name, shape in found.items() if not name.startswith("process_")}
    assert ours == RECONCILE | QUEUE | OTHERS
    assert "process_cpu_seconds_total" in found


def test_the_guide_names_them_all() -> None:
    guide = (Path(__file__).parents[2] / "docs/guides/operating-controllers.md").read_text()
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", guide, re.MULTILINE))
    assert rows.keys() == (RECONCILE | QUEUE | OTHERS).keys()
    for name, (_, labels) in (RECONCILE | QUEUE | OTHERS).items():
        assert set(re.findall(r"[a-z]+", rows[name].partition(":")[0])) == labels - {"le"}, name


def test_reconciles_are_counted_by_how_they_ended() -> None:
    metrics = ControllerMetrics()
    counts = metrics.controller("tabs", workers=4)
    counts.ended("success", 0.02)
    counts.ended("error", 0.3, is_panic=True)
    counts.ended("error", 70, is_terminal=True)
    counts.ended("requeue_after", 0.001)
    counts.active += 1
    found = told(metrics)
    tabs = ("controller", "tabs")
    by_result = {dict(labels)["result"]: n for (name, labels), n in found.items() if name.endswith("reconcile_total")}
    assert by_result == {"success": 1, "error": 2, "requeue": 0, "requeue_after": 1}
    for name, value in {
        "controller_runtime_reconcile_errors_total": 2,
        "controller_runtime_terminal_reconcile_errors_total": 1,
        "controller_runtime_reconcile_panics_total": 1,
        "controller_runtime_max_concurrent_reconciles": 4,
        "controller_runtime_active_workers": 1,
        "controller_runtime_reconcile_time_seconds_count": 4,
    }.items():
        assert found[name, (tabs,)] == value, name
    assert found["controller_runtime_reconcile_time_seconds_bucket", (tabs, ("le", "0.025"))] == 2


def test_buckets_are_those_of_controller_runtime() -> None:
    assert len(RECONCILE_BUCKETS) == 40
    assert RECONCILE_BUCKETS[0] == 0.005
    assert RECONCILE_BUCKETS[-1] == 60
    assert len(QUEUE_BUCKETS) == 12
    assert all(abs(bound / (1e-8 * 10**power) - 1) < 1e-9 for power, bound in enumerate(QUEUE_BUCKETS))


async def test_a_queue_tells_what_it_does() -> None:
    metrics = ControllerMetrics()
    counts = metrics.queue("tabs")
    queue: WorkQueue[str] = WorkQueue("tabs", metrics=counts)
    counts.queue = queue
    is_looking, may_end = asyncio.Event(), asyncio.Event()

    async def look(item: str) -> None:
        is_looking.set()
        await may_end.wait()
        if item == "bad":
            raise ValueError

    queue.add("bad", priority=7)
    queue.add("late", priority=-100)
    queue.add("late too", priority=-100)
    working = asyncio.create_task(queue.work(look))
    await is_looking.wait()
    found = told(metrics)
    named = (("controller", "tabs"), ("name", "tabs"))
    assert found["workqueue_depth", (*named, ("priority", "-100"))] == 2
    assert found["workqueue_adds_total", named] == 3
    assert found["workqueue_unfinished_work_seconds", named] > 0
    assert found["workqueue_longest_running_processor_seconds", named] > 0
    may_end.set()
    await queue.wait_until_idle()
    found = told(metrics)
    assert found["workqueue_retries_total", named] >= 1
    assert found["workqueue_work_duration_seconds_count", named] >= 3
    working.cancel()
    await asyncio.wait([working])


def test_priorities_without_end_are_one_series() -> None:
    metrics = ControllerMetrics()

    class Everything:
        def depths(self) -> dict[int, int]:
            return dict.fromkeys(range(100), 1)

        def busy_seconds(self) -> list[float]:
            return []

    metrics.queue("tabs").queue = Everything()
    depths = {dict(labels)["priority"]: n for (name, labels), n in told(metrics).items() if name == "workqueue_depth"}
    assert depths == {"exceeded_cardinality_limit": 100}


def test_counting_costs_next_to_nothing() -> None:
    counts = ControllerMetrics().controller("tabs")
    times = 20_000
    best = min(_seconds(counts.ended, times) for _ in range(5))
    # A microsecond is meant; the rest is for machines that are busy with other things.
    assert best / times < 10e-6


def _seconds(count: object, times: int) -> float:
    began = perf_counter()
    for _ in range(times):
        count("success", 0.02)  # type: ignore[operator] # whatever counts
    return perf_counter() - began
