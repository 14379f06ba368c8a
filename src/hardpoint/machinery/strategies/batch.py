"""What becomes of jobs and cron jobs before they are validated, and what is unwise about them.

A job finds its pods by labels the server makes up: its name and its uid, each in an old and in a new spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.strategies.podspec import drop_disabled_from_template
from hardpoint.machinery.strategies.podspec_warnings import name_is_no_label, template_warnings
from hardpoint.machinery.validation.batch import (
    COMPLETIONS_TRACKED,
    CONTROLLER_UID,
    JOB_NAME,
    OLD_CONTROLLER_UID,
    OLD_JOB_NAME,
    PARALLELISM_TRACKED,
)

Json = dict[str, Any]


def _create_job(job: Json) -> None:
    spec, metadata = job["spec"], job["metadata"]
    follows_template = _template_labels(job) is not None and not metadata.get("labels")
    if not spec.get("manualSelector"):
        _generate_selector(spec, metadata)
    _drop_disabled(spec)
    if follows_template:
        _labels_from_template(job)


def _update_job(job: Json, old: Json) -> None:
    _drop_disabled(job["spec"])
    _labels_from_template(job)


def _generate_selector(spec: Json, metadata: Json) -> None:
    """Labels that are there already stay, and are refused later if they are not what they should be."""
    name, uid = metadata.get("name", ""), metadata.get("uid", "")
    generated = {OLD_JOB_NAME: name, JOB_NAME: name, OLD_CONTROLLER_UID: uid, CONTROLLER_UID: uid}
    template = spec["template"].setdefault("metadata", {})
    template["labels"] = {**generated, **(template.get("labels") or {})}
    selector = spec.setdefault("selector", {})
    selector["matchLabels"] = {CONTROLLER_UID: uid, **(selector.get("matchLabels") or {})}


def _template_labels(job: Json) -> dict[str, str] | None:
    return (job["spec"]["template"].get("metadata") or {}).get("labels")


def _labels_from_template(job: Json) -> None:
    """A job without labels has its template's, those of the server's making too.

    Where the template had none to begin with, upstream finds this out only when it reads the stored job, which is why
    labels that the server made do not count against the job's own.
    """
    labels = _template_labels(job)
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(labels)


def _drop_disabled(spec: Json) -> None:
    spec.pop("scheduling", None)
    drop_disabled_from_template(spec.get("template") or {})


def _create_cron_job(obj: Json) -> None:
    _drop_disabled(obj["spec"]["jobTemplate"]["spec"])


def _update_cron_job(obj: Json, old: Json) -> None:
    _create_cron_job(obj)


def _warn_job(job: Json) -> list[str]:
    return [*name_is_no_label(job["metadata"].get("name", "")), *_about_spec("spec", job["spec"])]


def _warn_job_update(job: Json, old: Json) -> list[str]:
    return _about_spec("spec", job["spec"]) if job.get("spec") != old.get("spec") else []


def _warn_cron_job(obj: Json) -> list[str]:
    return [*name_is_no_label(obj["metadata"].get("name", "")), *_about_cron_job(obj)]


def _warn_cron_job_update(obj: Json, old: Json) -> list[str]:
    warnings = _about_cron_job(obj) if obj.get("spec") != old.get("spec") else []
    if "TZ" in obj["spec"].get("schedule", ""):
        more = "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/"
        told = "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see"
        warnings.append(f"{told} {more} for more details")
    return warnings


def _about_cron_job(obj: Json) -> list[str]:
    return _about_spec("spec.jobTemplate.spec", obj["spec"]["jobTemplate"]["spec"])


def _about_spec(path: str, spec: Json) -> list[str]:
    warnings = []
    is_large = spec.get("completions", 0) > COMPLETIONS_TRACKED and spec.get("parallelism", 0) > PARALLELISM_TRACKED
    if spec.get("completionMode") == "Indexed" and is_large:
        warnings.append(
            f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4,"
            " Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    return warnings + template_warnings(f"{path}.template", spec.get("template") or {})


CREATE: Mapping[str, Callable[[Json], None]] = {"CronJob": _create_cron_job, "Job": _create_job}
UPDATE: Mapping[str, Callable[[Json, Json], None]] = {"CronJob": _update_cron_job, "Job": _update_job}
CANONICAL: Mapping[str, Callable[[Json], None]] = {"Job": _labels_from_template}
WARN_CREATE: Mapping[str, Callable[[Json], list[str]]] = {"CronJob": _warn_cron_job, "Job": _warn_job}
WARN_UPDATE: Mapping[str, Callable[[Json, Json], list[str]]] = {
    "CronJob": _warn_cron_job_update,
    "Job": _warn_job_update,
}
