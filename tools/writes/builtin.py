"""What built-in objects may look like, kind by kind, apart from the workloads."""

from __future__ import annotations

from tools.writes.drawing import either, fields, many, named, one
from tools.writes.kind import Written, core
from tools.writes.workloads import POD_SPEC, POD_STATUS, WORKLOADS

NAMES = ("a", "b", "c")
_text = one("x", "y", "")
_base64 = one("eA==", "eXk=", "")
_port = one(80, 443, 8080)
_condition = fields(
    {"type": one("Ready", "Tested")},
    {"status": one("True", "False", "Unknown"), "lastTransitionTime": one("2026-01-01T00:00:00Z"), "reason": one("R")},
    {"message": one("m", ""), "observedGeneration": one(1, 2)},
)

_service_port = fields(
    {"port": _port},
    {"name": one("a", "b", "c")},
    {"protocol": one("TCP", "UDP"), "targetPort": one(80, "web", 9376), "appProtocol": one("http")},
)
_service_spec = fields(
    None,
    {"ports": many(_service_port, 3, 1, ("port", "protocol"))},
    {
        "selector": named(NAMES, _text),
        "type": one("ClusterIP", "ClusterIP", "NodePort", "LoadBalancer", "ExternalName"),
        "sessionAffinity": one("None", "ClientIP"),
        "externalName": one("example.com"),
        "publishNotReadyAddresses": one(True, False),
        "externalIPs": many(one("192.0.2.1", "192.0.2.2"), 2),
        "clusterIP": one("None", ""),
        "ipFamilyPolicy": one("SingleStack", "PreferDualStack"),
        "internalTrafficPolicy": one("Cluster", "Local"),
        "loadBalancerSourceRanges": many(one("192.0.2.0/24"), 1),
    },
    0.2,
)
_service_status = fields(
    None,
    None,
    {
        "conditions": many(_condition, 2, key=("type",)),
        "loadBalancer": fields(None, None, {"ingress": many(fields({"ip": one("192.0.2.9", "192.0.2.8")}), 2)}),
    },
)

_backend = fields({"service": fields({"name": one("a", "b"), "port": fields({"number": _port})})})
_ingress_path = fields({"path": one("/", "/a", "/b"), "pathType": one("Prefix", "Exact"), "backend": _backend})
_ingress_rule = fields(
    None, {"host": one("a.example.com", "b.example.com")}, {"http": fields({"paths": many(_ingress_path, 3, 1)})}, 0.7
)
_ingress_spec = fields(
    None,
    {"rules": many(_ingress_rule, 2, 1)},
    {
        "defaultBackend": _backend,
        "ingressClassName": one("nginx", "other"),
        "tls": many(fields(None, {"secretName": one("s1", "s2")}, {"hosts": many(one("a.example.com", "b.x"), 2)}), 2),
    },
)

_target = fields({"kind": one("Deployment"), "name": one("web", "db")}, None, {"apiVersion": one("apps/v1")}, 0.8)
_scaler_v1 = fields(
    None,
    {"maxReplicas": one(5, 10), "scaleTargetRef": _target},
    {"minReplicas": one(1, 2), "targetCPUUtilizationPercentage": one(50, 80)},
    0.5,
)
_metric_target = either(
    fields({"type": one("Utilization"), "averageUtilization": one(50, 60)}),
    fields({"type": one("AverageValue"), "averageValue": one("100m", "1", 2)}),
)
_metric = either(
    fields({"type": one("Resource"), "resource": fields({"name": one("cpu", "memory"), "target": _metric_target})}),
    fields(
        {
            "type": one("Pods"),
            "pods": fields(
                {
                    "metric": fields({"name": one("hits")}),
                    "target": fields({"type": one("AverageValue"), "averageValue": one("10", "1k")}),
                }
            ),
        }
    ),
)
_scaling_rules = fields(
    None,
    None,
    {
        "stabilizationWindowSeconds": one(0, 60),
        "selectPolicy": one("Max", "Min", "Disabled"),
        "policies": many(
            fields({"type": one("Pods", "Percent"), "value": one(4, 10), "periodSeconds": one(15, 60)}), 2, 1
        ),
    },
    0.5,
)
_scaler_v2 = fields(
    None,
    {"maxReplicas": one(5, 10), "scaleTargetRef": _target},
    {
        "minReplicas": one(1, 2),
        "metrics": many(_metric, 3),
        "behavior": fields(None, None, {"scaleUp": _scaling_rules, "scaleDown": _scaling_rules}, 0.6),
    },
    0.5,
)
_scaler_status_v1 = fields(
    None,
    {"currentReplicas": one(1, 2), "desiredReplicas": one(2, 3)},
    {"observedGeneration": one(1), "currentCPUUtilizationPercentage": one(40)},
)
_scaler_condition = fields(
    {"type": one("ScalingActive", "AbleToScale"), "status": one("True", "False")}, None, {"reason": one("R")}
)
_scaler_status_v2 = fields(
    None,
    {"currentReplicas": one(1, 2), "desiredReplicas": one(2, 3)},
    {"observedGeneration": one(1), "conditions": many(_scaler_condition, 2, key=("type",))},
)

