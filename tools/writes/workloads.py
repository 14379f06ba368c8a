"""What pods and the kinds that make pods may look like."""

from __future__ import annotations

from tools.writes.drawing import either, fields, many, named, one
from tools.writes.kind import Written

_text = one("x", "y", "")
_quantity = one("100m", "0.1", "1", 1, "1000m", "64Mi", "1Gi")
_resources = fields(
    None,
    None,
    {"limits": named(("cpu", "memory"), one("1", "2")), "requests": named(("cpu", "memory"), one("500m", "1"))},
)
_env = either(
    fields({"name": one("A", "B", "C")}, None, {"value": _text}, 0.8),
    fields(
        {
            "name": one("A", "B", "C"),
            "valueFrom": either(
                fields({"fieldRef": fields({"fieldPath": one("metadata.name")}, None, {"apiVersion": one("v1")})}),
                fields({"configMapKeyRef": fields({"name": one("c"), "key": one("k")}, None, {"optional": one(True)})}),
            ),
        }
    ),
)
_port = fields(
    {"containerPort": one(80, 443, 8080)}, None, {"name": one("web", "tls"), "protocol": one("TCP", "UDP")}, 0.5
)
_probe = fields(
    {"httpGet": fields({"port": one(80, "web")}, None, {"path": one("/healthz"), "scheme": one("HTTP", "HTTPS")}, 0.5)},
    None,
    {"periodSeconds": one(5, 10), "failureThreshold": one(1, 3), "initialDelaySeconds": one(0, 5)},
)
_security = fields(
    None,
    None,
    {
        "runAsUser": one(0, 1000),
        "privileged": one(False),
        "capabilities": fields(None, None, {"add": many(one("NET_ADMIN", "CHOWN"), 2), "drop": many(one("ALL"), 1)}),
    },
)
_container = fields(
    {"name": one("main", "side", "third")},
    {"image": one("nginx", "nginx:1", "busybox:latest")},
    {
        "command": many(one("sh", "-c", "true"), 3),
        "args": many(_text, 2),
        "env": many(_env, 3, key=("name",)),
        "ports": many(_port, 3, key=("containerPort", "protocol")),
        "resources": _resources,
        "livenessProbe": _probe,
        "imagePullPolicy": one("Always", "IfNotPresent"),
        "securityContext": _security,
        "terminationMessagePolicy": one("File", "FallbackToLogsOnError"),
        "workingDir": one("/w"),
        "envFrom": many(fields({"configMapRef": fields({"name": one("c", "d")})}, None, {"prefix": one("P_")}), 2),
    },
    0.2,
)
_volume = either(
    fields({"name": one("v1", "v2"), "emptyDir": either(one({}), fields(None, None, {"sizeLimit": one("1Gi")}))}),
    fields({"name": one("v1", "v2"), "configMap": fields({"name": one("c")}, None, {"defaultMode": one(420, 256)})}),
    fields({"name": one("v1", "v2"), "secret": fields({"secretName": one("s")}, None, {"optional": one(True)})}),
)
_toleration = fields(
    None, {"key": one("k1", "k2"), "operator": one("Exists")}, {"effect": one("NoSchedule"), "value": one("")}
)
_spread = fields(
    {
        "topologyKey": one("zone", "host"),
        "whenUnsatisfiable": one("DoNotSchedule", "ScheduleAnyway"),
        "maxSkew": one(1, 2),
    },
    None,
    {"labelSelector": fields({"matchLabels": named(("a", "b"), _text)})},
)
_POD_FIELDS = {
    "volumes": many(_volume, 2, 1, ("name",)),
    "initContainers": many(fields({"name": one("init", "setup")}, {"image": one("busybox")}), 2, key=("name",)),
    "nodeSelector": named(("a", "b"), _text),
    "tolerations": many(_toleration, 2),
    "terminationGracePeriodSeconds": one(0, 30, 60),
    "dnsPolicy": one("ClusterFirst", "Default"),
    "hostAliases": many(
        fields({"ip": one("192.0.2.1", "192.0.2.2"), "hostnames": many(one("h1", "h2"), 2)}), 2, key=("ip",)
    ),
    "imagePullSecrets": many(fields({"name": one("s1", "s2")}), 2, key=("name",)),
    "securityContext": fields(None, None, {"runAsNonRoot": one(True), "fsGroup": one(1), "runAsUser": one(7)}),
    "topologySpreadConstraints": many(_spread, 2, key=("topologyKey", "whenUnsatisfiable")),
    "schedulerName": one("default-scheduler", "other"),
    "hostNetwork": one(False),
    "readinessGates": many(fields({"conditionType": one("example.com/a", "example.com/b")}), 2),
    "serviceAccountName": one("builder"),
    "automountServiceAccountToken": one(False),
    "priorityClassName": one("urgent"),
}
POD_SPEC = fields(
    None,
    {"containers": many(_container, 3, 1, ("name",))},
    {**_POD_FIELDS, "restartPolicy": one("Always", "Never"), "activeDeadlineSeconds": one(10, 20)},
    0.15,
)
POD_STATUS = fields(
    None,
    None,
    {
        "phase": one("Pending", "Running"),
        "podIP": one("192.0.2.5"),
        "podIPs": many(fields({"ip": one("192.0.2.5")}), 1),
        "conditions": many(
            fields({"type": one("Ready", "example.com/a", "PodScheduled"), "status": one("True", "False")}),
            3,
            key=("type",),
        ),
        "message": _text,
        "startTime": one("2026-01-01T00:00:00Z"),
    },
    0.5,
)
# Most templates have the label that most selectors ask for.
_template = fields(
    {"metadata": fields({"labels": one({"app": "x"})}, None, {"annotations": named(("n1", "n2"), _text)})},
    {"spec": fields(None, {"containers": many(_container, 2, 1, ("name",))}, _POD_FIELDS, 0.1)},
)
_selector = one({"matchLabels": {"app": "x"}}, {"matchLabels": {"app": "x"}}, {"matchLabels": {"app": "x"}}, {})
_workload_condition = fields(
    {"type": one("Available", "Progressing"), "status": one("True", "False")},
    None,
    {"reason": one("R"), "lastTransitionTime": one("2026-01-01T00:00:00Z", None)},
)
_deployment = fields(
    None,
    {"selector": _selector, "template": _template},
    {
        "replicas": one(0, 1, 2, 3),
        "strategy": either(
            fields({"type": one("Recreate")}),
            fields(
                None,
                {"type": one("RollingUpdate")},
                {
                    "rollingUpdate": fields(
                        None, None, {"maxSurge": one(1, "25%", 0), "maxUnavailable": one(1, "50%")}, 0.8
                    )
                },
            ),
        ),
        "minReadySeconds": one(0, 5),
        "revisionHistoryLimit": one(0, 10),
        "paused": one(True, False),
        "progressDeadlineSeconds": one(600, 60),
    },
)
_claim = fields(
    {"metadata": fields({"name": one("data", "logs")})},
    {
        "spec": fields(
            {
                "accessModes": many(one("ReadWriteOnce", "ReadOnlyMany"), 2, 1),
                "resources": fields({"requests": fields({"storage": one("1Gi", "2Gi")})}),
            }
        )
    },
)
_stateful = fields(
    None,
    {"selector": _selector, "template": _template, "serviceName": one("web")},
    {
        "replicas": one(0, 1, 2),
        "podManagementPolicy": one("OrderedReady", "Parallel"),
        "updateStrategy": either(
            fields({"type": one("OnDelete")}),
            fields(
                {"type": one("RollingUpdate")}, None, {"rollingUpdate": fields(None, None, {"partition": one(0, 1)})}
            ),
        ),
        "volumeClaimTemplates": many(_claim, 2),
        "minReadySeconds": one(0, 5),
        "ordinals": fields({"start": one(0, 1)}),
        "persistentVolumeClaimRetentionPolicy": fields(None, None, {"whenDeleted": one("Retain", "Delete")}),
    },
    0.25,
)
_status = {
    "replicas": one(1, 2),
    "readyReplicas": one(1),
    "observedGeneration": one(1),
    "conditions": many(_workload_condition, 2, key=("type",)),
}


