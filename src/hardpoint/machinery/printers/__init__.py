"""The cells of tables, kind by kind: what kube-apiserver lets `kubectl get` print.

`CELLS` leads from group and kind to the function that fills a row, in the order of the kind's columns. A kind that is
not in it has its name and the time of its creation. The rules are those of pkg/printers/internalversion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from hardpoint.machinery.printers import access, core, extensions, pods, scaling, services, storage, workloads
from hardpoint.machinery.printers.cells import Cells, Json

Printer = Callable[[Json, datetime], Cells]

CELLS: Mapping[tuple[str, str], Printer] = {
    ("", "ComponentStatus"): core.component_status,
    ("", "ConfigMap"): core.config_map,
    ("", "Endpoints"): services.endpoints,
    ("", "Event"): core.event,
    ("", "Namespace"): core.namespace,
    ("", "Node"): core.node,
    ("", "PersistentVolume"): storage.persistent_volume,
    ("", "PersistentVolumeClaim"): storage.persistent_volume_claim,
    ("", "Pod"): pods.cells,
    ("", "PodTemplate"): workloads.pod_template,
    ("", "ReplicationController"): workloads.replication_controller,
    ("", "ResourceQuota"): core.resource_quota,
    ("", "Secret"): core.secret,
    ("", "Service"): services.service,
    ("", "ServiceAccount"): core.name_and_age,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"): access.mutating_policy,
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"): access.policy_binding,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): access.webhook_configuration,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"): access.validating_policy,
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): access.policy_binding,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): access.webhook_configuration,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): extensions.custom_resource_definition,
    ("apiregistration.k8s.io", "APIService"): extensions.api_service,
    ("apps", "ControllerRevision"): workloads.controller_revision,
    ("apps", "DaemonSet"): workloads.daemon_set,
    ("apps", "Deployment"): workloads.deployment,
    ("apps", "ReplicaSet"): workloads.replica_set,
    ("apps", "StatefulSet"): workloads.stateful_set,
    ("autoscaling", "HorizontalPodAutoscaler"): scaling.horizontal_pod_autoscaler,
    ("autoscaling", "Scale"): scaling.scale,
    ("batch", "CronJob"): workloads.cron_job,
    ("batch", "Job"): workloads.job,
    ("certificates.k8s.io", "CertificateSigningRequest"): access.certificate_signing_request,
    ("certificates.k8s.io", "ClusterTrustBundle"): access.cluster_trust_bundle,
    ("certificates.k8s.io", "PodCertificateRequest"): access.pod_certificate_request,
    ("coordination.k8s.io", "Lease"): core.lease,
    ("discovery.k8s.io", "EndpointSlice"): services.endpoint_slice,
    ("events.k8s.io", "Event"): core.event,
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"): access.flow_schema,
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): access.priority_level,
    ("networking.k8s.io", "IPAddress"): services.ip_address,
    ("networking.k8s.io", "Ingress"): services.ingress,
    ("networking.k8s.io", "IngressClass"): services.ingress_class,
    ("networking.k8s.io", "NetworkPolicy"): services.network_policy,
    ("networking.k8s.io", "ServiceCIDR"): services.service_cidr,
    ("node.k8s.io", "RuntimeClass"): core.runtime_class,
    ("policy", "PodDisruptionBudget"): scaling.pod_disruption_budget,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): access.role_binding,
    ("rbac.authorization.k8s.io", "RoleBinding"): access.role_binding,
    ("resource.k8s.io", "DeviceClass"): core.name_and_age,
    ("resource.k8s.io", "DeviceTaintRule"): extensions.device_taint_rule,
    ("resource.k8s.io", "ResourceClaim"): extensions.resource_claim,
    ("resource.k8s.io", "ResourceClaimTemplate"): core.name_and_age,
    ("resource.k8s.io", "ResourceSlice"): extensions.resource_slice,
    ("scheduling.k8s.io", "PriorityClass"): core.priority_class,
    ("storage.k8s.io", "CSIDriver"): storage.csi_driver,
    ("storage.k8s.io", "CSINode"): storage.csi_node,
    ("storage.k8s.io", "StorageClass"): storage.storage_class,
    ("storage.k8s.io", "VolumeAttachment"): storage.volume_attachment,
    ("storage.k8s.io", "VolumeAttributesClass"): storage.volume_attributes_class,
    ("storagemigration.k8s.io", "StorageVersionMigration"): extensions.storage_version_migration,
}
