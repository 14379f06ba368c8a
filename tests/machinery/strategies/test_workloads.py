"""What the server derives for controllers, jobs among them."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from hardpoint.machinery import defaults, kinds, strategies

Json = dict[str, Any]

KINDS = {kind.kind: kind for kind in kinds.builtin() if kind.group in ("", "apps", "batch")}
GENERATION = "deprecated.daemonset.template.generation"


def prepared(name: str, metadata: Json | None = None, **spec: Any) -> Json:
    obj: Json = {"metadata": {"name": "t", "uid": "u-1", **(metadata or {})}, "spec": {"template": {}, **spec}}
    defaults.apply(KINDS[name], obj)
    strategies.prepare_create(KINDS[name], obj)
    return obj


def test_a_daemon_set_counts_its_templates() -> None:
    old = prepared("DaemonSet")
    assert old["metadata"]["annotations"] == {GENERATION: "1"}
    same, other = deepcopy(old), deepcopy(old)
    same["metadata"]["annotations"][GENERATION] = "7"
    other["spec"]["template"]["metadata"] = {"labels": {"a": "b"}}
    for new, count in ((same, "1"), (other, "2")):
        strategies.prepare_update(KINDS["DaemonSet"], new, old)
        assert new["metadata"]["annotations"][GENERATION] == count


@pytest.mark.parametrize(("annotations", "generation"), [({"a": "b"}, 4), ({}, 3)])
def test_annotations_of_a_deployment_count(annotations: Json, generation: int) -> None:
    old = prepared("Deployment", {"generation": 3})
    new = deepcopy(old)
    new["metadata"]["annotations"] = annotations
    strategies.prepare_update(KINDS["Deployment"], new, old)
    assert new["metadata"]["generation"] == generation


def test_a_job_is_given_a_selector_of_its_own() -> None:
    job = prepared("Job")
    labels = {
        "batch.kubernetes.io/controller-uid": "u-1",
        "batch.kubernetes.io/job-name": "t",
        "controller-uid": "u-1",
        "job-name": "t",
    }
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u-1"}}
    assert job["spec"]["template"]["metadata"]["labels"] == labels
    assert "labels" not in job["metadata"], "labels nobody wrote are not the job's until it is valid"
    strategies.canonicalize(KINDS["Job"], job)
    assert job["metadata"]["labels"] == labels


def test_a_job_takes_the_labels_of_its_template() -> None:
    job = prepared("Job", template={"metadata": {"labels": {"a": "b"}}})
    assert job["metadata"]["labels"] == job["spec"]["template"]["metadata"]["labels"]
    assert job["metadata"]["labels"]["a"] == "b"


def test_a_job_with_labels_keeps_them() -> None:
    assert prepared("Job", {"labels": {"a": "b"}})["metadata"]["labels"] == {"a": "b"}


def test_who_selects_by_hand_selects_alone() -> None:
    job = prepared("Job", manualSelector=True, selector={"matchLabels": {"a": "b"}})
    assert job["spec"]["selector"] == {"matchLabels": {"a": "b"}}
    assert "metadata" not in job["spec"]["template"]


def test_templates_are_warned_about_at_their_path() -> None:
    pod = {"containers": [{"name": "c"}], "nodeSelector": {"beta.kubernetes.io/arch": "x"}}
    told = 'spec.nodeSelector[beta.kubernetes.io/arch]: deprecated since v1.14; use "kubernetes.io/arch" instead'
    deployment = prepared("Deployment", template={"spec": deepcopy(pod)})
    assert strategies.warn_create(KINDS["Deployment"], deployment) == [f"spec.template.{told}"]
    assert strategies.warn_update(KINDS["Deployment"], deployment, deepcopy(deployment)) == []
    scaled = {**deployment, "spec": {**deployment["spec"], "minReadySeconds": 5}}
    assert strategies.warn_update(KINDS["Deployment"], scaled, deployment) == [f"spec.template.{told}"]
    assert strategies.warn_update(KINDS["DaemonSet"], scaled, deployment) == []
    noted = {**deployment, "metadata": {**deployment["metadata"], "annotations": {"a": "b"}}}
    assert strategies.warn_update(KINDS["Deployment"], noted, deployment) == [f"spec.template.{told}"]
    assert strategies.warn_update(KINDS["ReplicaSet"], noted, deployment) == []
    cron_job = prepared("CronJob", jobTemplate={"spec": {"template": {"spec": deepcopy(pod)}}})
    assert strategies.warn_create(KINDS["CronJob"], cron_job) == [f"spec.jobTemplate.spec.template.{told}"]


def test_a_stateful_set_may_keep_too_much() -> None:
    claim = {"spec": {"resources": {"requests": {"storage": "100m"}}}}
    obj = prepared("StatefulSet", revisionHistoryLimit=-1, volumeClaimTemplates=[claim])
    assert strategies.warn_create(KINDS["StatefulSet"], obj) == [
        'spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "100m" is invalid, must be an'
        " integer",
        "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
    ]
