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


OWNER = {"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": True}

ACCEPTED = [
    pytest.param(
        "/api/v1/namespaces/default/configmaps?dryRun=All",
        named(binaryData={"a": None}),
        "binaryData",
        {"a": ""},
        id="no bytes are empty bytes",
    ),
    pytest.param(
        "/api/v1/namespaces/default/configmaps?dryRun=All",
        {"metadata": {"name": "x", "ownerReferences": [OWNER, OWNER]}},
        "metadata.ownerReferences",
        [OWNER],
        id="an owner owns once",
    ),
    pytest.param(
        "/api/v1/namespaces/default/services?dryRun=All",
        named(spec={"type": "NodePort", "ports": [{"port": 1, "nodePort": 5}]}),
        "spec.ports.0.nodePort",
        5,
        id="a dry run takes no port, so any will do",
    ),
    pytest.param(
        NAMESPACED.format("resource.k8s.io", "resourceclaims"),
        named(spec={"devices": {"requests": []}}),
        "spec.devices.requests",
        None,
        id="no requests are none",
    ),
    pytest.param(
        "/apis/authentication.k8s.io/v1/selfsubjectreviews",
        named(),
        "metadata.name",
        None,
        id="who asks who he is gets no name",
    ),
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
        "/api/v1/namespaces?dryRun=All",
        {"metadata": {"name": "x", "labels": {"pod-security.kubernetes.io/enforce": "some"}}},
        'metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "some": must be one of privileged,'
        " baseline, restricted",
        id="levels of pod security",
    ),
    pytest.param(
        "/api/v1/namespaces?dryRun=All",
        {"metadata": {"name": "x", "labels": {"pod-security.kubernetes.io/warn-version": "v2"}}},
        'metadata.labels[pod-security.kubernetes.io/warn-version]: Invalid value: "v2": must be "latest" or "v1.x"',
        id="versions of pod security",
    ),
    pytest.param(
        "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers?dryRun=All",
        named(
            spec={
                "maxReplicas": 1,
                "scaleTargetRef": {"apiVersion": "a/v1", "kind": "K", "name": "n"},
                "targetCPUUtilizationPercentage": 0,
            }
        ),
        "spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
        id="the old autoscaler is judged as the new one",
    ),
    pytest.param(
        CLUSTER.format("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"),
        named(spec={"type": "Limited", "limited": {"limitResponse": {"type": "Reject", "queuing": {}}}}),
        "spec.limited.limitResponse.queuing: Forbidden",
        id="who rejects has no queues",
    ),
    pytest.param(
        CLUSTER.format("resource.k8s.io", "resourceslices"),
        named(
            spec={
                "driver": "d",
                "nodeName": "n",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "devices": [{"name": "a", "bindingFailureConditions": ["x"]}],
            }
        ),
        "spec.devices[0].bindingConditions: Invalid value: null: bindingConditions are required to use"
        " bindingFailureConditions",
        id="devices wait for both or for nothing",
    ),
    pytest.param(
        CLUSTER.format("resource.k8s.io", "resourceslices"),
        named(
            spec={
                "driver": "d",
                "nodeName": "n",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "devices": [
                    {
                        "name": "a",
                        "allowMultipleAllocations": True,
                        "capacity": {
                            "m": {
                                "value": "4Gi",
                                "requestPolicy": {"default": "3Gi", "validRange": {"min": "1Gi", "max": "2Gi"}},
                            }
                        },
                    }
                ],
            }
        ),
        'spec.devices[0].capacity[m].requestPolicy.validRange.default: Invalid value: "3Gi": default is more than max:'
        " 2Gi",
        id="shares have limits",
    ),
    pytest.param(
        CLUSTER.format("apiextensions.k8s.io", "customresourcedefinitions"),
        {
            "metadata": {"name": "as.b.io"},
            "spec": {
                "group": "b.io",
                "scope": "Cluster",
                "names": {"plural": "as", "kind": "A"},
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {
                            "openAPIV3Schema": {
                                "type": "object",
                                "properties": {"n": {"type": "integer", "default": 1, "multipleOf": 0}},
                            }
                        },
                    }
                ],
            },
        },
        "spec.validation.openAPIV3Schema.properties[n].default: Invalid value: 0: factor MultipleOf declared for  must"
        " be positive: 0",
        id="nothing is a multiple of nothing",
    ),
    pytest.param(
        CLUSTER.format("resource.k8s.io", "resourceslices"),
        named(
            spec={
                "driver": "d",
                "nodeName": "n",
                "pool": {"name": "p", "resourceSliceCount": 1},
                "devices": [
                    {
                        "name": "a",
                        "allowMultipleAllocations": True,
                        "capacity": {"m": {"value": "4Gi", "requestPolicy": {"validValues": ["1Gi"]}}},
                    }
                ],
            }
        ),
        "spec.devices[0].capacity[m].requestPolicy.default: Required value: required when validValues is defined",
        id="shares have a default",
    ),
    pytest.param(
        "/apis/events.k8s.io/v1/namespaces/default/events?dryRun=All",
        named(regarding={"namespace": "default"}, eventTime="2026-01-01T00:00:00.000000Z"),
        "action: Required value",
        id="events say what was done",
    ),
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


