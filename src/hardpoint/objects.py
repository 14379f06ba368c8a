"""Built-in objects with attributes: `from hardpoint.objects import Deployment, Object`.

An Object reads and writes the JSON it was made from, under Kubernetes' own field names: see `machinery/objects.py`. A
class for a kind has nothing of its own: it says which objects are meant, to people, type checkers and decorators. Of
two kinds of one name the one in the core group has the class, and of several versions the best.
"""

from __future__ import annotations

from hardpoint.machinery.objects import Items, Map, Object

__all__ = [
    "APIService",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "CertificateSigningRequest",
    "ClusterRole",
    "ClusterRoleBinding",
    "ClusterTrustBundle",
    "ComponentStatus",
    "ConfigMap",
    "ControllerRevision",
    "CronJob",
    "CustomResourceDefinition",
    "DaemonSet",
    "Deployment",
    "DeviceClass",
    "DeviceTaintRule",
    "EndpointSlice",
    "Endpoints",
    "Event",
    "FlowSchema",
    "HorizontalPodAutoscaler",
    "IPAddress",
    "Ingress",
    "IngressClass",
    "Items",
    "Job",
    "Lease",
    "LimitRange",
    "Map",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration",
    "Namespace",
    "NetworkPolicy",
    "Node",
    "Object",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodCertificateRequest",
    "PodDisruptionBudget",
    "PodTemplate",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ReplicaSet",
    "ReplicationController",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceQuota",
    "ResourceSlice",
    "Role",
    "RoleBinding",
    "RuntimeClass",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServiceCIDR",
    "StatefulSet",
    "StorageClass",
    "StorageVersionMigration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
    "VolumeAttachment",
    "VolumeAttributesClass",
]


class APIService(Object):
    __slots__ = ()
    api_version = "apiregistration.k8s.io/v1"
    kind = "APIService"


class CSIDriver(Object):
    __slots__ = ()
    api_version = "storage.k8s.io/v1"
    kind = "CSIDriver"


class CSINode(Object):
    __slots__ = ()
    api_version = "storage.k8s.io/v1"
    kind = "CSINode"


class CSIStorageCapacity(Object):
    __slots__ = ()
    api_version = "storage.k8s.io/v1"
    kind = "CSIStorageCapacity"


class CertificateSigningRequest(Object):
    __slots__ = ()
    api_version = "certificates.k8s.io/v1"
    kind = "CertificateSigningRequest"


class ClusterRole(Object):
    __slots__ = ()
    api_version = "rbac.authorization.k8s.io/v1"
    kind = "ClusterRole"


class ClusterRoleBinding(Object):
    __slots__ = ()
    api_version = "rbac.authorization.k8s.io/v1"
    kind = "ClusterRoleBinding"


class ClusterTrustBundle(Object):
    __slots__ = ()
    api_version = "certificates.k8s.io/v1"
    kind = "ClusterTrustBundle"


