"""The in-tree admission plugins, a file each, in kube-apiserver's order."""

from __future__ import annotations

from hardpoint.apiserver.admission.certificate_approval import CertificateApproval
from hardpoint.apiserver.admission.certificate_requester import CertificateRequester
from hardpoint.apiserver.admission.certificate_signing import CertificateSigning
from hardpoint.apiserver.admission.certificate_subject_restriction import CertificateSubjectRestriction
from hardpoint.apiserver.admission.cluster_trust_bundle_attest import ClusterTrustBundleAttest
from hardpoint.apiserver.admission.contract import Asked, Mutates, Validates
from hardpoint.apiserver.admission.custom_resource_termination import CustomResourceTermination
from hardpoint.apiserver.admission.default_ingress_class import DefaultIngressClass
from hardpoint.apiserver.admission.default_storage_class import DefaultStorageClass
from hardpoint.apiserver.admission.default_toleration_seconds import DefaultTolerationSeconds
from hardpoint.apiserver.admission.namespace_lifecycle import NamespaceLifecycle
from hardpoint.apiserver.admission.node_restriction import NodeRestriction
from hardpoint.apiserver.admission.priority import Priority
from hardpoint.apiserver.admission.runtime_class import RuntimeClass
from hardpoint.apiserver.admission.service_account import ServiceAccount
from hardpoint.apiserver.admission.storage_object_in_use_protection import StorageObjectInUseProtection
from hardpoint.apiserver.admission.taint_nodes_by_condition import TaintNodesByCondition
from hardpoint.apiserver.authorization.contract import Authorizer

_PODS = frozenset(("pods",))
_SIGNING_REQUESTS = frozenset(("certificatesigningrequests.certificates.k8s.io",))
_POD_CERTIFICATES = frozenset(("podcertificaterequests.certificates.k8s.io",))
_TRUST_BUNDLES = frozenset(("clustertrustbundles.certificates.k8s.io",))
_CLASSES = frozenset(("priorityclasses.scheduling.k8s.io",))
_INGRESSES = frozenset(("ingresses.networking.k8s.io",))
_CLAIMS = frozenset(("persistentvolumeclaims",))
_VOLUMES = frozenset(("persistentvolumes",))
_NODES = frozenset(("nodes",))


def plugins(authorizer: Authorizer) -> tuple[list[Asked[Mutates]], list[Asked[Validates]]]:
    """Every plugin that is on by default: those that change objects, and those that look at them afterwards.

    NodeRestriction is one of them here: a node authorizer without it keeps nobody from writing.
    """
    accounts, priority, runtime_class = ServiceAccount(), Priority(), RuntimeClass()
    mutating: list[Asked[Mutates]] = [
        Asked(CustomResourceTermination()),
        Asked(NamespaceLifecycle()),
        Asked(accounts, _PODS),
        Asked(NodeRestriction(authorizer)),
        Asked(TaintNodesByCondition(), _NODES),
        Asked(priority, _PODS),
        Asked(DefaultTolerationSeconds(), _PODS),
        Asked(DefaultStorageClass(), _CLAIMS),
        Asked(StorageObjectInUseProtection(), _CLAIMS | _VOLUMES),
        Asked(runtime_class, _PODS),
        Asked(DefaultIngressClass(), _INGRESSES),
        Asked(CertificateRequester(), _SIGNING_REQUESTS),
    ]
    validating: list[Asked[Validates]] = [
        Asked(accounts, _PODS),
        Asked(priority, _CLASSES),
        Asked(runtime_class, _PODS),
        Asked(CertificateApproval(authorizer), _SIGNING_REQUESTS),
        Asked(CertificateSigning(authorizer), _SIGNING_REQUESTS | _POD_CERTIFICATES),
        Asked(ClusterTrustBundleAttest(authorizer), _TRUST_BUNDLES),
        Asked(CertificateSubjectRestriction(), _SIGNING_REQUESTS),
    ]
    return mutating, validating
