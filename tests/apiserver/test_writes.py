"""What kube-apiserver makes of objects on their way in, and how it words its refusals: facts its answers taught us.

Each row is one object that was sent to v1.37, and the part of the answer that was not obvious. `tools/differ` asks
many thousand more, but needs the real server.
"""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.apiserver.server import ApiServer
from hardpoint.store.memory import MemoryStore
from tests.apiserver.asking import Api

Json = dict[str, Any]

NAMESPACED = "/apis/{}/v1/namespaces/default/{}?dryRun=All"
CLUSTER = "/apis/{}/v1/{}?dryRun=All"
POD = {"containers": [{"name": "c", "image": "i"}]}


def named(**rest: Any) -> Json:
    return {"metadata": {"name": "x"}, **rest}


def at(obj: Any, path: str) -> Any:
    for step in path.split("."):
        obj = obj[int(step)] if step.isdigit() else obj.get(step)
        if obj is None:
            return None
    return obj


ACCEPTED = [
    pytest.param(
        "/api/v1/nodes?dryRun=All", named(spec={"configSource": {}}), "spec.configSource", None, id="dynamic kubelets"
    ),
    pytest.param(
        NAMESPACED.format("coordination.k8s.io", "leases"),
        named(spec={"preferredHolder": "me", "strategy": "x"}),
        "spec",
        {},
        id="coordinated elections are off",
    ),
    pytest.param(
        NAMESPACED.format("discovery.k8s.io", "endpointslices"),
        named(addressType="IPv4", endpoints=[{"addresses": ["10.0.0.1"], "deprecatedTopology": {"a": "b"}}], ports=[]),
        "endpoints.0.deprecatedTopology",
        None,
        id="v1 does not write the old topology",
    ),
    pytest.param(
        NAMESPACED.format("policy", "poddisruptionbudgets"),
        {"metadata": {"name": "Any_Name"}, "spec": {}},
        "metadata.name",
        "Any_Name",
        id="budgets have any name",
    ),
    pytest.param(
        CLUSTER.format("networking.k8s.io", "ipaddresses"),
        {"metadata": {"name": "2001:db8::1"}, "spec": {"parentRef": {"resource": "r", "name": "n"}}},
        "metadata.name",
        "2001:db8::1",
        id="addresses are names",
    ),
    pytest.param(
        "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers?dryRun=All",
        named(spec={"maxReplicas": 1, "scaleTargetRef": {"kind": "ReplicationController", "name": "n"}}),
        "spec.scaleTargetRef.apiVersion",
        None,
        id="the one core kind that scales",
    ),
    pytest.param(
        NAMESPACED.format("batch", "jobs"),
        named(
            spec={
                "podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "T", "status": ""}]}]},
                "template": {"spec": {**POD, "restartPolicy": "Never"}},
            }
        ),
        "spec.podFailurePolicy.rules.0.onPodConditions.0.status",
        "True",
        id="conditions are true unless said",
    ),
]

REFUSED = [
    pytest.param(
        NAMESPACED.format("apps", "deployments"),
        named(
            spec={
                "selector": {"matchExpressions": [{"key": "a", "operator": "Is"}], "matchLabels": {"b": "c"}},
                "template": {"metadata": {"labels": {"b": "c"}}, "spec": POD},
            }
        ),
        'spec.selector: Invalid value: {"matchLabels":{"b":"c"},"matchExpressions":[{"key":"a","operator":"Is"}]}:'
        " invalid label selector",
        id="selectors are shown in Go's order",
    ),
    pytest.param(
        NAMESPACED.format("apps", "deployments"),
        named(
            spec={"selector": {"matchLabels": {"b": "c"}}, "template": {"metadata": {"labels": {}}, "spec": POD}},
        ),
        "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`",
        id="empty labels are shown as such",
    ),
    pytest.param(
        "/api/v1/namespaces/default/configmaps?dryRun=All",
        {"metadata": {"name": "x", "finalizers": ["mine"]}},
        'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully'
        " qualified",
        id="finalizers have a domain",
    ),
    pytest.param(
        CLUSTER.format("storage.k8s.io", "storageclasses"),
        named(provisioner="p", allowedTopologies=[{"matchLabelExpressions": []}]),
        'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
        id="an empty topology is one too many",
    ),
    pytest.param(
        "/api/v1/nodes?dryRun=All",
        named(spec={"podCIDRs": ["10.0.0.0/24", "10x"]}),
        "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[1]:"
        " <nil> (invalid CIDR address: 10x)",
        id="the second range must be one",
    ),
    pytest.param(
        "/api/v1/nodes?dryRun=All",
        named(status={"nodeInfo": {"swap": {"capacity": 0}}}),
        "metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero",
        id="no swap is not zero swap",
    ),
    pytest.param(
        "/api/v1/persistentvolumes?dryRun=All",
        named(
            spec={
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "iscsi": {"targetPortal": "1.2.3.4:1", "iqn": "iqn.2001-04.com.example:x", "lun": 0, "secretRef": {}},
            }
        ),
        "spec.iscsi.secretRef.name: Required value",
        id="a secret has a name",
    ),
]

WARNED = [
    pytest.param(
        NAMESPACED.format("discovery.k8s.io", "endpointslices"),
        named(addressType="FQDN", endpoints=[], ports=[]),
        "spec.addressType: FQDN endpoints are deprecated",
        id="slices of names",
    ),
    pytest.param(
        CLUSTER.format("storage.k8s.io", "csidrivers"),
        named(spec={"tokenRequests": [{"audience": "a"}]}),
        "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible"
        " logging of tokens in volume attributes",
        id="drivers that want tokens",
    ),
]


@pytest.mark.parametrize(("url", "body", "path", "expected"), ACCEPTED)
async def test_accepted(url: str, body: Json, path: str, expected: Any) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        assert at(await Api(server).ok("POST", url, body), path) == expected


@pytest.mark.parametrize(("url", "body", "told"), REFUSED)
async def test_refused(url: str, body: Json, told: str) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        status, answer = await Api(server).ask("POST", url, body)
    assert status == 422, answer
    assert told in [f"{cause['field']}: {cause['message']}" for cause in answer["details"]["causes"]]


@pytest.mark.parametrize(("url", "body", "told"), WARNED)
async def test_warned(url: str, body: Json, told: str) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        response = await Api(server).send("POST", url, body)
    assert response.status == 201, response.body
    assert f'299 - "{told}"' in [value for name, value in response.headers if name == "Warning"]
