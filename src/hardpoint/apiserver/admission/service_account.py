"""Every pod acts as a service account, whose token it finds in a volume.

The account `default` is made by a controller. Where that has not happened yet kube-apiserver waits a second and then
refuses the pod; here the pod is let in as if the account were there and had no wishes, so that a server without
controllers can hold pods. Other accounts must exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hardpoint.apiserver.admission.contract import Attributes, Mutates, Reader, Validates
from hardpoint.apiserver.admission.refusals import refused
from hardpoint.apiserver.objectmeta import generated_name
from hardpoint.machinery.validation.podspec_annotations import MIRROR

Json = dict[str, Any]
Groups = tuple[tuple[str, str], ...]
"""Lists of containers, and what one of them is called."""

DEFAULT = "default"
MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
VOLUME_PREFIX = "kube-api-access-"
# An hour, and seven seconds by which a token that nobody chose the life of can be told.
TOKEN_SECONDS = 3607
ENFORCED = "kubernetes.io/enforce-mountable-secrets"

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_GROUPS = (("initContainers", "init container"), ("containers", "container"))
_EPHEMERAL = (("ephemeralContainers", "ephemeral container"),)


class ServiceAccount:
    async def mutate(self, attributes: Attributes, reader: Reader) -> None:
        if not _is_new_pod(attributes) or attributes.object is None:
            return
        spec = attributes.object["spec"]
        if _is_mirror(attributes.object):
            _check_mirror(attributes, spec)
            return
        if not spec.get("serviceAccountName"):
            spec["serviceAccountName"] = spec["serviceAccount"] = DEFAULT
        account = await _account(attributes, spec["serviceAccountName"], reader)
        if _wants_token(account, spec):
            _mount_token(spec)
        pull_secrets = account.get("imagePullSecrets")
        if pull_secrets and not spec.get("imagePullSecrets"):
            spec["imagePullSecrets"] = [{"name": secret.get("name", "")} for secret in pull_secrets]
        _check_secrets(attributes, account, spec)

    async def validate(self, attributes: Attributes, reader: Reader) -> None:
        """Look again: plugins that came later may have changed the pod."""
        if attributes.object is None or not (_is_new_pod(attributes) or _is_debugged(attributes)):
            return
        spec = attributes.object["spec"]
        if _is_mirror(attributes.object) and not _is_debugged(attributes):
            _check_mirror(attributes, spec)
            return
        name = spec.get("serviceAccountName", "")
        if not name:
            place = f"{attributes.namespace}/{attributes.name}"
            raise refused(attributes, f"no service account specified for pod {place}")
        account = await _account(attributes, name, reader)
        if _is_debugged(attributes):
            _check_debuggers(attributes, account, spec)
        else:
            _check_secrets(attributes, account, spec)


def _is_new_pod(attributes: Attributes) -> bool:
    return attributes.kind.resource == "pods" and not attributes.subresource and attributes.operation == "CREATE"


def _is_debugged(attributes: Attributes) -> bool:
    return attributes.kind.resource == "pods" and attributes.subresource == "ephemeralcontainers"


def _is_mirror(pod: Json) -> bool:
    return MIRROR in (pod["metadata"].get("annotations") or {})


async def _account(attributes: Attributes, name: str, reader: Reader) -> Json:
    found = await reader.get("", "serviceaccounts", attributes.namespace, name)
    if found is not None:
        return found
    if name == DEFAULT:
        return {"metadata": {"name": name}}
    place = f"{attributes.namespace}/{name}"
    raise refused(attributes, f'error looking up service account {place}: serviceaccount "{name}" not found')


def _wants_token(account: Json, spec: Json) -> bool:
    """The pod's word counts more than its account's."""
    of_account: bool = account.get("automountServiceAccountToken", True)
    wants: bool = spec.get("automountServiceAccountToken", of_account)
    return wants


def _mount_token(spec: Json) -> None:
    volumes = spec.get("volumes") or []
    existing = next((each["name"] for each in volumes if each.get("name", "").startswith(VOLUME_PREFIX)), None)
    mount = {"name": existing or generated_name(VOLUME_PREFIX), "readOnly": True, "mountPath": MOUNT_PATH}
    is_used = False
    for group, _ in _GROUPS:
        for container in spec.get(group) or ():
            mounts = container.get("volumeMounts") or []
            if all(each.get("mountPath") != MOUNT_PATH for each in mounts):
                container["volumeMounts"] = [*mounts, dict(mount)]
                is_used = True
    if is_used and existing is None:
        spec["volumes"] = [*volumes, {"name": mount["name"], "projected": _token_source()}]


def _token_source() -> Json:
    namespace = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [namespace]}},
        ],
        "defaultMode": 0o644,
    }


def _check_mirror(attributes: Attributes, spec: Json) -> None:
    """A mirror shows what a node runs by itself; it can have nothing that only the API server gives."""
    if spec.get("serviceAccountName"):
        raise refused(attributes, "a mirror pod may not reference service accounts")
    if next(_secret_names(spec), None) is not None:
        raise refused(attributes, "a mirror pod may not reference secrets")
    for volume in spec.get("volumes") or ():
        for source in (volume.get("projected") or {}).get("sources") or ():
            if "serviceAccountToken" in source:
                raise refused(attributes, "a mirror pod may not use ServiceAccountToken volume projections")


def _secret_names(spec: Json) -> Iterator[str]:
    yield from (each["name"] for each in spec.get("imagePullSecrets") or () if each.get("name"))
    for _, _, name in _container_secrets(spec):
        yield name
    for volume in spec.get("volumes") or ():
        for source in volume.values():
            if isinstance(source, dict):
                yield from _volume_secrets(source)


def _volume_secrets(source: Json) -> Iterator[str]:
    """Volume sources name their secrets in one of a few ways."""
    if source.get("secretName"):
        yield source["secretName"]
    for field in ("secretRef", "nodePublishSecretRef"):
        if name := (source.get(field) or {}).get("name"):
            yield name
    for part in source.get("sources") or ():
        if name := (part.get("secret") or {}).get("name"):
            yield name


def _container_secrets(spec: Json, groups: Groups = _GROUPS) -> Iterator[tuple[str, str, str]]:
    """Which container uses a secret, in which way, and the secret's name."""
    for group, told_as in groups:
        for container in spec.get(group) or ():
            who = f"{told_as} {container.get('name', '')}"
            for variable in container.get("env") or ():
                if name := ((variable.get("valueFrom") or {}).get("secretKeyRef") or {}).get("name"):
                    yield who, f"envVar {variable.get('name', '')}", name
            for source in container.get("envFrom") or ():
                if name := (source.get("secretRef") or {}).get("name"):
                    yield who, "envFrom", name


