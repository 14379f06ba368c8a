"""Kinds with two faces: nothing is lost on the way, and v1 says it in Kubernetes' words."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from hardpoint.machinery import conversion

Json = dict[str, Any]

V1 = ("autoscaling", "v1", "HorizontalPodAutoscaler")
V2 = ("autoscaling", "v2", "HorizontalPodAutoscaler")
METRICS = "autoscaling.alpha.kubernetes.io/metrics"
CURRENT = "autoscaling.alpha.kubernetes.io/current-metrics"
BEHAVIOR = "autoscaling.alpha.kubernetes.io/behavior"
SERVICE = {"kind": "Service", "name": "s"}


def average(value: str) -> Json:
    return {"type": "AverageValue", "averageValue": value}


# Each as v2 has it, and as kube-apiserver writes it into v1's annotation.
WANTED = [
    pytest.param(
        {"type": "Resource", "resource": {"name": "memory", "target": average("100Mi")}},
        '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"100Mi"}}]',
        id="resource",
    ),
    pytest.param(
        {"type": "Pods", "pods": {"metric": {"name": "p"}, "target": average("5")}},
        '[{"type":"Pods","pods":{"metricName":"p","targetAverageValue":"5"}}]',
        id="pods",
    ),
    pytest.param(
        {"type": "Object", "object": {"describedObject": SERVICE, "metric": {"name": "o"}, "target": average("7")}},
        '[{"type":"Object","object":{"target":{"kind":"Service","name":"s"},"metricName":"o","targetValue":"0",'
        '"averageValue":"7"}}]',
        id="object, on average",
    ),
    pytest.param(
        {"type": "External", "external": {"metric": {"name": "e"}, "target": {"type": "Value", "value": "9"}}},
        '[{"type":"External","external":{"metricName":"e","targetValue":"9"}}]',
        id="external",
    ),
    pytest.param(
        {
            "type": "ContainerResource",
            "containerResource": {
                "name": "cpu",
                "container": "a",
                "target": {"type": "Utilization", "averageUtilization": 50},
            },
        },
        '[{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":50,"container":"a"}}]',
        id="container",
    ),
]


def converted(source: tuple[str, str, str], target: tuple[str, str, str], obj: Json) -> Json:
    convert = conversion.between(source, target)
    assert convert is not None
    return convert(obj)


def autoscaler(spec: Json, status: Json | None = None) -> Json:
    counts = {"currentReplicas": 1, "desiredReplicas": 1}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "x"},
        "spec": {"maxReplicas": 3, **spec},
        "status": {**counts, "currentMetrics": None, **(status or {})},
    }


@pytest.mark.parametrize(("metric", "told"), WANTED)
def test_a_metric_v1_has_no_field_for(metric: Json, told: str) -> None:
    obj = autoscaler({"metrics": [metric]})
    old = converted(V2, V1, obj)
    assert old["metadata"]["annotations"] == {METRICS: told}
    assert converted(V1, V2, old) == obj


def test_utilization_of_the_cpu_is_a_field_of_v1() -> None:
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
    seen = {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 20, "averageValue": "1"}}}
    obj = autoscaler({"metrics": [cpu]}, {"currentMetrics": [seen]})
    old = converted(V2, V1, obj)
    assert old["spec"]["targetCPUUtilizationPercentage"] == 50
    assert old["status"]["currentCPUUtilizationPercentage"] == 20
    told = '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":20,"currentAverageValue":"1"}}]'
    assert old["metadata"]["annotations"] == {CURRENT: told}
    assert converted(V1, V2, old) == obj


def test_behaviour_is_told_by_the_names_of_go() -> None:
    policy = {"type": "Percent", "value": 10, "periodSeconds": 15}
    down = {"stabilizationWindowSeconds": 5, "selectPolicy": "Max", "policies": [policy]}
    obj = autoscaler({"behavior": {"scaleDown": down}})
    old = converted(V2, V1, obj)
    assert orjson.loads(old["metadata"]["annotations"][BEHAVIOR]) == {
        "ScaleUp": None,
        "ScaleDown": {
            "StabilizationWindowSeconds": 5,
            "SelectPolicy": "Max",
            "Policies": [{"Type": "Percent", "Value": 10, "PeriodSeconds": 15}],
            "Tolerance": None,
        },
    }
    assert converted(V1, V2, old) == obj


@pytest.mark.parametrize("text", ["", "no JSON", "7", "{}", "[7]"])
def test_an_annotation_that_says_nothing_stays(text: str) -> None:
    old = {"metadata": {"annotations": {METRICS: text}}, "spec": {}, "status": {}}
    assert converted(V1, V2, old)["metadata"]["annotations"] == {METRICS: text}


def test_an_event_without_a_reporter_says_so_in_v1_only() -> None:
    core, new = ("", "v1", "Event"), ("events.k8s.io", "v1", "Event")
    told = {"apiVersion": "v1", "metadata": {}, "message": "m", "reportingComponent": "", "reportingInstance": ""}
    shown = converted(core, new, told)
    assert shown == {"apiVersion": "events.k8s.io/v1", "metadata": {}, "note": "m"}
    assert converted(new, core, shown) == told


def test_the_zeros_of_one_version_are_not_those_of_the_other() -> None:
    old = converted(V2, V1, autoscaler({}, {"currentReplicas": 0, "desiredReplicas": 0}))
    assert old["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    assert converted(V1, V2, old)["status"] == {"currentMetrics": None, "desiredReplicas": 0}
