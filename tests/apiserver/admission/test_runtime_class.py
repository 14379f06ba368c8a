"""Pods that name a RuntimeClass take from it what they lack, and may not disagree with it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiserver.asking import Api

Json = dict[str, Any]

PODS = "/api/v1/namespaces/default/pods?dryRun=All"
EVERYTHING = {"operator": "Exists"}
OF_CLASS = {"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"}


@pytest.fixture
async def sandboxed(api: Api) -> Api:
    """A server with a class that has an overhead and a place."""
    await api.ok("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
    scheduling = {"nodeSelector": {"sandboxed": "true"}, "tolerations": [OF_CLASS]}
    body = {"metadata": {"name": "sandbox"}, "handler": "h", "overhead": {"podFixed": {"cpu": "10m"}}}
    await api.ok("POST", "/apis/node.k8s.io/v1/runtimeclasses", {**body, "scheduling": scheduling})
    return api


def pod(**spec: Any) -> Json:
    return {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}


async def test_a_pod_takes_what_it_lacks(sandboxed: Api) -> None:
    spec = (await sandboxed.ok("POST", PODS, pod(runtimeClassName="sandbox", nodeSelector={"a": "b"})))["spec"]
    assert spec["overhead"] == {"cpu": "10m"}
    assert spec["nodeSelector"] == {"a": "b", "sandboxed": "true"}
    assert OF_CLASS in spec["tolerations"]


async def test_a_toleration_that_covers_others_stands_for_them(sandboxed: Api) -> None:
    asked = pod(runtimeClassName="sandbox", tolerations=[{"key": "x", "operator": "Exists"}, EVERYTHING])
    assert (await sandboxed.ok("POST", PODS, asked))["spec"]["tolerations"] == [EVERYTHING]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"runtimeClassName": "other"}, 'pod rejected: RuntimeClass "other" not found'),
        (
            {"runtimeClassName": "sandbox", "overhead": {"cpu": "11m"}},
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            {"overhead": {"cpu": "10m"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        (
            {"runtimeClassName": "sandbox", "nodeSelector": {"sandboxed": "false"}},
            "conflict: runtimeClass.scheduling.nodeSelector[sandboxed] = true;"
            " pod.spec.nodeSelector[sandboxed] = false",
        ),
    ],
)
async def test_a_pod_may_not_disagree(sandboxed: Api, spec: Json, told: str) -> None:
    status, answer = await sandboxed.ask("POST", PODS, pod(**spec))
    assert (status, answer["message"]) == (403, f'pods "p" is forbidden: {told}')