def _check_secrets(attributes: Attributes, account: Json, spec: Json) -> None:
    """Where the account insists, only the secrets that it lists may be used."""
    if not _insists(account):
        return
    listed, why = _listed(account), _why(account)
    for volume in spec.get("volumes") or ():
        source = volume.get("secret")
        if source is not None and source.get("secretName", "") not in listed:
            raise refused(attributes, f'volume with secret.secretName="{source.get("secretName", "")}" {why} secret')
    _check_containers(attributes, account, _container_secrets(spec))
    pullable = {secret.get("name", "") for secret in account.get("imagePullSecrets") or ()}
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if secret.get("name", "") not in pullable:
            told = f'imagePullSecrets[{index}].name="{secret.get("name", "")}"'
            raise refused(attributes, f"{told} {why} imagePullSecret")


def _check_debuggers(attributes: Attributes, account: Json, spec: Json) -> None:
    """Containers that come later get no more secrets than those that were there from the start."""
    if _insists(account):
        _check_containers(attributes, account, _container_secrets(spec, _EPHEMERAL))


def _check_containers(attributes: Attributes, account: Json, uses: Iterable[tuple[str, str, str]]) -> None:
    listed, why = _listed(account), _why(account)
    for who, how, name in uses:
        if name not in listed:
            raise refused(attributes, f'{who} with {how} referencing secret.secretName="{name}" {why} secret')


def _insists(account: Json) -> bool:
    return (account["metadata"].get("annotations") or {}).get(ENFORCED) in _TRUE


def _listed(account: Json) -> set[str]:
    return {secret.get("name", "") for secret in account.get("secrets") or ()}


def _why(account: Json) -> str:
    return f"is not allowed because service account {account['metadata']['name']} does not reference that"


_mutates: type[Mutates] = ServiceAccount
_validates: type[Validates] = ServiceAccount
