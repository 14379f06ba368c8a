"""What makes the volumes of a pod invalid. Each kind of source has its own rules; a volume has one source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
    too_long,
)
from hardpoint.machinery.validation import volumes_network
from hardpoint.machinery.validation.containers import pull_policy
from hardpoint.machinery.validation.paths import descending, no_backsteps
from hardpoint.machinery.validation.volumes_claims import claim_template
from hardpoint.machinery.validation.volumes_projected import downward_file, file_mode, key_to_path, projected

Json = dict[str, Any]
Errors = list[FieldError]
Check = Callable[[Errors, str, Json], None]

HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
DRIVER_LENGTH_MAX = 63
ISCSI_TARGET_LENGTH_MAX = 64

_ONE_TYPE = "may not specify more than 1 volume type"
# Where upstream's paths are not the field's name.
_TOLD_AS_SECOND = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
_TOLD_INSIDE = {"gcePersistentDisk": "persistentDisk"}


def volumes(errors: Errors, path: str, given: list[Json], pod_name: str = "") -> dict[str, Json]:
    """The valid volumes by name; the others are told. `pod_name` is empty where the pod is still a template."""
    valid: dict[str, Json] = {}
    generated = (
        {f"{pod_name}-{volume.get('name', '')}" for volume in given if "ephemeral" in volume} if pod_name else ()
    )
    for index, volume in enumerate(given):
        before = len(errors)
        name = volume.get("name", "")
        _source(errors, path, index, volume, pod_name)
        if not name:
            errors.append(required(f"{path}[{index}].name"))
        elif wrong := names.dns_label(name):
            errors += invalids(f"{path}[{index}].name", name, wrong)
        if name in valid:
            errors.append(duplicate(f"{path}[{index}].name", name))
        if len(errors) == before:
            valid[name] = volume
        claim = volume.get("persistentVolumeClaim")
        if claim is not None and claim.get("claimName", "") in generated:
            told = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(invalid(f"{path}[{index}].persistentVolumeClaim.claimName", claim["claimName"], told))
    return valid


def _source(errors: Errors, path: str, index: int, volume: Json, pod_name: str) -> None:
    if len(volume) == 2:
        # The usual case: a name and one source.
        source = next(field for field in volume if field != "name") if "name" in volume else None
        check = _SOURCES.get(source) if source is not None else None
        if source is not None and check is not None:
            check(errors, f"{path}[{index}].{_TOLD_INSIDE.get(source, source)}", volume[source])
            _about_name(errors, f"{path}[{index}].name", volume, pod_name)
            return
    found = 0
    for field, check in _SOURCES.items():
        if field not in volume:
            continue
        found += 1
        if found == 1:
            check(errors, f"{path}[{index}].{_TOLD_INSIDE.get(field, field)}", volume[field])
            _about_name(errors, f"{path}[{index}].name", volume, pod_name)
        else:
            errors.append(forbidden(f"{path}[{index}].{_TOLD_AS_SECOND.get(field, field)}", _ONE_TYPE))
    if not found:
        errors.append(required(f"{path}[{index}]", "must specify a volume type"))


def _about_name(errors: Errors, path: str, volume: Json, pod_name: str) -> None:
    """What some sources make of the volume's name."""
    name = volume.get("name", "")
    if "ephemeral" in volume and pod_name and name:
        claim = f"{pod_name}-{name}"
        errors += invalids(path, name, [f'PVC name "{claim}": {problem}' for problem in names.dns_subdomain(claim)])
    iscsi = volume.get("iscsi")
    if iscsi is not None and iscsi.get("initiatorName") is not None:
        target = f"{name}:{iscsi.get('targetPortal', '')}"
        if names.length(target) > ISCSI_TARGET_LENGTH_MAX:
            told = (
                "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters"
                " if iscsi.initiatorName is specified."
            )
            errors.append(invalid(path, name, told))


