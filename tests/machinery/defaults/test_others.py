"""What the server fills in for every kind that is not a workload."""

from __future__ import annotations

from typing import Any

import pytest

from tests.machinery.walk import Json, changed, written


def of(api_version: str, kind: str, **fields: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, **fields}


def found(obj: Json, path: str) -> Any:
    value: Any = obj
    for step in path.split("."):
        value = value[int(step)] if isinstance(value, list) else value.get(step)
    return value


SERVICE = of("v1", "Service", spec={"ports": [{"port": 80}]})
WEBHOOKS = of(
    "admissionregistration.k8s.io/v1",
    "ValidatingWebhookConfiguration",
    webhooks=[{"name": "a", "clientConfig": {"service": {"name": "s", "namespace": "n"}}, "rules": [{}]}],
)
DEFINITION = of(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    spec={"group": "g", "names": {"kind": "Boat", "plural": "boats"}, "versions": [{"name": "v1", "storage": True}]},
)
AUTOSCALER = of("autoscaling/v2", "HorizontalPodAutoscaler", spec={"scaleTargetRef": {}, "maxReplicas": 2})
LIMITS = of("v1", "LimitRange", spec={"limits": [{"type": "Container", "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}]})
CLAIM = of("resource.k8s.io/v1", "ResourceClaim", spec={"devices": {"requests": [{"name": "r", "exactly": {}}]}})
LEVEL = of("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", spec={"type": "Limited", "limited": {}})


@pytest.mark.parametrize(
    ("body", "path", "value"),
    [
        (SERVICE, "spec.type", "ClusterIP"),
        (SERVICE, "spec.ports.0", {"port": 80, "protocol": "TCP", "targetPort": 80}),
        (SERVICE, "spec.externalTrafficPolicy", None),
        (changed(SERVICE, "spec.type", "NodePort"), "spec.externalTrafficPolicy", "Cluster"),
        (changed(SERVICE, "spec.externalIPs", ["10.0.0.1"]), "spec.externalTrafficPolicy", "Cluster"),
        (changed(SERVICE, "spec.type", "LoadBalancer"), "spec.allocateLoadBalancerNodePorts", True),
        (
            changed(SERVICE, "spec.sessionAffinity", "ClientIP"),
            "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
            10800,
        ),
        (WEBHOOKS, "webhooks.0.timeoutSeconds", 10),
        (WEBHOOKS, "webhooks.0.clientConfig.service.port", 443),
        (WEBHOOKS, "webhooks.0.rules.0.scope", "*"),
        (WEBHOOKS, "webhooks.0.namespaceSelector", {}),
        (DEFINITION, "spec.names", {"kind": "Boat", "listKind": "BoatList", "plural": "boats", "singular": "boat"}),
        (DEFINITION, "spec.conversion", {"strategy": "None"}),
        (DEFINITION, "status.storedVersions", ["v1"]),
        (AUTOSCALER, "spec.minReplicas", 1),
        (AUTOSCALER, "spec.metrics.0.resource.target.averageUtilization", 80),
        (AUTOSCALER, "spec.behavior", None),
        (changed(AUTOSCALER, "spec.behavior", {}), "spec.behavior.scaleUp.policies.1.value", 100),
        (LIMITS, "spec.limits.0.default", {"cpu": "2"}),
        (LIMITS, "spec.limits.0.defaultRequest", {"cpu": "2", "memory": "1Mi"}),
        (CLAIM, "spec.devices.requests.0.exactly", {"deviceClassName": "", "allocationMode": "ExactCount", "count": 1}),
        (LEVEL, "spec.limited.nominalConcurrencyShares", 30),
        (of("v1", "Secret", stringData={"a": "b"}), "data", {"a": "Yg=="}),
        (of("v1", "Secret"), "type", "Opaque"),
        (of("v1", "ResourceQuota", spec={"hard": {"cpu": "1n"}}), "spec.hard.cpu", "1m"),
        (of("v1", "PersistentVolume", spec={"capacity": {"storage": "1500n"}}), "spec.capacity.storage", "1m"),
        (of("v1", "Namespace"), "metadata.labels", {"kubernetes.io/metadata.name": "x"}),
        (of("v1", "Namespace"), "spec.finalizers", ["kubernetes"]),
        (of("v1", "Node", spec={"podCIDRs": ["10.1.0.0/24"]}), "spec.podCIDR", "10.1.0.0/24"),
        (of("v1", "Node", status={"capacity": {"cpu": "4"}}), "status.allocatable", {"cpu": "4"}),
        (of("v1", "PersistentVolume", spec={"hostPath": {"path": "/x"}}), "spec.hostPath.type", ""),
        (of("v1", "PersistentVolume", spec={}), "spec.persistentVolumeReclaimPolicy", "Retain"),
        (of("v1", "PersistentVolumeClaim", spec={}), "spec.volumeMode", "Filesystem"),
        (of("storage.k8s.io/v1", "StorageClass", provisioner="p"), "volumeBindingMode", "Immediate"),
        (of("storage.k8s.io/v1", "CSIDriver", spec={}), "spec.volumeLifecycleModes", ["Persistent"]),
        (of("networking.k8s.io/v1", "NetworkPolicy", spec={"egress": [{}]}), "spec.policyTypes", ["Ingress", "Egress"]),
        (of("networking.k8s.io/v1", "IngressClass", spec={"parameters": {}}), "spec.parameters.scope", "Cluster"),
        (
            of("rbac.authorization.k8s.io/v1", "RoleBinding", subjects=[{"kind": "User"}]),
            "subjects.0.apiGroup",
            "rbac.authorization.k8s.io",
        ),
        (
            of("rbac.authorization.k8s.io/v1", "RoleBinding", subjects=[{"kind": "ServiceAccount"}]),
            "subjects.0.apiGroup",
            None,
        ),
        (of("scheduling.k8s.io/v1", "PriorityClass"), "preemptionPolicy", "PreemptLowerPriority"),
        (of("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", spec={}), "spec.matchingPrecedence", 1000),
        (of("apiregistration.k8s.io/v1", "APIService", spec={"service": {}}), "spec.service.port", 443),
        (of("discovery.k8s.io/v1", "EndpointSlice", ports=[{}]), "ports.0", {"name": "", "protocol": "TCP"}),
        (of("v1", "Endpoints", subsets=[{"ports": [{"port": 1}]}]), "subsets.0.ports.0.protocol", "TCP"),
    ],
)
def test_what_is_filled_in(body: Json, path: str, value: Any) -> None:
    assert found(written(body), path) == value


def test_what_a_client_says_is_kept() -> None:
    body = changed(SERVICE, "spec.internalTrafficPolicy", "Local")
    assert written(body)["spec"]["internalTrafficPolicy"] == "Local"
    assert written(changed(WEBHOOKS, "webhooks.0.timeoutSeconds", 3))["webhooks"][0]["timeoutSeconds"] == 3
