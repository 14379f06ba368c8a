"""What makes the older volume sources invalid: disks and file systems that pods name without a claim."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, invalids, not_supported, required

Json = dict[str, Any]
Errors = list[FieldError]
Check = Callable[[Errors, str, Json], None]

TENANT_LENGTH_MAX = 64

_IQN = re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$", re.ASCII)
_EUI = re.compile(r"eui.[A-Za-z0-9]{16}", re.ASCII)
_NAA = re.compile(r"naa.[A-Za-z0-9]{32}", re.ASCII)
_CACHING = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS = ("Dedicated", "Managed", "Shared")
_MANAGED_URI = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_URI = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_REGISTRY = "must be a host:port pair or multiple pairs separated by commas"
_HOST_PORT = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*")


def _needs(*fields: str) -> Check:
    def check(errors: Errors, path: str, source: Json) -> None:
        errors += [required(f"{path}.{field}") for field in fields if not source.get(field)]

    return check


glusterfs = _needs("endpoints", "path")
rbd = _needs("monitors", "image")
cephfs = _needs("monitors")
azure_file = _needs("secretName", "shareName")
vsphere = _needs("volumePath")
photon = _needs("pdID")
portworx = _needs("volumeID")
scale_io = _needs("gateway", "system", "volumeName")


def gce_persistent_disk(errors: Errors, path: str, source: Json) -> None:
    _disk(errors, path, source, "pdName")


def aws_elastic_block_store(errors: Errors, path: str, source: Json) -> None:
    _disk(errors, path, source, "volumeID")


def _disk(errors: Errors, path: str, source: Json, name: str) -> None:
    """Partition 0, the whole disk, is allowed, although upstream's words leave it out."""
    if not source.get(name):
        errors.append(required(f"{path}.{name}"))
    partition = source.get("partition", 0)
    if not 0 <= partition <= 255:
        errors.append(invalid(f"{path}.partition", partition, names.out_of_range(1, 255)))


def nfs(errors: Errors, path: str, source: Json) -> None:
    if not source.get("server"):
        errors.append(required(f"{path}.server"))
    exported = source.get("path", "")
    if not exported:
        errors.append(required(f"{path}.path"))
    if not exported.startswith("/"):
        errors.append(invalid(f"{path}.path", exported, "must be an absolute path"))


def iscsi(errors: Errors, path: str, source: Json) -> None:
    if not source.get("targetPortal"):
        errors.append(required(f"{path}.targetPortal"))
    target = source.get("iqn", "")
    if not target:
        errors.append(required(f"{path}.iqn"))
    else:
        errors += invalids(f"{path}.iqn", target, _iscsi_name(target))
    lun = source.get("lun", 0)
    if not 0 <= lun <= 255:
        errors.append(invalid(f"{path}.lun", lun, names.out_of_range(0, 255)))
    if (source.get("chapAuthDiscovery") or source.get("chapAuthSession")) and "secretRef" not in source:
        errors.append(required(f"{path}.secretRef"))
    if "secretRef" in source and not source["secretRef"].get("name"):
        errors.append(required(f"{path}.secretRef.name"))
    initiator = source.get("initiatorName")
    if initiator is not None:
        errors += invalids(f"{path}.initiatorname", initiator, _iscsi_name(initiator))


def _iscsi_name(name: str) -> list[str]:
    if not name.startswith(("iqn", "eui", "naa")):
        return ["must be valid format starting with iqn, eui, or naa"]
    if name.startswith("iqn"):
        fits = _IQN.search(name)
    else:
        fits = (_EUI if name.startswith("eui") else _NAA).fullmatch(name)
    return [] if fits else ["must be valid format"]


def flocker(errors: Errors, path: str, source: Json) -> None:
    name, uuid = source.get("datasetName", ""), source.get("datasetUUID", "")
    if not name and not uuid:
        errors.append(required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        errors.append(invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
    if "/" in name:
        errors.append(invalid(f"{path}.datasetName", name, "must not contain '/'"))


def cinder(errors: Errors, path: str, source: Json) -> None:
    if not source.get("volumeID"):
        errors.append(required(f"{path}.volumeID"))
    _secret_name(errors, path, source)


def quobyte(errors: Errors, path: str, source: Json) -> None:
    registry = source.get("registry", "")
    if not registry:
        errors.append(required(f"{path}.registry", _REGISTRY))
    elif names.length(source.get("tenant", "")) > TENANT_LENGTH_MAX:
        told = f"must be a UUID and may not exceed a length of {TENANT_LENGTH_MAX} characters"
        errors.append(required(f"{path}.tenant", told))
    else:
        wrong = [_REGISTRY for pair in registry.split(",") if not _HOST_PORT.fullmatch(pair)]
        errors += invalids(f"{path}.registry", registry, wrong)
    if not source.get("volume"):
        errors.append(required(f"{path}.volume"))


def fibre_channel(errors: Errors, path: str, source: Json) -> None:
    names_given, ids = source.get("targetWWNs") or [], source.get("wwids") or []
    if not names_given and not ids:
        told = "must specify either targetWWNs or wwids, but not both"
        errors.append(required(f"{path}.targetWWNs", told))
    if names_given and ids:
        told = "targetWWNs and wwids can not be specified simultaneously"
        errors.append(invalid(f"{path}.targetWWNs", names_given, told))
    if not names_given:
        return
    lun = source.get("lun")
    if lun is None:
        errors.append(required(f"{path}.lun", "lun is required if targetWWNs is specified"))
    elif not 0 <= lun <= 255:
        errors.append(invalid(f"{path}.lun", lun, names.out_of_range(0, 255)))


def flex_volume(errors: Errors, path: str, source: Json) -> None:
    if not source.get("driver"):
        errors.append(required(f"{path}.driver"))
    for key in source.get("options") or ():
        domain = "." + key.partition("/")[0].lower()
        if domain.endswith((".kubernetes.io", ".k8s.io")):
            told = "kubernetes.io and k8s.io namespaces are reserved"
            errors.append(invalid(f"{path}.options[{key}]", key, told))


def azure_disk(errors: Errors, path: str, source: Json) -> None:
    uri, caching, kind = source.get("diskURI", ""), source.get("cachingMode"), source.get("kind")
    errors += [required(f"{path}.{field}") for field in ("diskName", "diskURI") if not source.get(field)]
    if caching is not None and caching not in _CACHING:
        errors.append(not_supported(f"{path}.cachingMode", caching, _CACHING))
    if kind is None:
        return
    if kind not in _DISK_KINDS:
        errors.append(not_supported(f"{path}.kind", kind, _DISK_KINDS))
    if kind == "Managed" and not uri.startswith("/subscriptions/"):
        errors.append(not_supported(f"{path}.diskURI", uri, (_MANAGED_URI,)))
    if kind != "Managed" and not uri.startswith("https://"):
        errors.append(not_supported(f"{path}.diskURI", uri, (_BLOB_URI,)))


def storage_os(errors: Errors, path: str, source: Json) -> None:
    name, namespace = source.get("volumeName", ""), source.get("volumeNamespace", "")
    if not name:
        errors.append(required(f"{path}.volumeName"))
    elif wrong := names.dns_label(name):
        errors += invalids(f"{path}.volumeName", name, wrong)
    if namespace and (wrong := names.dns_label(namespace)):
        errors += invalids(f"{path}.volumeNamespace", namespace, wrong)
    _secret_name(errors, path, source)


def _secret_name(errors: Errors, path: str, source: Json) -> None:
    secret = source.get("secretRef")
    if secret is not None and not secret.get("name"):
        errors.append(required(f"{path}.secretRef.name"))