_rule = either(
    fields(
        {
            "verbs": many(one("get", "list", "watch", "*"), 3, 1),
            "apiGroups": many(one("", "apps", "*"), 2, 1),
            "resources": many(one("pods", "deployments", "pods/log", "*"), 2, 1),
        },
        None,
        {"resourceNames": many(one("a", "b"), 2)},
        0.2,
    ),
    fields({"verbs": many(one("get"), 1, 1), "nonResourceURLs": many(one("/healthz", "/api/*"), 2, 1)}),
)
_resource_rule = fields(
    {
        "verbs": many(one("get", "list", "watch", "*"), 3, 1),
        "apiGroups": many(one("", "apps", "*"), 2, 1),
        "resources": many(one("pods", "deployments", "pods/log"), 2, 1),
    }
)
_selector = fields(
    None,
    {"matchLabels": named(NAMES, _text)},
    {"matchExpressions": many(fields({"key": one("a", "b"), "operator": one("Exists", "DoesNotExist")}), 2)},
)


_property = either(
    fields({"type": one("string")}, None, {"default": one("d"), "description": one("words", "more words")}),
    fields({"type": one("integer")}, None, {"minimum": one(0, 1), "format": one("int32", "int64")}),
    fields(
        {"type": one("array"), "items": fields({"type": one("string")})}, None, {"x-kubernetes-list-type": one("set")}
    ),
    fields({"type": one("object")}, None, {"x-kubernetes-preserve-unknown-fields": one(True)}, 0.8),
)
_schema = fields(
    {
        "openAPIV3Schema": fields(
            {"type": one("object")},
            {
                "properties": fields(
                    {"spec": fields({"type": one("object"), "properties": named(("one", "two", "three"), _property)})}
                )
            },
        )
    }
)
_column = fields({"name": one("A", "B"), "type": one("string", "integer"), "jsonPath": one(".spec.one", ".spec.two")})
_version = fields(
    {"name": one("v1", "v2"), "served": one(True), "storage": one(True, True, False), "schema": _schema},
    None,
    {
        "subresources": either(fields({"status": one({})}), one({})),
        "additionalPrinterColumns": many(_column, 2),
        "deprecated": one(True, False),
        "selectableFields": many(fields({"jsonPath": one(".spec.one")}), 1),
    },
    0.3,
)
# The group and the names belong to the sequence: `<...>` is replaced by what they are there.
_definition = fields(
    {
        "group": one("<group>"),
        "names": fields(
            {"plural": one("<plural>"), "kind": one("<Kind>")},
            None,
            {
                "shortNames": many(one("sh", "sho"), 2),
                "categories": many(one("all", "other"), 2),
                "singular": one("<singular>"),
                "listKind": one("<Kind>List"),
            },
        ),
    },
    {"scope": one("Namespaced"), "versions": many(_version, 2, 1, ("name",))},
    {"preserveUnknownFields": one(False), "conversion": fields({"strategy": one("None")})},
)

BUILTIN: tuple[Written, ...] = (
    core(
        "configmaps",
        "ConfigMap",
        fields(
            None,
            None,
            {
                "data": named(NAMES, _text),
                "binaryData": named(("d", "e", "a"), _base64),
                "immutable": one(False, False, True),
            },
            0.5,
        ),
    ),
    core(
        "secrets",
        "Secret",
        fields(
            None,
            None,
            {
                "data": named(NAMES, _base64),
                "stringData": named(("b", "c", "d"), _text),
                "type": one("Opaque", "example.com/x"),
                "immutable": one(False),
            },
            0.5,
        ),
    ),
    core("services", "Service", fields(None, {"spec": _service_spec}), status=_service_status),
    core(
        "serviceaccounts",
        "ServiceAccount",
        fields(
            None,
            None,
            {
                "secrets": many(fields({"name": one("s1", "s2", "s3")}), 3, key=("name",)),
                "imagePullSecrets": many(fields({"name": one("s1", "s2", "s3")}), 3, key=("name",)),
                "automountServiceAccountToken": one(True, False),
            },
            0.5,
        ),
    ),
    core("pods", "Pod", fields(None, {"spec": POD_SPEC}), status=POD_STATUS),
    *WORKLOADS,
    Written(
        "ingresses",
        "Ingress",
        {"networking.k8s.io/v1": fields(None, {"spec": _ingress_spec})},
        status={
            "networking.k8s.io/v1": fields(
                None,
                None,
                {
                    "loadBalancer": fields(
                        None, None, {"ingress": many(fields({"ip": one("192.0.2.9", "192.0.2.8")}), 2)}, 0.8
                    )
                },
                0.8,
            )
        },
    ),
    Written(
        "horizontalpodautoscalers",
        "HorizontalPodAutoscaler",
        {"autoscaling/v1": fields(None, {"spec": _scaler_v1}), "autoscaling/v2": fields(None, {"spec": _scaler_v2})},
        status={"autoscaling/v1": _scaler_status_v1, "autoscaling/v2": _scaler_status_v2},
    ),
    Written("roles", "Role", {"rbac.authorization.k8s.io/v1": fields(None, {"rules": many(_resource_rule, 3)})}),
    Written(
        "clusterroles",
        "ClusterRole",
        {
            "rbac.authorization.k8s.io/v1": fields(
                None,
                {"rules": many(_rule, 3)},
                {"aggregationRule": fields(None, None, {"clusterRoleSelectors": many(_selector, 2)}, 0.8)},
                0.3,
            )
        },
        namespaced=False,
    ),
    Written(
        "customresourcedefinitions",
        "CustomResourceDefinition",
        {"apiextensions.k8s.io/v1": fields(None, {"spec": _definition})},
        namespaced=False,
    ),
)
