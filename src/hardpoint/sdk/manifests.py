"""What deploys an author's file in a cluster: the objects, and the certificates they carry.

Webhooks need no permission in the cluster they serve, so their account has none and no token. A file's source goes into
a ConfigMap; a module is expected in the image. The server's certificate and the callers' authority are in a Secret:
whoever applies the objects holds them, and the API server's files are made from the same folder.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.loading import Loaded
from hardpoint.serving.certificates import Pki

Json = dict[str, Any]

PORT = 9443
SOURCE, CERTIFICATES = "/app", "/tls"
CONFIG_MAP_BYTES_MAX = 1024 * 1024
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


def manifests(targets: Sequence[str], loaded: Sequence[Loaded], deployed: Deployed, pki: Pki) -> list[Json]:
    """The objects that run `targets` in a cluster, in the order they are to be created. Raises ConfigError."""
    objects = _definitions(loaded, deployed, pki)
    if objects and not any(one.app.webhooks or one.app.controllers for one in loaded):
        return objects
    sources = _sources(targets, loaded)
    objects.append(_account(deployed))
    if sources:
        objects.append(_object("v1", "ConfigMap", deployed, data=sources))
    objects += [_secret(deployed, pki), _deployment(deployed, targets, has_source=bool(sources)), _service(deployed)]
    return objects


def _definitions(loaded: Sequence[Loaded], deployed: Deployed, pki: Pki) -> list[Json]:
    """The custom resources, converted by the webhook that is deployed with them."""
    apps = [one.app for one in loaded if one.app.resources]
    if not apps:
        return []
    from hardpoint.sdk.resources import at_service, definitions

    return [found for app in apps for found in definitions(app, at_service(deployed, pki))]


def trust_of(deployed: Deployed, directory: Path) -> Trust:
    """Whose certificates those are that `manifests` wants."""
    return Trust(directory, deployed.names)


def _sources(targets: Sequence[str], loaded: Sequence[Loaded]) -> dict[str, str]:
    """The files of the targets that are files, by name."""
    sources: dict[str, str] = {}
    for target, one in zip(targets, loaded, strict=True):
        if not _is_file(target):
            continue
        folder = Path(target.partition(":")[0]).resolve().parent
        for file in one.files:
            if file.parent != folder or file.name in sources:
                raise ConfigError(
                    f"{file} does not fit into a ConfigMap; put packages into the image and name a module"
                )
            sources[file.name] = file.read_text()
    if sum(len(text.encode()) for text in sources.values()) > CONFIG_MAP_BYTES_MAX:
        raise ConfigError(f"{targets[0]} is too large for a ConfigMap; put it into the image and name a module")
    return sources


def _is_file(target: str) -> bool:
    return target.partition(":")[0].endswith(".py")


def _inside(target: str) -> str:
    """What a target is called in the container."""
    file, colon, name = target.partition(":")
    return f"{SOURCE}/{Path(file).name}{colon}{name}" if _is_file(target) else target


def _object(api_version: str, kind: str, deployed: Deployed, name: str = "", **fields: Any) -> Json:
    metadata = {
        "name": name or deployed.name,
        "namespace": deployed.namespace,
        "labels": {"app.kubernetes.io/name": deployed.name, "app.kubernetes.io/managed-by": "hardpoint"},
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _account(deployed: Deployed) -> Json:
    return _object("v1", "ServiceAccount", deployed, automountServiceAccountToken=False)


def _secret(deployed: Deployed, pki: Pki) -> Json:
    files = {"tls.crt": pki.certificate("server"), "tls.key": pki.key("server"), "ca.crt": pki.certificate("caller-ca")}
    data = {name: base64.b64encode(file.read_bytes()).decode() for name, file in files.items()}
    return _object("v1", "Secret", deployed, f"{deployed.name}-tls", type="kubernetes.io/tls", data=data)


def _service(deployed: Deployed) -> Json:
    ports = [{"name": "https", "port": 443, "targetPort": "https"}]
    return _object("v1", "Service", deployed, spec={"selector": _selector(deployed), "ports": ports})


def _selector(deployed: Deployed) -> Json:
    return {"app.kubernetes.io/name": deployed.name}


def _deployment(deployed: Deployed, targets: Sequence[str], *, has_source: bool) -> Json:
    volumes = {"tls": ({"secret": {"secretName": f"{deployed.name}-tls", "defaultMode": 0o440}}, CERTIFICATES)}
    if has_source:
        volumes["source"] = ({"configMap": {"name": deployed.name}}, SOURCE)
    pod = {
        "serviceAccountName": deployed.name,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(deployed, targets, {name: path for name, (_, path) in volumes.items()})],
        "volumes": [{"name": name, **volume} for name, (volume, _) in volumes.items()],
    }
    template = {"metadata": {"labels": _selector(deployed)}, "spec": pod}
    spec = {"replicas": 2, "selector": {"matchLabels": _selector(deployed)}, "template": template}
    return _object("apps/v1", "Deployment", deployed, spec=spec)


def _container(deployed: Deployed, targets: Sequence[str], mounts: dict[str, str]) -> Json:
    probe = {"tcpSocket": {"port": "https"}}  # Health is asked with a client certificate, which no kubelet shows.
    return {
        "name": "hardpoint",
        "image": deployed.image,
        "args": ["run", *map(_inside, targets), *_options()],
        "ports": [{"name": "https", "containerPort": PORT}],
        "readinessProbe": probe,
        "livenessProbe": probe,
        "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": name, "mountPath": path, "readOnly": True} for name, path in mounts.items()],
    }


def _options() -> list[str]:
    return [
        "--bind-address=0.0.0.0",
        f"--port={PORT}",
        f"--tls-cert-file={CERTIFICATES}/tls.crt",
        f"--tls-private-key-file={CERTIFICATES}/tls.key",
        f"--client-ca-file={CERTIFICATES}/ca.crt",
    ]