class ComponentStatus(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "ComponentStatus"


class ConfigMap(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "ConfigMap"


class ControllerRevision(Object):
    __slots__ = ()
    api_version = "apps/v1"
    kind = "ControllerRevision"


class CronJob(Object):
    __slots__ = ()
    api_version = "batch/v1"
    kind = "CronJob"


class CustomResourceDefinition(Object):
    __slots__ = ()
    api_version = "apiextensions.k8s.io/v1"
    kind = "CustomResourceDefinition"


class DaemonSet(Object):
    __slots__ = ()
    api_version = "apps/v1"
    kind = "DaemonSet"


class Deployment(Object):
    __slots__ = ()
    api_version = "apps/v1"
    kind = "Deployment"


class DeviceClass(Object):
    __slots__ = ()
    api_version = "resource.k8s.io/v1"
    kind = "DeviceClass"


class DeviceTaintRule(Object):
    __slots__ = ()
    api_version = "resource.k8s.io/v1"
    kind = "DeviceTaintRule"


class EndpointSlice(Object):
    __slots__ = ()
    api_version = "discovery.k8s.io/v1"
    kind = "EndpointSlice"


class Endpoints(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "Endpoints"


class Event(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "Event"


class FlowSchema(Object):
    __slots__ = ()
    api_version = "flowcontrol.apiserver.k8s.io/v1"
    kind = "FlowSchema"


class HorizontalPodAutoscaler(Object):
    __slots__ = ()
    api_version = "autoscaling/v2"
    kind = "HorizontalPodAutoscaler"


class IPAddress(Object):
    __slots__ = ()
    api_version = "networking.k8s.io/v1"
    kind = "IPAddress"


class Ingress(Object):
    __slots__ = ()
    api_version = "networking.k8s.io/v1"
    kind = "Ingress"


class IngressClass(Object):
    __slots__ = ()
    api_version = "networking.k8s.io/v1"
    kind = "IngressClass"


class Job(Object):
    __slots__ = ()
    api_version = "batch/v1"
    kind = "Job"


class Lease(Object):
    __slots__ = ()
    api_version = "coordination.k8s.io/v1"
    kind = "Lease"


class LimitRange(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "LimitRange"


class MutatingAdmissionPolicy(Object):
    __slots__ = ()
    api_version = "admissionregistration.k8s.io/v1"
    kind = "MutatingAdmissionPolicy"


class MutatingAdmissionPolicyBinding(Object):
    __slots__ = ()
    api_version = "admissionregistration.k8s.io/v1"
    kind = "MutatingAdmissionPolicyBinding"


class MutatingWebhookConfiguration(Object):
    __slots__ = ()
    api_version = "admissionregistration.k8s.io/v1"
    kind = "MutatingWebhookConfiguration"


class Namespace(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "Namespace"


class NetworkPolicy(Object):
    __slots__ = ()
    api_version = "networking.k8s.io/v1"
    kind = "NetworkPolicy"


class Node(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "Node"


class PersistentVolume(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "PersistentVolume"


class PersistentVolumeClaim(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "PersistentVolumeClaim"


class Pod(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "Pod"


class PodCertificateRequest(Object):
    __slots__ = ()
    api_version = "certificates.k8s.io/v1"
    kind = "PodCertificateRequest"


class PodDisruptionBudget(Object):
    __slots__ = ()
    api_version = "policy/v1"
    kind = "PodDisruptionBudget"


class PodTemplate(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "PodTemplate"


class PriorityClass(Object):
    __slots__ = ()
    api_version = "scheduling.k8s.io/v1"
    kind = "PriorityClass"


class PriorityLevelConfiguration(Object):
    __slots__ = ()
    api_version = "flowcontrol.apiserver.k8s.io/v1"
    kind = "PriorityLevelConfiguration"


class ReplicaSet(Object):
    __slots__ = ()
    api_version = "apps/v1"
    kind = "ReplicaSet"


class ReplicationController(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "ReplicationController"


class ResourceClaim(Object):
    __slots__ = ()
    api_version = "resource.k8s.io/v1"
    kind = "ResourceClaim"


class ResourceClaimTemplate(Object):
    __slots__ = ()
    api_version = "resource.k8s.io/v1"
    kind = "ResourceClaimTemplate"


class ResourceQuota(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "ResourceQuota"


class ResourceSlice(Object):
    __slots__ = ()
    api_version = "resource.k8s.io/v1"
    kind = "ResourceSlice"


class Role(Object):
    __slots__ = ()
    api_version = "rbac.authorization.k8s.io/v1"
    kind = "Role"


class RoleBinding(Object):
    __slots__ = ()
    api_version = "rbac.authorization.k8s.io/v1"
    kind = "RoleBinding"


class RuntimeClass(Object):
    __slots__ = ()
    api_version = "node.k8s.io/v1"
    kind = "RuntimeClass"


class Secret(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "Secret"


class Service(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "Service"


class ServiceAccount(Object):
    __slots__ = ()
    api_version = "v1"
    kind = "ServiceAccount"


class ServiceCIDR(Object):
    __slots__ = ()
    api_version = "networking.k8s.io/v1"
    kind = "ServiceCIDR"


class StatefulSet(Object):
    __slots__ = ()
    api_version = "apps/v1"
    kind = "StatefulSet"


class StorageClass(Object):
    __slots__ = ()
    api_version = "storage.k8s.io/v1"
    kind = "StorageClass"


class StorageVersionMigration(Object):
    __slots__ = ()
    api_version = "storagemigration.k8s.io/v1"
    kind = "StorageVersionMigration"


class ValidatingAdmissionPolicy(Object):
    __slots__ = ()
    api_version = "admissionregistration.k8s.io/v1"
    kind = "ValidatingAdmissionPolicy"


class ValidatingAdmissionPolicyBinding(Object):
    __slots__ = ()
    api_version = "admissionregistration.k8s.io/v1"
    kind = "ValidatingAdmissionPolicyBinding"


class ValidatingWebhookConfiguration(Object):
    __slots__ = ()
    api_version = "admissionregistration.k8s.io/v1"
    kind = "ValidatingWebhookConfiguration"


class VolumeAttachment(Object):
    __slots__ = ()
    api_version = "storage.k8s.io/v1"
    kind = "VolumeAttachment"


class VolumeAttributesClass(Object):
    __slots__ = ()
    api_version = "storage.k8s.io/v1"
    kind = "VolumeAttributesClass"
