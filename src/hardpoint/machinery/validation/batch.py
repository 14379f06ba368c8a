"""What makes jobs and cron jobs invalid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, not_supported, required, too_long
from hardpoint.machinery.selectors import from_label_selector
from hardpoint.machinery.validation.batch_policies import pod_failure_policy, replacement_policy, success_policy
from hardpoint.machinery.validation.batch_schedule import schedule_problem, time_zone_problem
from hardpoint.machinery.validation.batch_update import job_update
from hardpoint.machinery.validation.labelselectors import label_selector
from hardpoint.machinery.validation.metadata import non_negative
from hardpoint.machinery.validation.podspec import pod_template

Json = dict[str, Any]
Errors = list[FieldError]

# The labels by which a job finds its pods, in the new and in the old spelling.
JOB_NAME = "batch.kubernetes.io/job-name"
CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
OLD_JOB_NAME = "job-name"
OLD_CONTROLLER_UID = "controller-uid"

PARALLELISM_MAX = 100_000
FAILED_INDEXES_MAX = 100_000
# Above so many completions, and with retries counted for each index, less may run and fail at once.
COMPLETIONS_TRACKED = 100_000
PARALLELISM_TRACKED = 10_000
FAILED_INDEXES_TRACKED = 10_000
MANAGER_LENGTH_MAX = 63
CRON_JOB_NAME_LENGTH_MAX = 52
CONCURRENCY = ("Allow", "Forbid", "Replace")

_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
)


def _create_job(job: Json) -> Errors:
    errors: Errors = []
    spec = job.get("spec") or {}
    if not spec.get("manualSelector") and spec.get("selector") is not None:
        _generated_selector(errors, job)
    _selected_spec(errors, spec)
    _name_allows_completions(errors, job)
    return errors


def _update_job(job: Json, old: Json) -> Errors:
    errors: Errors = []
    _selected_spec(errors, job.get("spec") or {})
    job_update(errors, job.get("spec") or {}, old)
    _name_allows_completions(errors, job)
    return errors


def _generated_selector(errors: Errors, job: Json) -> None:
    """The server made the selector and the labels; who wrote them as well must have written the same."""
    metadata, spec = job["metadata"], job["spec"]
    name, uid = metadata.get("name", ""), metadata.get("uid", "")
    labels = (spec["template"].get("metadata") or {}).get("labels") or {}
    expected = {OLD_CONTROLLER_UID: uid, OLD_JOB_NAME: name, CONTROLLER_UID: uid, JOB_NAME: name}
    for key, value in expected.items():
        place = f"spec.template.metadata.labels[{key}]"
        if key not in labels:
            errors.append(required(place, f"must be '{value}'"))
        elif labels[key] != value:
            errors.append(invalid(place, labels, f"must be '{value}'"))
    if _is_usable(spec["selector"]) and not from_label_selector(spec["selector"]).matches(expected):
        errors.append(invalid("spec.selector", spec["selector"], "`selector` not auto-generated"))


def _is_usable(selector: Json | None) -> bool:
    wrong: Errors = []
    label_selector(wrong, "", selector)
    return not wrong


def _name_allows_completions(errors: Errors, job: Json) -> None:
    spec, name = job.get("spec") or {}, job["metadata"].get("name", "")
    completions = spec.get("completions", 0)
    if spec.get("completionMode") != "Indexed" or completions <= 0:
        return
    hostname = f"{name}-{completions - 1}"
    if names.dns_label(hostname):
        told = f"will not able to create pod with invalid DNS label: {hostname}"
        errors.append(invalid("metadata.name", name, told))


def _selected_spec(errors: Errors, spec: Json) -> None:
    _job_spec(errors, "spec", spec)
    selector = spec.get("selector")
    if selector is None:
        errors.append(required("spec.selector"))
    label_selector(errors, "spec.selector", selector)
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if _is_usable(selector) and not from_label_selector(selector).matches(labels or {}):
        told = "`selector` does not match template `labels`"
        errors.append(invalid("spec.template.metadata.labels", labels, told))


def _job_spec(errors: Errors, path: str, spec: Json) -> None:
    """A job's spec, or the one in the template of jobs."""
    for field in _COUNTS:
        non_negative(errors, f"{path}.{field}", spec.get(field, 0))
    if "maxFailedIndexes" in spec:
        non_negative(errors, f"{path}.maxFailedIndexes", spec["maxFailedIndexes"])
        if "backoffLimitPerIndex" not in spec:
            errors.append(required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    _managed_by(errors, f"{path}.managedBy", spec.get("managedBy"))
    _completion_mode(errors, path, spec)
    if spec.get("podFailurePolicy") is not None:
        pod_failure_policy(errors, f"{path}.podFailurePolicy", spec)
    if spec.get("successPolicy") is not None:
        success_policy(errors, f"{path}.successPolicy", spec)
    replacement_policy(errors, f"{path}.podReplacementPolicy", spec)
    template = spec.get("template") or {}
    pod_template(errors, f"{path}.template", template)
    _restart_policy(errors, f"{path}.template.spec.restartPolicy", spec, template.get("spec") or {})


def _managed_by(errors: Errors, path: str, manager: str | None) -> None:
    if manager is None:
        return
    errors += names.domain_prefixed_path(path, manager)
    if names.length(manager) > MANAGER_LENGTH_MAX:
        errors.append(too_long(path, MANAGER_LENGTH_MAX))


def _completion_mode(errors: Errors, path: str, spec: Json) -> None:
    mode = spec.get("completionMode", "NonIndexed")
    if mode == "Indexed":
        _indexed(errors, path, spec)
    elif mode != "NonIndexed":
        errors.append(not_supported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed")))
    else:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if field in spec:
                errors.append(invalid(f"{path}.{field}", spec[field], "requires indexed completion mode"))


def _indexed(errors: Errors, path: str, spec: Json) -> None:
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes")
    parallelism = spec.get("parallelism", 0)
    if completions is None:
        errors.append(required(f"{path}.completions", "when completion mode is Indexed"))
    if parallelism > PARALLELISM_MAX:
        told = f"must be less than or equal to {PARALLELISM_MAX} when completion mode is Indexed"
        errors.append(invalid(f"{path}.parallelism", parallelism, told))
    if completions is not None and failed is not None and failed > completions:
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions"))
    if failed is not None and failed > FAILED_INDEXES_MAX:
        told = f"must be less than or equal to {FAILED_INDEXES_MAX}"
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, told))
    if (completions or 0) > COMPLETIONS_TRACKED and "backoffLimitPerIndex" in spec:
        _many_completions(errors, path, parallelism, failed)


