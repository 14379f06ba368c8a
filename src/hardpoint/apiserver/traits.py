"""How kinds differ in what the server does with their metadata, as data.

The rows are the facts of kube-apiserver's registry strategies. A kind that is not named behaves like most kinds: PUT
without a resourceVersion is allowed and does not create, a delete answers with a Status, generation is not tracked.
Sets of names are asked for a Kind's `known_as`, which no custom kind has; where custom kinds differ from most built-in
ones, a function knows.
"""

from __future__ import annotations

from hardpoint.machinery.kinds import Kind

_RBAC = frozenset(("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"))
_ADMISSION = frozenset(
    (
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
    )
)
_DEVICES = frozenset(("DeviceClass", "DeviceTaintRule", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice"))

_NEEDS_RESOURCE_VERSION = _ADMISSION | {
    "APIService",
    "CSIDriver",
    "CSINode",
    "CSIStorageCapacity",
    "ClusterTrustBundle",
    "CustomResourceDefinition",
    "DeviceTaintRule",
    "Lease",
    "PodCertificateRequest",
    "PodDisruptionBudget",
    "RuntimeClass",
    "StorageVersionMigration",
    "VolumeAttachment",
}

# PUT on a name that does not exist creates it.
CREATED_BY_UPDATE = _RBAC | {"Endpoints", "Event", "Lease", "LimitRange", "RuntimeClass", "Service"}

# DELETE answers with the object instead of a Status.
ANSWERS_DELETE_WITH_OBJECT = _DEVICES | {
    "CSIDriver",
    "CSINode",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodTemplate",
    "ResourceQuota",
    "Service",
    "ServiceAccount",
    "StorageClass",
    "VolumeAttachment",
    "VolumeAttributesClass",
}

_TRACKS_GENERATION = _ADMISSION | {
    "CronJob",
    "CustomResourceDefinition",
    "DaemonSet",
    "Deployment",
    "DeviceClass",
    "DeviceTaintRule",
    "EndpointSlice",
    "FlowSchema",
    "HorizontalPodAutoscaler",
    "Ingress",
    "IngressClass",
    "Job",
    "NetworkPolicy",
    "Pod",
    "PodDisruptionBudget",
    "PodTemplate",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ReplicaSet",
    "ReplicationController",
    "ResourceSlice",
    "StatefulSet",
}

# metadata.generation is that of the first change, and grows with every other.
TRACKS_CHANGES = frozenset(("CSIDriver",))

# metadata.generation is 1 at create and stays so.
NEVER_CHANGES_GENERATION = frozenset(("PriorityClass",))

# Dependents are orphaned unless the client says otherwise.
ORPHANS_BY_DEFAULT = frozenset(("Job", "ReplicationController"))

# What a client writes into status when it creates one of these is kept.
KEEPS_STATUS_ON_CREATE = frozenset(("Node",))

# `/status` keeps the labels of these as they were.
KEEPS_LABELS_ON_STATUS = frozenset(("Deployment",))

# `/status` keeps all metadata of these as it was.
_KEEPS_METADATA_ON_STATUS = frozenset(
    (
        "APIService",
        "CSINode",
        "CustomResourceDefinition",
        "DeviceTaintRule",
        "FlowSchema",
        "PodCertificateRequest",
        "PriorityLevelConfiguration",
        "ResourceClaim",
        "ServiceCIDR",
        "StorageVersionMigration",
        "ValidatingAdmissionPolicy",
        "VolumeAttachment",
    )
)

# Forgotten after this time.
TTL_SECONDS = {"Event": 3600}

_DEPRECATED = {
    ("", "v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    ("", "v1", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
}

# Answered, never stored.
VIRTUAL = frozenset(
    (
        "Binding",
        "LocalSubjectAccessReview",
        "SelfSubjectAccessReview",
        "SelfSubjectReview",
        "SelfSubjectRulesReview",
        "SubjectAccessReview",
        "TokenReview",
    )
)


def told_as(kind: Kind) -> str:
    """What a refusal of an invalid object calls its kind. Events of both groups are one kind to the validation."""
    return kind.kind if kind.known_as == "Event" else kind.qualified


def needs_resource_version(kind: Kind) -> bool:
    """Whether PUT must name the resourceVersion it replaces."""
    return kind.structure is not None or kind.kind in _NEEDS_RESOURCE_VERSION


def tracks_generation(kind: Kind) -> bool:
    """Whether metadata.generation is 1 at create and grows when anything outside metadata and status changes."""
    return kind.structure is not None or kind.kind in _TRACKS_GENERATION


def keeps_metadata_on_status(kind: Kind) -> bool:
    """Whether `/status` changes nothing but status, not even labels."""
    return kind.structure is not None or kind.kind in _KEEPS_METADATA_ON_STATUS


def deprecation(kind: Kind) -> str:
    """What whoever uses the kind is told in a Warning header, or ""."""
    if kind.structure is not None:
        return kind.structure.deprecation
    return _DEPRECATED.get((kind.group, kind.version, kind.kind), "")


def list_kind(kind: Kind) -> str:
    """What a list of the kind's objects calls itself."""
    return kind.structure.list_kind if kind.structure is not None else f"{kind.kind}List"


def has_status(kind: Kind) -> bool:
    """Whether status has an endpoint of its own, and so is out of reach of the main one."""
    return any(sub.name == "status" for sub in kind.subresources)
