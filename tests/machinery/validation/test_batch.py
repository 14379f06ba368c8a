"""Jobs and cron jobs: indexes, policies, schedules, and the template that stays."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import defaults, kinds, strategies, validation
from hardpoint.machinery.fielderrors import FieldError
from hardpoint.machinery.validation.batch_policies import BadIndexes, count_indexes
from hardpoint.machinery.validation.batch_schedule import schedule_problem, time_zone_problem

Json = dict[str, Any]

JOB, CRON_JOB = (next(kind for kind in kinds.builtin() if kind.kind == name) for name in ("Job", "CronJob"))
TEMPLATE = {"spec": {"containers": [{"name": "c", "image": "nginx"}], "restartPolicy": "Never"}}
INDEXED = {"completionMode": "Indexed", "completions": 3, "parallelism": 2}


def told(errors: list[FieldError]) -> list[str]:
    return [str(error) for error in errors]


def job(**spec: Any) -> Json:
    obj: Json = {
        "metadata": {"name": "j", "namespace": "default", "uid": "u-1"},
        "spec": {"template": deepcopy(TEMPLATE), **spec},
    }
    defaults.apply(JOB, obj)
    strategies.prepare_create(JOB, obj)
    return obj


def cron_job(**spec: Any) -> Json:
    asked = {"schedule": "*/5 * * * *", "jobTemplate": {"spec": {"template": deepcopy(TEMPLATE)}}, **spec}
    obj: Json = {"metadata": {"name": "cj", "namespace": "default"}, "spec": asked}
    defaults.apply(CRON_JOB, obj)
    return obj


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        (INDEXED, []),
        ({"parallelism": -1}, ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"]),
        ({"completionMode": "Indexed"}, []),
        (
            {"completionMode": "Indexed", "parallelism": 1},
            ["spec.completions: Required value: when completion mode is Indexed"],
        ),
        (
            {"backoffLimitPerIndex": 1},
            ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
        ),
        (
            {**INDEXED, "maxFailedIndexes": 4},
            [
                "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
                "spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions",
            ],
        ),
        (
            {"managedBy": "me"},
            ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
        ),
        (
            {"podReplacementPolicy": "Never"},
            [
                'spec.podReplacementPolicy: Unsupported value: "Never": supported values: "Failed",'
                ' "TerminatingOrFailed"'
            ],
        ),
        (
            {"podFailurePolicy": {"rules": [{"action": "FailIndex"}]}},
            [
                'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex'
                " to be set",
                "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is"
                " required",
            ],
        ),
        (
            {"podFailurePolicy": {"rules": [{"onExitCodes": {"operator": "In", "values": [2, 0, 2]}}]}},
            [
                'spec.podFailurePolicy.rules[0].action: Required value: valid values: ["Count" "FailIndex" "FailJob"'
                ' "Ignore"]',
                "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In"
                " operator",
                "spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 2",
                "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [2,0,2]: must be ordered",
            ],
        ),
        (
            {"successPolicy": {"rules": []}},
            ['spec.successPolicy: Invalid value: {"Rules":[]}: requires indexed completion mode'],
        ),
        (
            {**INDEXED, "successPolicy": {"rules": [{"succeededIndexes": "0-1,1"}, {"succeededCount": 4}]}},
            [
                'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-1,1": error parsing succeededIndexes:'
                " non-increasing order, previous: 1, current: 1",
                "spec.successPolicy.rules[1].succeededCount: Invalid value: 4: must be less than or equal to 3"
                " (the number of specified completions)",
            ],
        ),
    ],
)
def test_what_a_job_may_ask_for(spec: Json, expected: list[str]) -> None:
    assert told(validation.on_create(JOB, job(**spec))) == expected


def test_pods_of_jobs_end() -> None:
    forever = deepcopy(TEMPLATE)
    del forever["spec"]["restartPolicy"]
    assert told(validation.on_create(JOB, job(template=forever))) == [
        'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    ]


def test_a_name_must_leave_room_for_the_indexes() -> None:
    obj = job(**INDEXED)
    obj["metadata"]["name"] = "j" * 62
    assert told(validation.on_create(JOB, obj))[-1].endswith(
        f"will not able to create pod with invalid DNS label: {'j' * 62}-2"
    )


def test_labels_the_server_makes_cannot_be_chosen() -> None:
    chosen = {**deepcopy(TEMPLATE), "metadata": {"labels": {"job-name": "other"}}}
    (error,) = told(validation.on_create(JOB, job(template=chosen)))
    assert error.startswith("spec.template.metadata.labels[job-name]: Invalid value: {")
    assert error.endswith(": must be 'j'")


def updated(old: Json, **spec: Any) -> list[str]:
    old["metadata"]["resourceVersion"] = "1"
    new = deepcopy(old)
    new["spec"] |= spec
    return [error.partition(": ")[0] for error in told(validation.on_update(JOB, new, old))]


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"parallelism": 5, "suspend": True, "backoffLimit": 1}, []),
        ({"completions": 4}, ["spec.completions"]),
        ({"completions": 4, "parallelism": 4}, []),
        ({"managedBy": "a.io/b"}, ["spec.managedBy"]),
        ({"selector": {"matchLabels": {"job-name": "j"}}}, ["spec.selector"]),
    ],
)
def test_what_an_indexed_job_lets_be_changed(spec: Json, fields: list[str]) -> None:
    assert updated(job(**INDEXED), **spec) == fields


@pytest.mark.parametrize(
    ("suspend", "status", "fields"),
    [
        (False, {}, ["spec.template"]),
        (True, {}, []),
        (True, {"startTime": "2026-01-01T00:00:00Z"}, ["spec.template"]),
        (True, {"startTime": "2026-01-01T00:00:00Z", "conditions": [{"type": "Suspended", "status": "True"}]}, []),
        (True, {"active": 1}, ["spec.template"]),
    ],
)
def test_a_template_changes_only_before_the_first_pod(suspend: bool, status: Json, fields: list[str]) -> None:
    old = {**job(suspend=suspend), "status": status}
    template = deepcopy(old["spec"]["template"])
    template["spec"]["nodeSelector"] = {"a": "b"}
    template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    assert updated(old, template=template) == fields


def test_not_even_a_suspended_job_takes_another_image() -> None:
    old = job(suspend=True)
    template = deepcopy(old["spec"]["template"])
    template["spec"]["containers"][0]["image"] = "other"
    assert updated(old, template=template) == ["spec.template.spec"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"schedule": ""}, ["spec.schedule: Required value"]),
        ({"schedule": "* *"}, ['spec.schedule: Invalid value: "* *": expected exactly 5 fields, found 2: [* *]']),
        (
            {"schedule": "TZ=UTC 0 0 * * *"},
            [
                'spec.schedule: Invalid value: "TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone'
                " field instead"
            ],
        ),
        ({"timeZone": "Mars/Base"}, ['spec.timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base']),
        (
            {"concurrencyPolicy": "Maybe", "successfulJobsHistoryLimit": -1},
            [
                'spec.concurrencyPolicy: Unsupported value: "Maybe": supported values: "Allow", "Forbid", "Replace"',
                "spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
            ],
        ),
    ],
)
def test_what_a_cron_job_may_ask_for(spec: Json, expected: list[str]) -> None:
    assert told(validation.on_create(CRON_JOB, cron_job(**spec))) == expected


def test_a_missing_schedule_is_told_last() -> None:
    obj = cron_job(schedule="")
    obj["metadata"]["name"] = "c" * 53
    assert [error.partition(": ")[0] for error in told(validation.on_create(CRON_JOB, obj))] == [
        "metadata.name",
        "spec.schedule",
    ]


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("0 0 1,15 jan-dec mon", None),
        ("@every 1h30m", None),
        ("@fortnightly", "unrecognized descriptor: @fortnightly"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* 5-2 * * *", "beginning of range (5) beyond end of range (2): 5-2"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("@every x", '@every x: time: invalid duration "x"'),
    ],
)
def test_schedules(schedule: str, problem: str | None) -> None:
    found = schedule_problem(schedule)
    assert found == problem if problem is None else problem in (found or "")


@pytest.mark.parametrize(
    ("name", "is_known"), [("Etc/UTC", True), ("Europe/Berlin", True), ("", False), ("../etc", False), ("local", False)]
)
def test_time_zones(name: str, is_known: bool) -> None:
    assert (time_zone_problem(name) == []) is is_known


@given(st.sets(st.integers(0, 40)))
def test_indexes_are_counted_however_they_are_grouped(indexes: set[int]) -> None:
    runs: list[list[int]] = []
    for index in sorted(indexes):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    text = ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    assert count_indexes(text, 41) == len(indexes)
    if indexes:
        with pytest.raises(BadIndexes, match="too large index"):
            count_indexes(text, max(indexes))
