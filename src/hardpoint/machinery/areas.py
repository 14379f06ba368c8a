"""Where a kind's rules are: which module knows a built-in kind, and that a custom one brings its own.

Defaults, strategies and validation are split along the same lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from hardpoint.machinery.kinds import Kind

AREAS: Mapping[tuple[str, str], str] = {
    ("", "Pod"): "pods",
    ("", "PodTemplate"): "pods",
    ("", "ReplicationController"): "workloads",
    ("apps", "ControllerRevision"): "workloads",
    ("apps", "DaemonSet"): "workloads",
    ("apps", "Deployment"): "workloads",
    ("apps", "ReplicaSet"): "workloads",
    ("apps", "StatefulSet"): "workloads",
    ("batch", "CronJob"): "batch",
    ("batch", "Job"): "batch",
    ("", "Service"): "services",
    ("", "Endpoints"): "services",
    ("discovery.k8s.io", "EndpointSlice"): "services",
    ("", "ConfigMap"): "core",
    ("", "Event"): "core",
    ("", "LimitRange"): "core",
    ("", "Namespace"): "core",
    ("", "Node"): "core",
    ("", "ResourceQuota"): "core",
    ("", "Secret"): "core",
    ("", "ServiceAccount"): "core",
    ("events.k8s.io", "Event"): "core",
    ("", "PersistentVolume"): "storage",
    ("", "PersistentVolumeClaim"): "storage",
    ("storage.k8s.io", "CSIDriver"): "storage",
    ("storage.k8s.io", "CSINode"): "storage",
    ("storage.k8s.io", "CSIStorageCapacity"): "storage",
    ("storage.k8s.io", "StorageClass"): "storage",
    ("storage.k8s.io", "VolumeAttachment"): "storage",
    ("storage.k8s.io", "VolumeAttributesClass"): "storage",
    ("networking.k8s.io", "IPAddress"): "networking",
    ("networking.k8s.io", "Ingress"): "networking",
    ("networking.k8s.io", "IngressClass"): "networking",
    ("networking.k8s.io", "NetworkPolicy"): "networking",
    ("networking.k8s.io", "ServiceCIDR"): "networking",
    ("policy", "PodDisruptionBudget"): "policy",
    ("autoscaling", "HorizontalPodAutoscaler"): "autoscaling",
    ("rbac.authorization.k8s.io", "ClusterRole"): "rbac",
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): "rbac",
    ("rbac.authorization.k8s.io", "Role"): "rbac",
    ("rbac.authorization.k8s.io", "RoleBinding"): "rbac",
    ("scheduling.k8s.io", "PriorityClass"): "scheduling",
    ("node.k8s.io", "RuntimeClass"): "scheduling",
    ("coordination.k8s.io", "Lease"): "coordination",
    ("certificates.k8s.io", "CertificateSigningRequest"): "certificates",
    ("certificates.k8s.io", "ClusterTrustBundle"): "certificates",
    ("certificates.k8s.io", "PodCertificateRequest"): "certificates",
    ("resource.k8s.io", "DeviceClass"): "resource",
    ("resource.k8s.io", "DeviceTaintRule"): "resource",
    ("resource.k8s.io", "ResourceClaim"): "resource",
    ("resource.k8s.io", "ResourceClaimTemplate"): "resource",
    ("resource.k8s.io", "ResourceSlice"): "resource",
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): "admissionregistration",
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): "admissionregistration",
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): "admissionregistration",
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): "admissionregistration",
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): "admissionregistration",
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): "admissionregistration",
    ("apiextensions.k8s.io", "CustomResourceDefinition"): "apiextensions",
    ("apiregistration.k8s.io", "APIService"): "apiregistration",
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): "flowcontrol",
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): "flowcontrol",
    ("authentication.k8s.io", "TokenReview"): "reviews",
    ("authorization.k8s.io", "LocalSubjectAccessReview"): "reviews",
    ("authorization.k8s.io", "SelfSubjectAccessReview"): "reviews",
    ("authorization.k8s.io", "SelfSubjectRulesReview"): "reviews",
    ("authorization.k8s.io", "SubjectAccessReview"): "reviews",
    ("storagemigration.k8s.io", "StorageVersionMigration"): "storagemigration",
}


def rule(package: str, table: str, kind: Kind) -> Any:
    """The function `package` keeps for a kind in its `table`, or None."""
    if kind.structure is not None:
        return kind.structure.rules.get((package, table))
    return _rule(package, table, kind.group, kind.kind)


@cache
def _rule(package: str, table: str, group: str, kind: str) -> Any:
    """The rule of a built-in kind. Modules without rules need not exist."""
    area = AREAS.get((group, kind))
    if area is None:
        return None
    name = f"hardpoint.machinery.{package}.{area}"
    try:
        module = import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        return None
    return getattr(module, table, {}).get(kind)