WORKLOADS = (
    Written(
        "deployments",
        "Deployment",
        {"apps/v1": fields(None, {"spec": _deployment})},
        {"apps/v1": fields(None, None, {**_status, "unavailableReplicas": one(1), "collisionCount": one(1)}, 0.5)},
        has_scale=True,
    ),
    Written(
        "statefulsets",
        "StatefulSet",
        {"apps/v1": fields(None, {"spec": _stateful})},
        {"apps/v1": fields(None, {"replicas": one(1, 2)}, {**_status, "currentRevision": one("r1")}, 0.5)},
        has_scale=True,
    ),
    Written(
        "daemonsets",
        "DaemonSet",
        {
            "apps/v1": fields(
                None,
                {
                    "spec": fields(
                        None,
                        {"selector": _selector, "template": _template},
                        {"minReadySeconds": one(0, 5), "revisionHistoryLimit": one(3)},
                    )
                },
            )
        },
    ),
    Written(
        "replicasets",
        "ReplicaSet",
        {
            "apps/v1": fields(
                None,
                {
                    "spec": fields(
                        None,
                        {"selector": _selector, "template": _template},
                        {"replicas": one(0, 1, 2), "minReadySeconds": one(0, 5)},
                    )
                },
            )
        },
        {"apps/v1": fields(None, {"replicas": one(1, 2)}, _status, 0.5)},
        has_scale=True,
    ),
    Written(
        "jobs",
        "Job",
        {
            "batch/v1": fields(
                None,
                {
                    "spec": fields(
                        None,
                        {
                            "template": fields(
                                None,
                                {
                                    "spec": fields(
                                        {"restartPolicy": one("Never", "OnFailure")},
                                        {"containers": many(_container, 2, 1, ("name",))},
                                        _POD_FIELDS,
                                        0.1,
                                    )
                                },
                            )
                        },
                        {
                            "parallelism": one(0, 1, 2),
                            "completions": one(1, 2),
                            "backoffLimit": one(0, 6),
                            "suspend": one(True, False),
                            "ttlSecondsAfterFinished": one(1, 10),
                        },
                    )
                },
            )
        },
    ),
)
