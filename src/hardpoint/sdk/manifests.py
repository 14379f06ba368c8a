"""What deploys an author's file in a cluster: the objects, and the certificates they carry.

Webhooks need no permission in the cluster they serve, so their account has none and no token; controllers get what they
declare. A file's source goes into a ConfigMap; a module is expected in the image. The server's certificate and the
callers' authority are in a Secret: whoever applies the objects holds them, and the API server's files are made from the
same folder. The Deployment itself is `deployment.py`'s.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hardpoint.machinery.errors import ConfigError
from hardpoint.sdk.app import App
from hardpoint.sdk.certificates import Trust
from hardpoint.sdk.deployment import Carries, Deployed, deployment, is_file, part, selector
from hardpoint.sdk.loading import Loaded
from hardpoint.sdk.permissions import LEASES, rules, rules_by_namespace
from hardpoint.serving.certificates import Pki

Json = dict[str, Any]

CONFIG_MAP_BYTES_MAX = 1024 * 1024


def manifests(targets: Sequence[str], loaded: Sequence[Loaded], deployed: Deployed, pki: Pki) -> list[Json]:
    """The objects that run `targets` in a cluster, in the order they are to be created. Raises ConfigError."""
    objects = _definitions(loaded, deployed, pki)
    if objects and not any(one.app.webhooks or one.app.controllers for one in loaded):
        return objects
    apps = [one.app for one in loaded]
    sources = _sources(targets, loaded)
    carries = Carries(
        webhooks=any(app.webhooks for app in apps),
        controllers=any(app.controllers for app in apps),
        source=bool(sources),
    )
    objects.append(part("v1", "ServiceAccount", deployed, automountServiceAccountToken=False))
    if carries.controllers:
        objects += _roles(apps, deployed)
    if carries.source:
        objects.append(part("v1", "ConfigMap", deployed, data=sources))
    if carries.webhooks:
        objects.append(_secret(deployed, pki))
    objects.append(deployment(deployed, targets, carries))
    if carries.webhooks:
        objects.append(_service(deployed))
    return objects


def _roles(apps: Sequence[App], deployed: Deployed) -> Iterator[Json]:
    """What the account may do in the whole cluster, in namespaces that controllers keep to, and with its Leases."""
    by_namespace = rules_by_namespace(apps)
    everywhere = by_namespace.pop("", None)
    if everywhere is not None:
        yield from _role("Cluster", f"{deployed.namespace}-{deployed.name}", "", everywhere, deployed)
    at_home = by_namespace.pop(deployed.namespace, [])
    for namespace, granted in by_namespace.items():
        yield from _role("", f"{deployed.namespace}-{deployed.name}", namespace, granted, deployed)
    yield from _role("", deployed.name, deployed.namespace, at_home + rules(LEASES), deployed)


def _role(scope: str, name: str, namespace: str, granted: list[Json], deployed: Deployed) -> Iterator[Json]:
    api_version = "rbac.authorization.k8s.io/v1"
    account = {"kind": "ServiceAccount", "name": deployed.name, "namespace": deployed.namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": f"{scope}Role", "name": name}
    yield part(api_version, f"{scope}Role", deployed, name, namespace, rules=granted)
    yield part(api_version, f"{scope}RoleBinding", deployed, name, namespace, roleRef=role, subjects=[account])


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
        if not is_file(target):
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


def _secret(deployed: Deployed, pki: Pki) -> Json:
    files = {"tls.crt": pki.certificate("server"), "tls.key": pki.key("server"), "ca.crt": pki.certificate("caller-ca")}
    data = {name: base64.b64encode(file.read_bytes()).decode() for name, file in files.items()}
    return part("v1", "Secret", deployed, f"{deployed.name}-tls", type="kubernetes.io/tls", data=data)


def _service(deployed: Deployed) -> Json:
    ports = [{"name": "https", "port": 443, "targetPort": "https"}]
    return part("v1", "Service", deployed, spec={"selector": selector(deployed), "ports": ports})
