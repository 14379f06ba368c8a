"""The in-tree admission plugins, a file each, in kube-apiserver's order."""

from __future__ import annotations

from hardpoint.apiserver.admission.certificate_approval import CertificateApproval
from hardpoint.apiserver.admission.certificate_requester import CertificateRequester
from hardpoint.apiserver.admission.certificate_signing import CertificateSigning
from hardpoint.apiserver.admission.certificate_subject_restriction import CertificateSubjectRestriction
from hardpoint.apiserver.admission.cluster_trust_bundle_attest import ClusterTrustBundleAttest
from hardpoint.apiserver.admission.contract import Mutates, Validates
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


def plugins(authorizer: Authorizer) -> tuple[list[Mutates], list[Validates]]:
    """Every plugin that is on by default: those that change objects, and those that look at them afterwards.

    NodeRestriction is one of them here: a node authorizer without it keeps nobody from writing.
    """
    accounts, priority, runtime_class = ServiceAccount(), Priority(), RuntimeClass()
    mutating: list[Mutates] = [
        CustomResourceTermination(),
        NamespaceLifecycle(),
        accounts,
        NodeRestriction(authorizer),
        TaintNodesByCondition(),
        priority,
        DefaultTolerationSeconds(),
        DefaultStorageClass(),
        StorageObjectInUseProtection(),
        runtime_class,
        DefaultIngressClass(),
        CertificateRequester(),
    ]
    validating: list[Validates] = [
        accounts,
        priority,
        runtime_class,
        CertificateApproval(authorizer),
        CertificateSigning(authorizer),
        ClusterTrustBundleAttest(authorizer),
        CertificateSubjectRestriction(),
    ]
    return mutating, validating
