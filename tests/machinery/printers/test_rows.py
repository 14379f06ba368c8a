"""One golden row a kind, and the cells that depend on more than one field."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from hardpoint.machinery.kinds import Kind, builtin, by_kind
from hardpoint.machinery.printers import CELLS
from hardpoint.machinery.tables import table

NOW = datetime(2026, 1, 10, 12, 0, 0, tzinfo=UTC)
CREATED = "2026-01-05T09:00:00Z"
AGE = "5d3h"
TEMPLATE = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web", "image": "nginx"}, {"name": "log", "image": "busybox"}]},
}
SELECTOR = {"matchLabels": {"app": "web"}}


def row(api_version: str, kind: str, body: dict[str, Any]) -> dict[str, Any]:
    described = by_kind(api_version, kind)
    assert described is not None
    metadata = {"name": "x", "creationTimestamp": CREATED, **body.pop("metadata", {})}
    obj = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **body}
    shown: dict[str, Any] = table(described, [obj], now=NOW, include_object="None")["rows"][0]
    return shown


def condition(kind: str, status: str = "True", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **more}


@pytest.mark.parametrize(
    ("api_version", "kind", "body", "cells"),
    [
        (
            "v1",
            "Node",
            {
                "metadata": {"labels": {"node-role.kubernetes.io/worker": "", "kubernetes.io/role": "edge"}},
                "spec": {"unschedulable": True},
                "status": {
                    "conditions": [condition("Ready")],
                    "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                    "nodeInfo": {"kubeletVersion": "v1.37.0", "kernelVersion": "6.1", "architecture": "amd64"},
                },
            },
            [
                "x",
                "Ready,SchedulingDisabled",
                "edge,worker",
                AGE,
                "v1.37.0",
                "10.0.0.1",
                "<none>",
                "<unknown>",
                "6.1 (amd64)",
                "<unknown>",
            ],
        ),
        ("v1", "Namespace", {"status": {"phase": "Terminating"}}, ["x", "Terminating", AGE]),
        ("v1", "ConfigMap", {"data": {"a": "1"}, "binaryData": {"b": "Yg=="}}, ["x", 2, AGE]),
        ("v1", "Secret", {"type": "Opaque", "data": {"a": "Yg=="}}, ["x", "Opaque", 1, AGE]),
        ("v1", "ServiceAccount", {}, ["x", AGE]),
        ("v1", "LimitRange", {}, ["x", CREATED]),
        (
            "v1",
            "ComponentStatus",
            {"conditions": [condition("Healthy", message="ok")]},
            ["x", "Healthy", "ok", ""],
        ),
        (
            "v1",
            "ResourceQuota",
            {"status": {"hard": {"pods": "10", "limits.cpu": "2", "cpu": "1000m"}, "used": {"pods": "3"}}},
            ["x", "cpu: 0/1, pods: 3/10", "limits.cpu: 0/2", AGE],
        ),
        (
            "v1",
            "PersistentVolume",
            {
                "spec": {
                    "capacity": {"storage": "1024Mi"},
                    "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
                    "persistentVolumeReclaimPolicy": "Retain",
                    "claimRef": {"namespace": "shop", "name": "data"},
                    "storageClassName": "fast",
                    "volumeMode": "Filesystem",
                },
                "status": {"phase": "Bound"},
            },
            ["x", "1Gi", "RWO,RWX", "Retain", "Bound", "shop/data", "fast", "<unset>", "", AGE, "Filesystem"],
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            {
                "spec": {"volumeName": "pv1", "storageClassName": "fast", "volumeMode": "Block"},
                "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]},
            },
            ["x", "Bound", "pv1", "1Gi", "RWO", "fast", "<unset>", AGE, "Block"],
        ),
        (
            "v1",
            "Service",
            {
                "spec": {
                    "type": "NodePort",
                    "clusterIPs": ["10.96.0.10"],
                    "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
                    "selector": {"b": "2", "a": "1"},
                }
            },
            ["x", "NodePort", "10.96.0.10", "<none>", "80:30080/TCP,53/UDP", AGE, "a=1,b=2"],
        ),
        (
            "v1",
            "Endpoints",
            {"subsets": [{"addresses": [{"ip": "10.0.0.1"}, {"ip": "::1"}], "ports": [{"port": 80}, {"port": 81}]}]},
            ["x", "10.0.0.1:80,[::1]:80,10.0.0.1:81 + 1 more...", AGE],
        ),
        (
            "v1",
            "ReplicationController",
            {"spec": {"replicas": 2, "selector": {"app": "web"}, "template": TEMPLATE}, "status": {"replicas": 1}},
            ["x", 2, 1, 0, AGE, "web,log", "nginx,busybox", "app=web"],
        ),
        ("v1", "PodTemplate", {"template": TEMPLATE}, ["x", "web,log", "nginx,busybox", "app=web"]),
        (
            "v1",
            "Event",
            {
                "type": "Normal",
                "reason": "Pulled",
                "message": " image is there\n",
                "involvedObject": {"kind": "Pod", "name": "web", "fieldPath": "spec.containers{web}"},
                "source": {"component": "kubelet", "host": "n1"},
                "firstTimestamp": "2026-01-10T11:00:00Z",
                "lastTimestamp": "2026-01-10T11:59:00Z",
                "count": 4,
            },
            [
                "60s",
                "Normal",
                "Pulled",
                "pod/web",
                "spec.containers{web}",
                "kubelet, n1",
                "image is there",
                "60m",
                4,
                "x",
            ],
        ),
        (
            "events.k8s.io/v1",
            "Event",
            {
                "type": "Warning",
                "reason": "Failed",
                "message": "no",
                "involvedObject": {"kind": "Node"},
                "eventTime": "2026-01-10T11:00:00.000000Z",
                "reportingComponent": "scheduler",
                "reportingInstance": "s1",
                "series": {"count": 7, "lastObservedTime": "2026-01-10T11:59:50.000000Z"},
            },
            ["10s", "Warning", "Failed", "node", "", "scheduler, s1", "no", "60m", 7, "x"],
        ),
        (
            "apps/v1",
            "Deployment",
            {
                "spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
                "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 1},
            },
            ["x", "2/3", 3, 1, AGE, "web,log", "nginx,busybox", "app=web"],
        ),
        (
            "apps/v1",
            "ReplicaSet",
            {
                "spec": {"replicas": 3, "selector": SELECTOR, "template": TEMPLATE},
                "status": {"replicas": 2, "readyReplicas": 1},
            },
            ["x", 3, 2, 1, AGE, "web,log", "nginx,busybox", "app=web"],
        ),
        (
            "apps/v1",
            "StatefulSet",
            {"spec": {"replicas": 3, "template": TEMPLATE}, "status": {"readyReplicas": 1}},
            ["x", "1/3", AGE, "web,log", "nginx,busybox"],
        ),
        (
            "apps/v1",
            "DaemonSet",
            {
                "spec": {"selector": {}, "template": {"spec": {"nodeSelector": {"disk": "ssd"}}}},
                "status": {"desiredNumberScheduled": 3, "currentNumberScheduled": 2, "numberReady": 1},
            },
            ["x", 3, 2, 1, 0, 0, "disk=ssd", AGE, "", "", "<none>"],
        ),
        (
            "apps/v1",
            "ControllerRevision",
            {
                "metadata": {
                    "ownerReferences": [
                        {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}
                    ]
                },
                "revision": 2,
            },
            ["x", "statefulset.apps/db", 2, AGE],
        ),
        (
            "batch/v1",
            "Job",
            {
                "spec": {"completions": 5, "selector": SELECTOR, "template": TEMPLATE},
                "status": {
                    "succeeded": 5,
                    "conditions": [condition("Complete")],
                    "startTime": "2026-01-10T10:00:00Z",
                    "completionTime": "2026-01-10T10:05:30Z",
                },
            },
            ["x", "Complete", "5/5", "5m30s", AGE, "web,log", "nginx,busybox", "app=web"],
        ),
        (
            "batch/v1",
            "CronJob",
            {
                "spec": {
                    "schedule": "0 * * * *",
                    "suspend": False,
                    "timeZone": "Etc/UTC",
                    "jobTemplate": {"spec": {"template": TEMPLATE}},
                },
                "status": {"lastScheduleTime": "2026-01-10T11:00:00Z", "active": [{"name": "x-1"}]},
            },
            ["x", "0 * * * *", "Etc/UTC", "False", 1, "60m", AGE, "web,log", "nginx,busybox", "<none>"],
        ),
        (
            "autoscaling/v1",
            "HorizontalPodAutoscaler",
            {
                "spec": {
                    "scaleTargetRef": {"kind": "Deployment", "name": "web"},
                    "maxReplicas": 9,
                    "targetCPUUtilizationPercentage": 80,
                },
                "status": {"currentReplicas": 2},
            },
            ["x", "Deployment/web", "cpu: <unknown>/80%", "<unset>", 9, 2, AGE],
        ),
        (
            "policy/v1",
            "PodDisruptionBudget",
            {"spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 1}},
            ["x", "50%", "N/A", 1, AGE],
        ),
        (
            "networking.k8s.io/v1",
            "Ingress",
            {
                "spec": {"ingressClassName": "nginx", "rules": [{"host": "a"}, {"host": "b"}], "tls": [{}]},
                "status": {"loadBalancer": {"ingress": [{"hostname": "lb"}, {"ip": "1.2.3.4"}]}},
            },
            ["x", "nginx", "a,b", "1.2.3.4,lb", "80, 443", AGE],
        ),
        (
            "networking.k8s.io/v1",
            "IngressClass",
            {
                "metadata": {"annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
                "spec": {"controller": "c", "parameters": {"apiGroup": "g", "kind": "K", "name": "n"}},
            },
            ["x (default)", "c", "K.g/n", AGE],
        ),
        ("networking.k8s.io/v1", "NetworkPolicy", {"spec": {"podSelector": SELECTOR}}, ["x", "app=web", AGE]),
        (
            "networking.k8s.io/v1",
            "IPAddress",
            {"spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "kubernetes"}}},
            ["x", "services/default/kubernetes", AGE],
        ),
        (
            "networking.k8s.io/v1",
            "ServiceCIDR",
            {"spec": {"cidrs": ["10.96.0.0/16", "fd::/64"]}},
            ["x", "10.96.0.0/16,fd::/64", AGE],
        ),
        (
            "discovery.k8s.io/v1",
            "EndpointSlice",
            {
                "addressType": "IPv4",
                "ports": [{"port": 80}, {"name": "any"}, {}],
                "endpoints": [{"addresses": [f"10.0.0.{number}"]} for number in range(5)],
            },
            ["x", "IPv4", "80,any,*", "10.0.0.0,10.0.0.1,10.0.0.2 + 2 more...", AGE],
        ),
        (
            "storage.k8s.io/v1",
            "StorageClass",
            {"provisioner": "p", "allowVolumeExpansion": True},
            ["x", "p", "Delete", "Immediate", True, AGE],
        ),
        (
            "storage.k8s.io/v1",
            "CSIDriver",
            {"spec": {"attachRequired": False, "tokenRequests": [{"audience": "a"}, {"audience": "b"}]}},
            ["x", False, False, False, "a,b", False, "<none>", AGE],
        ),
        ("storage.k8s.io/v1", "CSINode", {"spec": {"drivers": [{}, {}]}}, ["x", 2, AGE]),
        ("storage.k8s.io/v1", "CSIStorageCapacity", {}, ["x", CREATED]),
        ("storage.k8s.io/v1", "VolumeAttributesClass", {"driverName": "d"}, ["x", "d", AGE]),
        (
            "storage.k8s.io/v1",
            "VolumeAttachment",
            {
                "spec": {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "pv"}},
                "status": {"attached": True},
            },
            ["x", "a", "pv", "n", True, AGE],
        ),
        (
            "certificates.k8s.io/v1",
            "CertificateSigningRequest",
            {
                "spec": {"signerName": "s", "username": "u", "expirationSeconds": 3600},
                "status": {"conditions": [condition("Approved")], "certificate": "Yg=="},
            },
            ["x", AGE, "s", "u", "60m", "Approved,Issued"],
        ),
        ("certificates.k8s.io/v1", "ClusterTrustBundle", {"spec": {}}, ["x", "<none>"]),
        (
            "certificates.k8s.io/v1",
            "PodCertificateRequest",
            {"spec": {"podName": "p", "serviceAccountName": "s", "nodeName": "n", "signerName": "g"}},
            ["x", "p", "s", "n", "g", "Pending", "<none>"],
        ),
        ("coordination.k8s.io/v1", "Lease", {"spec": {"holderIdentity": "me"}}, ["x", "me", AGE]),
        (
            "rbac.authorization.k8s.io/v1",
            "ClusterRoleBinding",
            {
                "roleRef": {"kind": "ClusterRole", "name": "admin"},
                "subjects": [
                    {"kind": "User", "name": "ann"},
                    {"kind": "User", "name": "bob"},
                    {"kind": "Group", "name": "ops"},
                    {"kind": "ServiceAccount", "namespace": "shop", "name": "bot"},
                ],
            },
            ["x", "ClusterRole/admin", AGE, "ann, bob", "ops", "shop/bot"],
        ),
        ("rbac.authorization.k8s.io/v1", "Role", {}, ["x", CREATED]),
        ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", {"webhooks": [{}]}, ["x", 1, AGE]),
        (
            "admissionregistration.k8s.io/v1",
            "ValidatingAdmissionPolicy",
            {"spec": {"validations": [{}, {}], "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}},
            ["x", 2, "v1/ConfigMap", AGE],
        ),
        (
            "admissionregistration.k8s.io/v1",
            "MutatingAdmissionPolicyBinding",
            {"spec": {"policyName": "p", "paramRef": {"name": "n"}}},
            ["x", "p", "*/n", AGE],
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1",
            "FlowSchema",
            {
                "spec": {"priorityLevelConfiguration": {"name": "p"}, "matchingPrecedence": 100},
                "status": {"conditions": [condition("Dangling", "False")]},
            },
            ["x", "p", 100, "<none>", AGE, "False"],
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1",
            "PriorityLevelConfiguration",
            {
                "spec": {
                    "type": "Limited",
                    "limited": {
                        "nominalConcurrencyShares": 5,
                        "limitResponse": {"queuing": {"queues": 64, "handSize": 6, "queueLengthLimit": 50}},
                    },
                }
            },
            ["x", "Limited", 5, 64, 6, 50, AGE],
        ),
        (
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            {
                "spec": {
                    "scope": "Namespaced",
                    "group": "example.com",
                    "names": {"kind": "Widget", "shortNames": ["w", "wd"]},
                    "versions": [
                        {"name": "v1beta1", "served": True},
                        {"name": "v1", "served": True, "storage": True},
                        {"name": "v1alpha1", "served": False},
                    ],
                },
                "status": {"conditions": [condition("Established")]},
            },
            ["x", "Namespaced", "v1(storage),v1beta1", CREATED, "example.com", "Widget", "w,wd", True],
        ),
        (
            "apiregistration.k8s.io/v1",
            "APIService",
            {
                "spec": {"service": {"namespace": "kube-system", "name": "metrics"}},
                "status": {"conditions": [condition("Available", "False", reason="MissingEndpoints")]},
            },
            ["x", "kube-system/metrics", "False (MissingEndpoints)", AGE],
        ),
        (
            "resource.k8s.io/v1",
            "ResourceClaim",
            {"status": {"allocation": {}, "reservedFor": [{}]}},
            ["x", "allocated,reserved", AGE],
        ),
        (
            "resource.k8s.io/v1",
            "ResourceSlice",
            {"spec": {"nodeName": "n", "driver": "d", "pool": {"name": "p"}}},
            ["x", "n", "d", "p", AGE],
        ),
        (
            "resource.k8s.io/v1",
            "DeviceTaintRule",
            {"spec": {"taint": {"key": "k", "effect": "NoExecute", "timeAdded": "2026-01-10T11:59:00Z"}}},
            ["x", "k", "", "NoExecute", "60s", AGE],
        ),
        ("resource.k8s.io/v1", "DeviceClass", {}, ["x", AGE]),
        (
            "scheduling.k8s.io/v1",
            "PriorityClass",
            {"value": 10, "globalDefault": True, "preemptionPolicy": "Never"},
            ["x", 10, True, AGE, "Never"],
        ),
        ("node.k8s.io/v1", "RuntimeClass", {"handler": "runc"}, ["x", "runc", AGE]),
        (
            "storagemigration.k8s.io/v1",
            "StorageVersionMigration",
            {
                "spec": {"resource": {"group": "apps", "resource": "deployments"}},
                "status": {"conditions": [condition("Running", "False"), condition("Succeeded")]},
            },
            ["x", "deployments.apps", "Succeeded"],
        ),
    ],
)
def test_rows(api_version: str, kind: str, body: dict[str, Any], cells: list[Any]) -> None:
    assert row(api_version, kind, body)["cells"] == cells


@pytest.mark.parametrize(
    "kind", [each for each in builtin() if (each.group, each.kind) in CELLS], ids=lambda kind: kind.resource
)
def test_an_object_without_a_body_has_a_cell_for_every_column(kind: Kind) -> None:
    made = table(kind, [{"metadata": {"name": "x"}}], now=NOW, include_object="None")
    extra = 1 if kind.kind == "IPAddress" else 0
    assert len(made["rows"][0]["cells"]) == len(made["columnDefinitions"]) + extra


@pytest.mark.parametrize(
    ("spec", "status", "shown"),
    [
        ({"type": "ClusterIP"}, {}, "<none>"),
        ({"type": "ClusterIP", "externalIPs": ["1.1.1.1", "2.2.2.2"]}, {}, "1.1.1.1,2.2.2.2"),
        ({"type": "LoadBalancer"}, {}, "<pending>"),
        ({"type": "LoadBalancer"}, {"ingress": [{"ip": "9.9.9.9"}, {"hostname": "lb"}]}, "9.9.9.9,lb"),
        ({"type": "LoadBalancer", "externalIPs": ["1.1.1.1"]}, {"ingress": [{"ip": "9.9.9.9"}]}, "9.9.9.9,1.1.1.1"),
        ({"type": "ExternalName", "externalName": "example.com"}, {}, "example.com"),
        ({}, {}, "<unknown>"),
    ],
)
def test_external_address_of_a_service(spec: dict[str, Any], status: dict[str, Any], shown: str) -> None:
    assert row("v1", "Service", {"spec": spec, "status": {"loadBalancer": status}})["cells"][3] == shown


@pytest.mark.parametrize(
    ("conditions", "deleted", "shown"),
    [
        ([], False, "Running"),
        ([condition("Failed"), condition("Suspended")], False, "Failed"),
        ([condition("Complete")], True, "Complete"),
        ([condition("Suspended")], True, "Terminating"),
        ([condition("Suspended")], False, "Suspended"),
        ([condition("Suspended", "False"), condition("FailureTarget")], False, "FailureTarget"),
        ([condition("SuccessCriteriaMet")], False, "SuccessCriteriaMet"),
    ],
)
def test_status_of_a_job(conditions: list[dict[str, str]], deleted: bool, shown: str) -> None:
    metadata = {"deletionTimestamp": CREATED} if deleted else {}
    assert row("batch/v1", "Job", {"metadata": metadata, "status": {"conditions": conditions}})["cells"][1] == shown


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({"completions": 3}, "0/3"),
        ({"parallelism": 4}, "0/1 of 4"),
        ({"parallelism": 1}, "0/1"),
    ],
)
def test_completions_of_a_job(spec: dict[str, Any], shown: str) -> None:
    assert row("batch/v1", "Job", {"spec": spec})["cells"][2] == shown


def metric(kind: str, source: str, target: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, source: {"target": target, **more}}


@pytest.mark.parametrize(
    ("metrics", "current", "shown"),
    [
        ([], [], "<none>"),
        (
            [metric("Resource", "resource", {"averageUtilization": 80}, name="cpu")],
            [{"resource": {"current": {"averageUtilization": 12}}}],
            "cpu: 12%/80%",
        ),
        ([metric("Resource", "resource", {"averageValue": "100m"}, name="cpu")], [], "cpu: <unknown>/100m"),
        ([metric("Resource", "resource", {}, name="cpu")], [], "cpu: <unknown>/<auto>"),
        (
            [metric("Pods", "pods", {"averageValue": "1k"})],
            [{"pods": {"current": {"averageValue": "500"}}}],
            "500/1k",
        ),
        ([metric("Object", "object", {"value": "3"})], [{"object": {"current": {"value": "1"}}}], "1/3"),
        ([metric("External", "external", {"averageValue": "3"})], [], "<unknown>/3 (avg)"),
        ([{"type": "Other"}], [], "<unknown type>"),
        (
            [metric("External", "external", {"value": str(number)}) for number in range(4)],
            [],
            "<unknown>/0, <unknown>/1 + 2 more...",
        ),
    ],
)
def test_targets_of_an_autoscaler(metrics: list[Any], current: list[Any], shown: str) -> None:
    body = {"spec": {"metrics": metrics}, "status": {"currentMetrics": current}}
    assert row("autoscaling/v2", "HorizontalPodAutoscaler", body)["cells"][2] == shown


@pytest.mark.parametrize(
    ("rules", "shown"),
    [
        ([], "*"),
        ([{}], "*"),
        ([{"host": name} for name in "abc"], "a,b,c"),
        ([{"host": name} for name in "abcde"], "a,b,c + 2 more..."),
    ],
)
def test_hosts_of_an_ingress(rules: list[dict[str, str]], shown: str) -> None:
    assert row("networking.k8s.io/v1", "Ingress", {"spec": {"rules": rules}})["cells"][2] == shown


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        (None, "<unset>"),
        ({}, "<unset>"),
        ({"name": "n", "namespace": "a"}, "a/n"),
        (
            {"selector": {"matchLabels": {"a": "1"}}},
            "&LabelSelector{MatchLabels:map[string]string{a: 1,},MatchExpressions:[]LabelSelectorRequirement{},}",
        ),
    ],
)
def test_parameters_of_a_binding(reference: dict[str, Any] | None, shown: str) -> None:
    spec = {"policyName": "p", "paramRef": reference}
    cells = row("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding", {"spec": spec})["cells"]
    assert cells[2] == shown


@pytest.mark.parametrize(
    ("conditions", "shown"),
    [
        ([], "Unknown"),
        ([condition("Ready", "False")], "NotReady"),
        ([condition("Ready", "Unknown")], "NotReady"),
        ([condition("DiskPressure")], "Unknown"),
    ],
)
def test_status_of_a_node(conditions: list[dict[str, str]], shown: str) -> None:
    assert row("v1", "Node", {"status": {"conditions": conditions}})["cells"][1] == shown
