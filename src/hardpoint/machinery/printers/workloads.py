"""The rows of what runs pods: deployments and their like, jobs, and the templates and revisions beside them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hardpoint.machinery import durations, selectors, timestamps
from hardpoint.machinery.printers.cells import (
    NONE,
    UNSET,
    Cells,
    Json,
    age,
    ago,
    at,
    containers,
    is_deleted,
    is_true,
    name,
    pairs,
)

# The first of these that is true is the state of a job; being deleted comes between the final ones and the others.
_FINAL_JOB_CONDITIONS = (("Complete", "Complete"), ("Failed", "Failed"))
_OTHER_JOB_CONDITIONS = (
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)


def pod_template(obj: Json, now: datetime) -> Cells:
    return [name(obj), *containers(obj.get("template")), pairs(at(obj, "template.metadata.labels"))]


def replication_controller(obj: Json, now: datetime) -> Cells:
    return [*_replicas(obj, now), pairs(at(obj, "spec.selector"))]


def replica_set(obj: Json, now: datetime) -> Cells:
    return [*_replicas(obj, now), _selector(obj)]


def _replicas(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        at(obj, "spec.replicas", 0),
        at(obj, "status.replicas", 0),
        at(obj, "status.readyReplicas", 0),
        age(obj, now),
        *_template_containers(obj),
    ]


def deployment(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        f"{at(obj, 'status.readyReplicas', 0)}/{at(obj, 'spec.replicas', 0)}",
        at(obj, "status.updatedReplicas", 0),
        at(obj, "status.availableReplicas", 0),
        age(obj, now),
        *_template_containers(obj),
        _plain_selector(obj),
    ]


def stateful_set(obj: Json, now: datetime) -> Cells:
    ready = f"{at(obj, 'status.readyReplicas', 0)}/{at(obj, 'spec.replicas', 0)}"
    return [name(obj), ready, age(obj, now), *_template_containers(obj)]


def daemon_set(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        at(obj, "status.desiredNumberScheduled", 0),
        at(obj, "status.currentNumberScheduled", 0),
        at(obj, "status.numberReady", 0),
        at(obj, "status.updatedNumberScheduled", 0),
        at(obj, "status.numberAvailable", 0),
        pairs(at(obj, "spec.template.spec.nodeSelector")),
        age(obj, now),
        *_template_containers(obj),
        _selector(obj),
    ]


def job(obj: Json, now: datetime) -> Cells:
    return [
        name(obj),
        _job_status(obj),
        _completions(obj),
        _job_duration(obj, now),
        age(obj, now),
        *_template_containers(obj),
        _selector(obj),
    ]


def _job_status(obj: Json) -> str:
    conditions = at(obj, "status.conditions")
    for wanted, state in _FINAL_JOB_CONDITIONS:
        if is_true(conditions, wanted):
            return state
    if is_deleted(obj):
        return "Terminating"
    return next((state for wanted, state in _OTHER_JOB_CONDITIONS if is_true(conditions, wanted)), "Running")


def _completions(obj: Json) -> str:
    succeeded = at(obj, "status.succeeded", 0)
    wanted = at(obj, "spec.completions")
    if wanted is not None:
        return f"{succeeded}/{wanted}"
    parallelism = at(obj, "spec.parallelism", 0)
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(obj: Json, now: datetime) -> str:
    started = at(obj, "status.startTime")
    if started is None:
        return ""
    finished = at(obj, "status.completionTime")
    took = timestamps.since(started, timestamps.parse_time(finished) if finished else now)
    return durations.human(took) if took is not None else ""


def cron_job(obj: Json, now: datetime) -> Cells:
    suspended = at(obj, "spec.suspend")
    scheduled = at(obj, "status.lastScheduleTime")
    template = at(obj, "spec.jobTemplate.spec", {})
    return [
        name(obj),
        at(obj, "spec.schedule", ""),
        at(obj, "spec.timeZone", NONE),
        UNSET if suspended is None else str(bool(suspended)),
        len(at(obj, "status.active", ())),
        NONE if scheduled is None else ago(scheduled, now),
        age(obj, now),
        *containers(template.get("template")),
        selectors.printed(template.get("selector")),
    ]


def controller_revision(obj: Json, now: datetime) -> Cells:
    owners = obj["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    return [name(obj), _owner(owner) if owner else NONE, obj.get("revision", 0), age(obj, now)]


def _owner(owner: Json) -> str:
    group = owner.get("apiVersion", "").rpartition("/")[0]
    kind = f"{owner.get('kind', '')}.{group}" if group else owner.get("kind", "")
    return f"{kind.lower()}/{owner.get('name', '')}"


def _template_containers(obj: Json) -> tuple[str, str]:
    return containers(at(obj, "spec.template"))


def _selector(obj: Json) -> str:
    return selectors.printed(at(obj, "spec.selector"))


def _plain_selector(obj: Json) -> Any:
    """A deployment's selector is told as it is: nothing for an empty one."""
    try:
        return str(selectors.from_label_selector(at(obj, "spec.selector")))
    except selectors.BadSelector:
        return "<invalid>"