def _many_completions(errors: Errors, path: str, parallelism: int, failed: int | None) -> None:
    above = f"when completions are above {COMPLETIONS_TRACKED} and used with backoff limit per index"
    if failed is None:
        told = f"must be specified when completions is above {COMPLETIONS_TRACKED}"
        errors.append(required(f"{path}.maxFailedIndexes", told))
    if parallelism > PARALLELISM_TRACKED:
        told = f"must be less than or equal to {PARALLELISM_TRACKED} {above}"
        errors.append(invalid(f"{path}.parallelism", parallelism, told))
    if failed is not None and failed > FAILED_INDEXES_TRACKED:
        told = f"must be less than or equal to {FAILED_INDEXES_TRACKED} {above}"
        errors.append(invalid(f"{path}.maxFailedIndexes", failed, told))


def _restart_policy(errors: Errors, path: str, spec: Json, pod: Json) -> None:
    policy = pod.get("restartPolicy", "")
    if policy in ("", "Always"):
        errors.append(required(path, 'valid values: "OnFailure", "Never"'))
    elif policy not in ("OnFailure", "Never"):
        errors.append(not_supported(path, policy, ("OnFailure", "Never")))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        told = 'only "Never" is supported when podFailurePolicy is specified'
        errors.append(invalid(path, policy, told))


def _create_cron_job(obj: Json) -> Errors:
    errors: Errors = []
    _cron_job_spec(errors, obj.get("spec") or {}, None)
    name = obj["metadata"].get("name", "")
    if names.length(name) > CRON_JOB_NAME_LENGTH_MAX:
        told = f"must be no more than {CRON_JOB_NAME_LENGTH_MAX} characters"
        errors.insert(_before_schedule(errors), invalid("metadata.name", name, told))
    return errors


def _before_schedule(errors: Errors) -> int:
    """A missing schedule is told last: upstream checks it by another mechanism, after everything else."""
    return len(errors) - 1 if errors and errors[-1] == required("spec.schedule") else len(errors)


def _update_cron_job(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    _cron_job_spec(errors, obj.get("spec") or {}, old.get("spec") or {})
    return errors


def _cron_job_spec(errors: Errors, spec: Json, old: Json | None) -> None:
    schedule, zone = spec.get("schedule", ""), spec.get("timeZone")
    if schedule:
        _schedule(errors, schedule, zone, zone_in_schedule_allowed="TZ" in (old or {}).get("schedule", ""))
    non_negative(errors, "spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds", 0))
    if zone is not None and (old is None or old.get("timeZone") != zone):
        errors += [invalid("spec.timeZone", zone, problem) for problem in time_zone_problem(zone)]
    policy = spec.get("concurrencyPolicy", "")
    if policy not in CONCURRENCY:
        place = "spec.concurrencyPolicy"
        errors.append(not_supported(place, policy, CONCURRENCY) if policy else required(place))
    _job_template(errors, "spec.jobTemplate.spec", (spec.get("jobTemplate") or {}).get("spec") or {})
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        non_negative(errors, f"spec.{field}", spec.get(field, 0))
    if not schedule:
        errors.append(required("spec.schedule"))


def _schedule(errors: Errors, schedule: str, zone: str | None, *, zone_in_schedule_allowed: bool) -> None:
    path = "spec.schedule"
    if (problem := schedule_problem(schedule)) is not None:
        errors.append(invalid(path, schedule, problem))
    if "TZ" not in schedule:
        return
    if not zone_in_schedule_allowed:
        told = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        errors.append(invalid(path, schedule, told))
    elif zone is not None:
        told = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
        errors.append(invalid(path, schedule, told))


def _job_template(errors: Errors, path: str, spec: Json) -> None:
    _job_spec(errors, path, spec)
    if spec.get("selector") is not None:
        errors.append(invalid(f"{path}.selector", spec["selector"], "`selector` will be auto-generated"))
    if spec.get("manualSelector"):
        errors.append(not_supported(f"{path}.manualSelector", True, ("nil", "false")))


CREATE: Mapping[str, Callable[[Json], Errors]] = {"CronJob": _create_cron_job, "Job": _create_job}
UPDATE: Mapping[str, Callable[[Json, Json], Errors]] = {"CronJob": _update_cron_job, "Job": _update_job}
