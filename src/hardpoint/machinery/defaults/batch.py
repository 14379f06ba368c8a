"""What jobs, and cron jobs with their templates of jobs, are completed with.

A job without labels takes its template's, but only once the server has added its own to those: see `strategies.batch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery.defaults import podspec

Json = dict[str, Any]

RETRIES = 6
RETRIES_PER_INDEX = 2**31 - 1


def _job(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    _job_spec(spec)
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", RETRIES_PER_INDEX if "backoffLimitPerIndex" in spec else RETRIES)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    spec.setdefault("manualSelector", False)


def _cron_job(obj: Json) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)
    _job_spec(spec.setdefault("jobTemplate", {}).setdefault("spec", {}))


def _job_spec(spec: Json) -> None:
    """What a job and the template of one have in common; a template leaves the rest to the job made from it."""
    podspec.template(spec.setdefault("template", {}))
    policy = spec.get("podFailurePolicy") or {}
    for rule in policy.get("rules") or ():
        for pattern in rule.get("onPodConditions") or ():
            pattern["status"] = pattern.get("status") or "True"


DEFAULTS: Mapping[str, Callable[[Json], None]] = {"CronJob": _cron_job, "Job": _job}