def _empty_dir(errors: Errors, path: str, source: Json) -> None:
    if str(source.get("sizeLimit", "")).startswith("-"):
        errors.append(forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity"))


def host_path(errors: Errors, path: str, source: Json) -> None:
    if not source.get("path"):
        errors.append(required(f"{path}.path"))
        return
    no_backsteps(errors, f"{path}.path", source["path"])
    kind = source.get("type")
    if kind is not None and kind not in HOST_PATH_TYPES:
        errors.append(not_supported(f"{path}.type", kind, HOST_PATH_TYPES))


def _git_repo(errors: Errors, path: str, source: Json) -> None:
    if not source.get("repository"):
        errors.append(required(f"{path}.repository"))
    descending(errors, f"{path}.directory", source.get("directory", ""))


def _secret(errors: Errors, path: str, source: Json) -> None:
    _keys(errors, path, source, "secretName")


def _config_map(errors: Errors, path: str, source: Json) -> None:
    _keys(errors, path, source, "name")


def _keys(errors: Errors, path: str, source: Json, name_field: str) -> None:
    if not source.get(name_field):
        errors.append(required(f"{path}.{name_field}"))
    file_mode(errors, f"{path}.defaultMode", source.get("defaultMode"))
    for index, item in enumerate(source.get("items") or ()):
        key_to_path(errors, f"{path}.items[{index}]", item)


def _downward_api(errors: Errors, path: str, source: Json) -> None:
    """Upstream tells what is wrong with an item at the source, without its number."""
    file_mode(errors, f"{path}.defaultMode", source.get("defaultMode"))
    for item in source.get("items") or ():
        downward_file(errors, path, item)


def _claim(errors: Errors, path: str, source: Json) -> None:
    if not source.get("claimName"):
        errors.append(required(f"{path}.claimName"))


def _csi(errors: Errors, path: str, source: Json) -> None:
    csi_driver_name(errors, f"{path}.driver", source.get("driver", ""))
    secret = source.get("nodePublishSecretRef")
    if secret is None:
        return
    name = secret.get("name", "")
    if not name:
        errors.append(required(f"{path}.nodePublishSecretRef.name"))
    elif wrong := names.dns_subdomain(name):
        errors += invalids(f"{path}.name", name, wrong)


def csi_driver_name(errors: Errors, path: str, driver: str) -> None:
    """A subdomain in any case, no longer than a label."""
    if not driver:
        errors.append(required(path))
        return
    if names.length(driver) > DRIVER_LENGTH_MAX:
        errors.append(too_long(path, DRIVER_LENGTH_MAX))
    if wrong := names.dns_subdomain(driver.lower()):
        errors += invalids(path, driver, wrong)


def _ephemeral(errors: Errors, path: str, source: Json) -> None:
    template = source.get("volumeClaimTemplate")
    if template is None:
        errors.append(required(f"{path}.volumeClaimTemplate"))
    else:
        claim_template(errors, f"{path}.volumeClaimTemplate", template)


def _image(errors: Errors, path: str, source: Json) -> None:
    if not source.get("reference"):
        errors.append(required(f"{path}.reference"))
    pull_policy(errors, f"{path}.pullPolicy", source.get("pullPolicy", ""))


# In the order upstream looks at them: the first one found is the volume's source.
_SOURCES: Mapping[str, Check] = {
    "emptyDir": _empty_dir,
    "hostPath": host_path,
    "gitRepo": _git_repo,
    "gcePersistentDisk": volumes_network.gce_persistent_disk,
    "awsElasticBlockStore": volumes_network.aws_elastic_block_store,
    "secret": _secret,
    "nfs": volumes_network.nfs,
    "iscsi": volumes_network.iscsi,
    "glusterfs": volumes_network.glusterfs,
    "flocker": volumes_network.flocker,
    "persistentVolumeClaim": _claim,
    "rbd": volumes_network.rbd,
    "cinder": volumes_network.cinder,
    "cephfs": volumes_network.cephfs,
    "quobyte": volumes_network.quobyte,
    "downwardAPI": _downward_api,
    "fc": volumes_network.fibre_channel,
    "flexVolume": volumes_network.flex_volume,
    "configMap": _config_map,
    "azureFile": volumes_network.azure_file,
    "vsphereVolume": volumes_network.vsphere,
    "photonPersistentDisk": volumes_network.photon,
    "portworxVolume": volumes_network.portworx,
    "azureDisk": volumes_network.azure_disk,
    "storageos": volumes_network.storage_os,
    "projected": projected,
    "scaleIO": volumes_network.scale_io,
    "csi": _csi,
    "ephemeral": _ephemeral,
    "image": _image,
}
