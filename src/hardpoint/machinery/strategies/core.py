"""What happens to the small core kinds on their way in, and what is unwise in them."""

from __future__ import annotations

import base64
import re
from typing import Any

from hardpoint.machinery import quantity
from hardpoint.machinery.addresses import cidr_warnings
from hardpoint.machinery.fielderrors import at

Json = dict[str, Any]

MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets"
COMPARED = ("cpu", "memory", "storage", "ephemeral-storage")
_PEM = re.compile(rb"-----BEGIN ([^-]+)-----.+?-----END \1-----", re.DOTALL)


def _namespace_create(obj: Json) -> None:
    obj["status"] = {"phase": "Active"}
    finalizers = obj["spec"].setdefault("finalizers", [])
    if "kubernetes" not in finalizers:
        finalizers.append("kubernetes")
    # A name that was generated is not known when defaults are filled in.
    name = obj["metadata"].get("name")
    if name:
        obj["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _namespace_update(obj: Json, old: Json) -> None:
    finalizers = old["spec"].get("finalizers")
    if finalizers is None:
        obj["spec"].pop("finalizers", None)
    else:
        obj["spec"]["finalizers"] = finalizers


def _limit_range_create(obj: Json) -> None:
    metadata = obj["metadata"]
    if not metadata.get("name") and metadata.get("uid"):
        metadata["name"] = metadata["uid"]
    obj["spec"]["limits"] = obj["spec"].get("limits") or None


def _config_map(obj: Json, old: Json | None = None) -> None:
    _no_null_values(obj.get("binaryData"))


def _secret_create(obj: Json) -> None:
    _no_null_values(obj.get("data"))


def _no_null_values(data: Json | None) -> None:
    """A key whose value is null has an empty one."""
    for key, value in (data or {}).items():
        if value is None and data is not None:
            data[key] = ""


def _secret_update(obj: Json, old: Json) -> None:
    _no_null_values(obj.get("data"))
    if not obj.get("type"):
        obj["type"] = old.get("type", "")


def _service_account(obj: Json, old: Json | None = None) -> None:
    if "secrets" in obj:
        obj["secrets"] = [{"name": ref["name"]} if ref.get("name") else {} for ref in obj["secrets"]]


def _warn_secret(obj: Json, old: Json | None = None) -> list[str]:
    if obj.get("type") != "kubernetes.io/tls":
        return []
    data = obj.get("data") or {}
    certificate = _pem_types(data.get("tls.crt"))
    if "CERTIFICATE" not in certificate:
        return [_no_certificate(certificate)]
    key = _pem_types(data.get("tls.key"))
    return [] if any(kind.endswith("PRIVATE KEY") for kind in key) else [_no_key(key)]


def _pem_types(encoded: str | None) -> list[str]:
    return [kind.decode() for kind in _PEM.findall(base64.b64decode(encoded or ""))]


def _no_certificate(found: list[str]) -> str:
    if not found:
        return "tls: failed to find any PEM data in certificate input"
    if len(found) == 1 and found[0].endswith("PRIVATE KEY"):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did find a private key;"
            " PEM inputs may have been switched"
        )
    wanted = 'tls: failed to find "CERTIFICATE" PEM block in certificate input'
    return f"{wanted} after skipping PEM blocks of the following types: [{' '.join(found)}]"


def _no_key(found: list[str]) -> str:
    if not found:
        return "tls: failed to find any PEM data in key input"
    if found == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    wanted = 'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input'
    return f"{wanted} after skipping PEM blocks of the following types: [{' '.join(found)}]"


def _warn_service_account(obj: Json, old: Json | None = None) -> list[str]:
    if old is not None and MOUNTABLE_SECRETS in (old["metadata"].get("annotations") or {}):
        return []
    if MOUNTABLE_SECRETS not in (obj["metadata"].get("annotations") or {}):
        return []
    why = "prefer separate namespaces to isolate access to mounted secrets"
    return [f"metadata.annotations[{MOUNTABLE_SECRETS}]: deprecated in v1.32+; {why}"]


def _warn_quota(obj: Json) -> list[str]:
    hard = obj["spec"].get("hard") or {}
    told = []
    for name in COMPARED:
        request = f"requests.{name}"
        if request not in hard and name in ("cpu", "memory"):
            request = name
        limit = f"limits.{name}"
        if request in hard and limit in hard and quantity.parse(hard[request]) > quantity.parse(hard[limit]):
            told.append(f"ResourceQuota {request} ({hard[request]}) should be less than {limit} ({hard[limit]})")
    return told


def _node_create(obj: Json) -> None:
    obj["spec"].pop("configSource", None)
    obj.get("status", {}).pop("config", None)


def _node_update(obj: Json, old: Json) -> None:
    if "configSource" not in old["spec"]:
        obj["spec"].pop("configSource", None)


def _warn_node(obj: Json, old: Json | None = None) -> list[str]:
    spec = obj["spec"]
    told = []
    if "configSource" in spec:
        told.append("spec.configSource: the feature is removed")
    if spec.get("externalID"):
        told.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")
    for index, cidr in enumerate(spec.get("podCIDRs") or ()):
        told += cidr_warnings(at("spec.podCIDRs", index), cidr)
    return told


CREATE = {
    "ConfigMap": _config_map,
    "Secret": _secret_create,
    "Namespace": _namespace_create,
    "LimitRange": _limit_range_create,
    "Node": _node_create,
    "ServiceAccount": _service_account,
}
UPDATE = {
    "ConfigMap": _config_map,
    "Namespace": _namespace_update,
    "Node": _node_update,
    "Secret": _secret_update,
    "ServiceAccount": _service_account,
}
WARN_CREATE = {
    "Secret": _warn_secret,
    "ServiceAccount": _warn_service_account,
    "ResourceQuota": _warn_quota,
    "Node": _warn_node,
}
WARN_UPDATE = {
    "Secret": _warn_secret,
    "ServiceAccount": _warn_service_account,
    "Node": _warn_node,
}