@pytest.mark.parametrize(
    ("url", "body", "told"),
    [
        (
            "/apis/authentication.k8s.io/v1/tokenreviews",
            {"spec": {}},
            "token is required for TokenReview in authentication",
        ),
        ("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {}}, "no namespace on request"),
        ("/api/v1/namespaces/default/bindings", {"target": {"name": "n"}}, "Name parameter required."),
    ],
)
async def test_not_understood(url: str, body: Json, told: str) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        status, answer = await Api(server).ask("POST", url, body)
    assert (status, answer["message"]) == (400, told)


@pytest.mark.parametrize(
    ("media", "patch", "status", "told"),
    [
        ("merge-patch", {"kind": None}, 200, ""),
        ("strategic-merge-patch", {"kind": "Other"}, 200, ""),
        (
            "merge-patch",
            {"apiVersion": None},
            400,
            "the name of the object (x based on URL) was undeterminable: name must be provided",
        ),
        ("merge-patch", {"kind": "Other"}, 422, 'no kind "Other" is registered for version "v1" in scheme'),
        (
            "merge-patch",
            {"kind": 7},
            422,
            "couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind",
        ),
        ("strategic-merge-patch", {"data": {"a": 7}}, 422, "cannot convert int64 to string"),
    ],
)
async def test_patches_and_kinds(media: str, patch: Json, status: int, told: str) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        api = Api(server)
        await api.ok("POST", "/api/v1/namespaces/default/configmaps", named(data={"a": "b"}))
        got, answer = await api.ask(
            "PATCH", "/api/v1/namespaces/default/configmaps/x", patch, content_type=f"application/{media}+json"
        )
    assert got == status, answer
    assert told in answer.get("message", "")


RESIZED = [
    ([], "spec.containers: Forbidden: containers may not be added or removed on resize"),
    (["d", "c"], "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"),
]


@pytest.mark.parametrize(("containers", "told"), RESIZED)
async def test_a_resize_keeps_the_containers(containers: list[str], told: str) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        api = Api(server)
        await api.ok("POST", "/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
        pod = named(spec={"containers": [{"name": name, "image": "i"} for name in "cd"]})
        await api.ok("POST", "/api/v1/namespaces/default/pods", pod)
        asked = named(spec={"containers": [{"name": name, "image": "i"} for name in containers]})
        status, answer = await api.ask("PUT", "/api/v1/namespaces/default/pods/x/resize", asked)
    assert status == 422, answer
    assert told in answer["message"]


async def test_a_scale_says_its_name() -> None:
    async with ApiServer(MemoryStore()).running() as server:
        api = Api(server)
        labels = {"a": "b"}
        spec = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": POD}}
        await api.ok("POST", "/apis/apps/v1/namespaces/default/deployments", named(spec=spec))
        where = "/apis/apps/v1/namespaces/default/deployments/x/scale"
        status, answer = await api.ask("PUT", where, {"spec": {"replicas": 2}})
    told = "the name of the object (x based on URL) was undeterminable: name must be provided"
    assert (status, answer["message"]) == (400, told)


async def test_a_slice_changes_with_its_labels() -> None:
    async with ApiServer(MemoryStore()).running() as server:
        api = Api(server)
        where = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
        await api.ok("POST", where, named(addressType="IPv4", endpoints=[], ports=[]))
        patch = {"metadata": {"labels": {"kubernetes.io/service-name": "s"}}}
        changed = await api.ok("PATCH", f"{where}/x", patch, content_type="application/merge-patch+json")
    assert changed["metadata"]["generation"] == 2


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            [],
            "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct {"
            ' APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
        ),
        (
            {"kind": "Pod", "apiVersion": "v1"},
            'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            {"gracePeriodSeconds": "x"},
            "json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
        ),
    ],
)
async def test_delete_options_that_are_none(options: Any, told: str) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        status, answer = await Api(server).ask("DELETE", "/api/v1/namespaces/default/configmaps/x", options)
    assert (status, answer["message"]) == (400, told)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "fieldValidation=Maybe",
            'fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
        ),
        ("fieldManager=a%09b", 'fieldManager: Invalid value: "a\\tb": invalid character U+0009 (at position 1)'),
    ],
)
async def test_options_that_do_not_exist(url: str, told: str) -> None:
    async with ApiServer(MemoryStore()).running() as server:
        status, answer = await Api(server).ask("POST", f"/api/v1/namespaces/default/configmaps?{url}", named())
    assert (status, answer["message"]) == (422, f'CreateOptions.meta.k8s.io "" is invalid: {told}')


async def test_an_option_for_one_is_not_for_many() -> None:
    async with ApiServer(MemoryStore()).running() as server:
        options = {"ignoreStoreReadErrorWithClusterBreakingPotential": True}
        status, answer = await Api(server).ask("DELETE", "/api/v1/namespaces/default/configmaps", options)
    assert status == 422
    assert "is not allowed with DELETECOLLECTION" in answer["message"]
