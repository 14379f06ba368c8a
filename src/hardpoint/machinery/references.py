"""What pods and volumes refer to by name: the objects that a node must be able to read to run them.

The rules are those of Kubernetes' node authorizer: a volume that names several things counts with its own kind only,
and a reference without a name is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

SECRETS, CONFIG_MAPS, ACCOUNTS = "secrets", "configmaps", "serviceaccounts"
CLAIMS, RESOURCE_CLAIMS = "persistentvolumeclaims", "resourceclaims"

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
# Where a volume of each kind names a Secret.
_SECRET_FIELDS: Mapping[str, tuple[str, ...]] = {
    "azureFile": ("secretName",),
    "cephfs": ("secretRef", "name"),
    "cinder": ("secretRef", "name"),
    "csi": ("nodePublishSecretRef", "name"),
    "flexVolume": ("secretRef", "name"),
    "iscsi": ("secretRef", "name"),
    "rbd": ("secretRef", "name"),
    "scaleIO": ("secretRef", "name"),
    "secret": ("secretName",),
    "storageos": ("secretRef", "name"),
}
# Which references of a PersistentVolume a node follows, and whether the claim's namespace stands in for a missing one.
_VOLUME_SECRETS: Mapping[str, tuple[tuple[str, ...], bool]] = {
    "cephfs": (("secretRef",), True),
    "cinder": (("secretRef",), False),
    "csi": (("nodePublishSecretRef", "nodeStageSecretRef", "nodeExpandSecretRef"), False),
    "flexVolume": (("secretRef",), True),
    "iscsi": (("secretRef",), True),
    "rbd": (("secretRef",), True),
    "scaleIO": (("secretRef",), True),
    "storageos": (("secretRef",), False),
}


def of_pod(pod: Json) -> Iterator[tuple[str, str]]:
    """What a pod refers to in its own namespace: resource and name, perhaps several times."""
    spec = pod["spec"]
    if account := spec.get("serviceAccountName"):
        yield ACCOUNTS, account
    for secret in spec.get("imagePullSecrets") or ():
        if name := secret.get("name"):
            yield SECRETS, name
    for group in _CONTAINERS:
        for container in spec.get(group) or ():
            yield from _of_environment(container)
    for volume in spec.get("volumes") or ():
        yield from _of_volume(volume, pod["metadata"]["name"])
    if "resourceClaims" in spec:
        yield from _claims_asked(spec["resourceClaims"] or (), pod.get("status") or {})
    extended = (pod.get("status") or {}).get("extendedResourceClaimStatus") or {}
    if name := extended.get("resourceClaimName"):
        yield RESOURCE_CLAIMS, name


def of_volume(volume: Json) -> Iterator[tuple[str, str]]:
    """The Secrets by which a node mounts a PersistentVolume: namespace and name."""
    spec = volume["spec"]
    home = (spec.get("claimRef") or {}).get("namespace", "")
    if (azure := spec.get("azureFile")) is not None and azure.get("secretName"):
        yield azure.get("secretNamespace") or home, azure["secretName"]
    for source, (fields, at_home) in _VOLUME_SECRETS.items():
        for field in fields:
            reference = (spec.get(source) or {}).get(field) or {}
            if name := reference.get("name"):
                yield reference.get("namespace") or (home if at_home else ""), name


def claim_of(volume: Json, pod_name: str) -> str:
    """The PersistentVolumeClaim behind a volume of a pod, or nothing."""
    if (source := volume.get("persistentVolumeClaim")) is not None:
        claim: str = source.get("claimName", "")
        return claim
    return f"{pod_name}-{volume['name']}" if volume.get("ephemeral") is not None else ""


def _of_environment(container: Json) -> Iterator[tuple[str, str]]:
    for source in container.get("envFrom") or ():
        if name := (source.get("secretRef") or {}).get("name"):
            yield SECRETS, name
        if name := (source.get("configMapRef") or {}).get("name"):
            yield CONFIG_MAPS, name
    for variable in container.get("env") or ():
        if (source := variable.get("valueFrom")) is None:
            continue
        if name := (source.get("secretKeyRef") or {}).get("name"):
            yield SECRETS, name
        if name := (source.get("configMapKeyRef") or {}).get("name"):
            yield CONFIG_MAPS, name


def _of_volume(volume: Json, pod_name: str) -> Iterator[tuple[str, str]]:
    for source, value in volume.items():
        if (path := _SECRET_FIELDS.get(source)) is not None:
            if name := _at(value, path):
                yield SECRETS, name
        elif source == "configMap":
            if named := (value or {}).get("name"):
                yield CONFIG_MAPS, named
        elif source == "projected":
            for part in (value or {}).get("sources") or ():
                if named := (part.get("secret") or {}).get("name"):
                    yield SECRETS, named
                if named := (part.get("configMap") or {}).get("name"):
                    yield CONFIG_MAPS, named
    if claim := claim_of(volume, pod_name):
        yield CLAIMS, claim


def _at(value: Any, path: tuple[str, ...]) -> str:
    for part in path:
        value = (value or {}).get(part)
    return value or ""


def _claims_asked(asked: Any, status: Json) -> Iterator[tuple[str, str]]:
    """A claim that is made from a template is known by the name that the pod's status says it got."""
    made = {each.get("name"): each.get("resourceClaimName") for each in status.get("resourceClaimStatuses") or ()}
    for claim in asked:
        name = claim.get("resourceClaimName") or made.get(claim.get("name"))
        if name:
            yield RESOURCE_CLAIMS, name
