"""Small objects that the API accepts, of the kinds that have the most rules: what damage begins with."""

from __future__ import annotations

from typing import Any

import yaml

_TEMPLATE = """
metadata: {labels: {app: web}}
spec:
  restartPolicy: %s
  containers:
  - name: main
    image: busybox:1.37
    command: [sleep, "9"]
    ports: [{name: http, containerPort: 80, protocol: TCP}]
    env: [{name: A, value: b}, {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]
    resources: {limits: {cpu: 100m, memory: 64Mi}, requests: {cpu: 50m}}
    volumeMounts: [{name: v, mountPath: /v}, {name: c, mountPath: /c, subPath: x}]
    livenessProbe: {httpGet: {path: /, port: http}, periodSeconds: 3}
    readinessProbe: {exec: {command: ["true"]}}
    securityContext: {runAsUser: 1, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}
  initContainers: [{name: first, image: a:1, restartPolicy: Always}]
  volumes: [{name: v, emptyDir: {sizeLimit: 1Mi}}, {name: c, configMap: {name: a, items: [{key: k, path: p}]}}]
  tolerations: [{key: k, operator: Exists, effect: NoExecute, tolerationSeconds: 3}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, podAffinityTerm: {topologyKey: zone, labelSelector: {matchLabels: {app: web}}}}
""".strip()


def _indented(text: str, spaces: int) -> str:
    return text.replace("\n", "\n" + " " * spaces)


