"""The Deployment that runs an author's file: as nobody, on a file system it cannot write, with what it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

PORT, HEALTH_PORT, METRICS_PORT = 9443, 8081, 8080
SOURCE, CERTIFICATES = "/app", "/tls"
USER = 65532
"""Nobody in particular, as distroless images call it."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """Where an App is deployed."""

    name: str
    namespace: str
    image: str

    @property
    def host(self) -> str:
        """What the API server calls it."""
        return f"{self.name}.{self.namespace}.svc"

    @property
    def names(self) -> tuple[str, ...]:
        """What its certificate is good for."""
        return (self.name, f"{self.name}.{self.namespace}", self.host, f"{self.host}.cluster.local")


@dataclass(frozen=True, slots=True, kw_only=True)
class Carries:
    """What a Deployment runs."""

    webhooks: bool
    controllers: bool
    source: bool
    """Whether the author's files are in a ConfigMap, not in the image."""

    @property
    def replicas(self) -> int:
        """Webhooks must not be away; of controllers one leads, and another would wait."""
        return 2 if self.webhooks else 1


def part(api_version: str, kind: str, deployed: Deployed, name: str = "", namespace: str = "", **fields: Any) -> Json:
    """An object of a deployment; what the whole cluster has is in no namespace."""
    metadata = {
        "name": name or deployed.name,
        "namespace": namespace or deployed.namespace,
        "labels": {"app.kubernetes.io/name": deployed.name, "app.kubernetes.io/managed-by": "hardpoint"},
    }
    if kind.startswith("Cluster"):
        del metadata["namespace"]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def selector(deployed: Deployed) -> Json:
    """By which its pods are known."""
    return {"app.kubernetes.io/name": deployed.name}


def is_file(target: str) -> bool:
    return target.partition(":")[0].endswith(".py")


def deployment(deployed: Deployed, targets: Sequence[str], carries: Carries) -> Json:
    volumes: dict[str, tuple[Json, str]] = {}
    if carries.webhooks:
        volumes["tls"] = {"secret": {"secretName": f"{deployed.name}-tls", "defaultMode": 0o440}}, CERTIFICATES
    if carries.source:
        volumes["source"] = {"configMap": {"name": deployed.name}}, SOURCE
    pod = {
        "serviceAccountName": deployed.name,
        "automountServiceAccountToken": carries.controllers,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(deployed, targets, carries, {name: path for name, (_, path) in volumes.items()})],
        "volumes": [{"name": name, **volume} for name, (volume, _) in volumes.items()],
    }
    template = {"metadata": {"labels": selector(deployed)}, "spec": pod}
    spec = {"replicas": carries.replicas, "selector": {"matchLabels": selector(deployed)}, "template": template}
    return part("apps/v1", "Deployment", deployed, spec=spec)


def _container(deployed: Deployed, targets: Sequence[str], carries: Carries, mounts: dict[str, str]) -> Json:
    ports = {"https": PORT} if carries.webhooks else {}
    ports |= {"health": HEALTH_PORT, "metrics": METRICS_PORT} if carries.controllers else {}
    return {
        "name": "hardpoint",
        "image": deployed.image,
        "args": ["run", *map(_inside, targets), *_options(carries)],
        "ports": [{"name": name, "containerPort": port} for name, port in ports.items()],
        "readinessProbe": _probe(carries, "/readyz"),
        "livenessProbe": _probe(carries, "/healthz"),
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": name, "mountPath": path, "readOnly": True} for name, path in mounts.items()],
    }


def _probe(carries: Carries, path: str) -> Json:
    if carries.controllers:
        return {"httpGet": {"port": "health", "path": path}}
    # Webhooks are asked for their health with a client certificate, which no kubelet shows.
    return {"tcpSocket": {"port": "https"}}


def _inside(target: str) -> str:
    """What a target is called in the container."""
    file, colon, name = target.partition(":")
    return f"{SOURCE}/{Path(file).name}{colon}{name}" if is_file(target) else target


def _options(carries: Carries) -> list[str]:
    serving = [
        "--bind-address=0.0.0.0",
        f"--port={PORT}",
        f"--tls-cert-file={CERTIFICATES}/tls.crt",
        f"--tls-private-key-file={CERTIFICATES}/tls.key",
        f"--client-ca-file={CERTIFICATES}/ca.crt",
    ]
    controlling = [
        "--leader-elect",
        "--no-crds",
        f"--health-probe-bind-address=0.0.0.0:{HEALTH_PORT}",
        f"--metrics-bind-address=0.0.0.0:{METRICS_PORT}",
    ]
    return (serving if carries.webhooks else []) + (controlling if carries.controllers else [])
