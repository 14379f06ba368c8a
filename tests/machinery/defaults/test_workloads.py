"""What the controllers of pods, jobs among them, are completed with."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery import defaults, kinds

Json = dict[str, Any]

KINDS = {kind.kind: kind for kind in kinds.builtin() if kind.group in ("", "apps", "batch")}


def completed(name: str, **spec: Any) -> Json:
    obj: Json = {"metadata": {}, "spec": spec}
    defaults.apply(KINDS[name], obj)
    result: Json = obj["spec"]
    return result


def without_template(spec: Json) -> Json:
    return {field: value for field, value in spec.items() if field not in ("template", "jobTemplate")}


ROLLING = {"type": "RollingUpdate"}


@pytest.mark.parametrize(
    ("name", "given", "complete"),
    [
        (
            "Deployment",
            {},
            {
                "replicas": 1,
                "strategy": {**ROLLING, "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
        ),
        (
            "Deployment",
            {"strategy": {"type": "Recreate"}, "replicas": 0},
            {
                "replicas": 0,
                "strategy": {"type": "Recreate"},
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
        ),
        ("ReplicaSet", {}, {"replicas": 1}),
        (
            "DaemonSet",
            {},
            {
                "updateStrategy": {**ROLLING, "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
                "revisionHistoryLimit": 10,
            },
        ),
        (
            "StatefulSet",
            {},
            {
                "replicas": 1,
                "podManagementPolicy": "OrderedReady",
                "updateStrategy": {**ROLLING, "rollingUpdate": {"partition": 0, "maxUnavailable": 1}},
                "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
                "revisionHistoryLimit": 10,
            },
        ),
        (
            "Job",
            {},
            {
                "completions": 1,
                "parallelism": 1,
                "backoffLimit": 6,
                "completionMode": "NonIndexed",
                "suspend": False,
                "podReplacementPolicy": "TerminatingOrFailed",
                "manualSelector": False,
            },
        ),
        (
            "Job",
            {"parallelism": 2, "backoffLimitPerIndex": 1, "podFailurePolicy": {"rules": []}},
            {
                "parallelism": 2,
                "backoffLimitPerIndex": 1,
                "backoffLimit": 2**31 - 1,
                "completionMode": "NonIndexed",
                "suspend": False,
                "podFailurePolicy": {"rules": []},
                "podReplacementPolicy": "Failed",
                "manualSelector": False,
            },
        ),
        (
            "CronJob",
            {},
            {
                "concurrencyPolicy": "Allow",
                "suspend": False,
                "successfulJobsHistoryLimit": 3,
                "failedJobsHistoryLimit": 1,
            },
        ),
    ],
)
def test_what_is_filled_in(name: str, given: Json, complete: Json) -> None:
    assert without_template(completed(name, **given)) == complete


def test_templates_are_completed_wherever_they_are() -> None:
    pod = {"containers": [{"name": "c", "image": "a:1"}]}
    for name in ("Deployment", "ReplicaSet", "DaemonSet", "StatefulSet", "Job", "ReplicationController"):
        spec = completed(name, template={"spec": dict(pod)})["template"]["spec"]
        assert spec["restartPolicy"] == "Always", name
    job = completed("CronJob", jobTemplate={"spec": {"template": {"spec": dict(pod)}}})["jobTemplate"]["spec"]
    assert job["template"]["spec"]["dnsPolicy"] == "ClusterFirst"
    assert "backoffLimit" not in job, "the job made from the template is completed, not the template"


def test_a_replication_controller_follows_its_template() -> None:
    obj: Json = {"metadata": {}, "spec": {"template": {"metadata": {"labels": {"a": "b"}}, "spec": {}}}}
    defaults.apply(KINDS["ReplicationController"], obj)
    assert obj["spec"]["selector"] == {"a": "b"}
    assert obj["metadata"]["labels"] == {"a": "b"}


def test_claims_of_a_stateful_set_are_whole_objects() -> None:
    spec = completed("StatefulSet", volumeClaimTemplates=[{"metadata": {"name": "d"}, "spec": {}}])
    assert spec["volumeClaimTemplates"] == [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "d"},
            "spec": {"volumeMode": "Filesystem"},
            "status": {"phase": "Pending"},
        }
    ]


def test_a_condition_in_a_failure_policy_is_true() -> None:
    rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
    spec = completed("Job", podFailurePolicy={"rules": rules})
    assert spec["podFailurePolicy"]["rules"][0]["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]