_DOCUMENTS = f"""
apiVersion: v1
kind: Pod
{_TEMPLATE % "Always"}
---
apiVersion: v1
kind: ConfigMap
data: {{a: b}}
binaryData: {{c: AAEC}}
immutable: false
---
apiVersion: v1
kind: Secret
type: Opaque
data: {{a: AAEC}}
stringData: {{b: c}}
---
apiVersion: v1
kind: Service
spec:
  selector: {{app: web}}
  type: NodePort
  ipFamilyPolicy: SingleStack
  sessionAffinity: ClientIP
  ports: [{{name: http, port: 80, targetPort: http}}, {{name: dns, port: 53, protocol: UDP}}]
---
apiVersion: v1
kind: Namespace
metadata: {{labels: {{a: b}}, finalizers: [example.com/x]}}
---
apiVersion: v1
kind: Node
spec: {{podCIDR: 10.1.0.0/24, taints: [{{key: a, effect: NoSchedule}}]}}
status: {{capacity: {{cpu: "4"}}, addresses: [{{type: InternalIP, address: 10.0.0.1}}]}}
---
apiVersion: v1
kind: Endpoints
subsets: [{{addresses: [{{ip: 10.0.0.1}}], ports: [{{port: 80}}]}}]
---
apiVersion: v1
kind: PersistentVolume
spec:
  capacity: {{storage: 1Gi}}
  accessModes: [ReadWriteOnce]
  csi: {{driver: a.example.com, volumeHandle: h}}
---
apiVersion: v1
kind: PersistentVolumeClaim
spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
---
apiVersion: v1
kind: ResourceQuota
spec: {{hard: {{pods: "9", requests.cpu: "1"}}, scopes: [NotTerminating]}}
---
apiVersion: v1
kind: LimitRange
spec: {{limits: [{{type: Container, default: {{cpu: "1"}}, defaultRequest: {{cpu: 10m}}, max: {{cpu: "2"}}}}]}}
---
apiVersion: v1
kind: Event
metadata: {{namespace: default}}
involvedObject: {{kind: Pod, namespace: default, name: a}}
reason: r
---
apiVersion: v1
kind: ServiceAccount
---
apiVersion: v1
kind: ReplicationController
spec:
  selector: {{app: web}}
  template:
    {_indented(_TEMPLATE % "Always", 4)}
---
apiVersion: apps/v1
kind: Deployment
spec:
  replicas: 2
  strategy: {{type: RollingUpdate, rollingUpdate: {{maxSurge: 25%, maxUnavailable: 1}}}}
  selector: {{matchLabels: {{app: web}}}}
  template:
    {_indented(_TEMPLATE % "Always", 4)}
---
apiVersion: apps/v1
kind: StatefulSet
spec:
  serviceName: s
  selector: {{matchLabels: {{app: web}}}}
  volumeClaimTemplates:
  - metadata: {{name: d}}
    spec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}}}
  template:
    {_indented(_TEMPLATE % "Always", 4)}
---
apiVersion: apps/v1
kind: DaemonSet
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    {_indented(_TEMPLATE % "Always", 4)}
---
apiVersion: batch/v1
kind: Job
spec:
  completions: 2
  parallelism: 1
  completionMode: Indexed
  podFailurePolicy:
    rules: [{{action: FailJob, onExitCodes: {{operator: In, values: [1]}}}}]
  template:
    {_indented(_TEMPLATE % "Never", 4)}
---
apiVersion: batch/v1
kind: CronJob
spec:
  schedule: "*/5 * * * *"
  timeZone: Etc/UTC
  jobTemplate:
    spec:
      template:
        {_indented(_TEMPLATE % "Never", 8)}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: a}}
  maxReplicas: 3
  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 50}}}}}}]
  behavior: {{scaleDown: {{policies: [{{type: Percent, value: 10, periodSeconds: 60}}]}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
spec:
  tls: [{{hosts: [a.example.com], secretName: s}}]
  rules:
  - host: "*.example.com"
    http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: a, port: {{number: 80}}}}}}}}]}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
spec:
  podSelector: {{}}
  ingress: [{{from: [{{ipBlock: {{cidr: 10.0.0.0/8, except: [10.1.0.0/16]}}}}], ports: [{{port: 80, endPort: 90}}]}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
spec: {{minAvailable: 50%, selector: {{matchLabels: {{app: web}}}}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
rules: [{{apiGroups: [""], resources: [pods], verbs: [get]}}, {{nonResourceURLs: [/x/*], verbs: [get]}}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}}
subjects: [{{kind: ServiceAccount, name: a, namespace: default}}, {{kind: User, name: u}}]
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
provisioner: a.example.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{{matchLabelExpressions: [{{key: zone, values: [a]}}]}}]
---
apiVersion: coordination.k8s.io/v1
kind: Lease
spec: {{holderIdentity: me, leaseDurationSeconds: 15, renewTime: "2026-01-01T00:00:00.000000Z"}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
addressType: IPv4
endpoints: [{{addresses: [10.0.0.1], conditions: {{ready: true}}}}]
ports: [{{name: http, port: 80}}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
value: 7
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
webhooks:
- name: a.example.com
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {{service: {{namespace: default, name: a, path: /x}}}}
  rules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods, pods/status]}}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
spec:
  matchConstraints:
    resourceRules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}}]
  validations: [{{expression: "object.metadata.name != 'x'", message: never}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: things.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: things, singular: thing, kind: Thing, listKind: ThingList, shortNames: [th]}}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {{status: {{}}, scale: {{specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}}}
    additionalPrinterColumns: [{{name: Size, type: integer, jsonPath: .spec.replicas}}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [replicas]
            properties:
              replicas: {{type: integer, minimum: 0, default: 1}}
              word: {{type: string, pattern: "^[a-z]+$", maxLength: 9}}
              list:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [k]
                items: {{type: object, required: [k], properties: {{k: {{type: string}}}}}}
              any: {{x-kubernetes-preserve-unknown-fields: true}}
            x-kubernetes-validations: [{{rule: "self.replicas < 9", message: many}}]
          status: {{type: object, properties: {{replicas: {{type: integer}}}}}}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {{name: v1.example.org}}
spec:
  group: example.org
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  service: {{namespace: default, name: a}}
---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
spec:
  priorityLevelConfiguration: {{name: catch-all}}
  rules:
  - subjects: [{{kind: User, user: {{name: u}}}}]
    nonResourceRules: [{{verbs: [get], nonResourceURLs: [/x]}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: c, allocationMode: ExactCount, count: 1}}}}]}}}}
"""

SEEDS: tuple[dict[str, Any], ...] = tuple(yaml.safe_load_all(_DOCUMENTS))

SEED_NAMES = {seed["kind"]: seed["metadata"]["name"] for seed in SEEDS if seed.get("metadata", {}).get("name")}
"""Kinds whose objects cannot be called just anything."""
