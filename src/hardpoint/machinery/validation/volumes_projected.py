"""What makes files projected into a volume invalid: keys, fields of the pod, tokens, certificates and trust."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
    too_long,
)
from hardpoint.machinery.validation.containers_env import field_selector, resource_selector
from hardpoint.machinery.validation.labelselectors import label_selector
from hardpoint.machinery.validation.metadata import ANNOTATIONS_SIZE_MAX
from hardpoint.machinery.validation.paths import descending_unreserved
from hardpoint.machinery.validation.signers import is_kubernetes_signer, signer_name

Json = dict[str, Any]
Errors = list[FieldError]

FILE_MODE_TOLD = "must be a number between 0 and 0777 (octal), both inclusive"
TOKEN_SECONDS_MIN = 600
TOKEN_SECONDS_MAX = 2**32
CERTIFICATE_SECONDS_MIN = 3600
CERTIFICATE_SECONDS_MAX = 91 * 24 * 3600
KUBERNETES_CERTIFICATE_SECONDS_MAX = 24 * 3600

_VOLUME_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_CERTIFICATE_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")
_SAME_PATH = "conflicting duplicate paths"


def projected(errors: Errors, path: str, volume: Json) -> None:
    """All sources share one folder, so no two may write the same file."""
    file_mode(errors, f"{path}.defaultMode", volume.get("defaultMode"))
    taken: set[str] = set()
    for index, source in enumerate(volume.get("sources") or ()):
        place = f"{path}.sources[{index}]"
        found = 0
        for field, check in _SOURCES.items():
            if field in source:
                found += 1
                check(errors, path, f"{place}.{field}", source[field], taken)
        if found > 1:
            errors.append(forbidden(place, "may not specify more than 1 volume type per source"))


def key_to_path(errors: Errors, path: str, item: Json) -> None:
    """One key of a config map or secret, and the file it becomes."""
    target = item.get("path", "")
    if not item.get("key"):
        errors.append(required(f"{path}.key"))
    if not target:
        errors.append(required(f"{path}.path"))
    descending_unreserved(errors, f"{path}.path", target)
    file_mode(errors, f"{path}.mode", item.get("mode"))


def downward_file(errors: Errors, path: str, item: Json) -> None:
    """One field of the pod, or one resource of a container, and the file it becomes."""
    target, field, resource = item.get("path", ""), item.get("fieldRef"), item.get("resourceFieldRef")
    if not target:
        errors.append(required(f"{path}.path"))
    descending_unreserved(errors, f"{path}.path", target)
    if field is not None:
        field_selector(errors, f"{path}.fieldRef", field, _VOLUME_FIELDS)
        if resource is not None:
            told = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(invalid(path, "resource", told))
    elif resource is not None:
        resource_selector(errors, f"{path}.resourceFieldRef", resource, in_volume=True)
    else:
        errors.append(required(path, "one of fieldRef and resourceFieldRef is required"))
    file_mode(errors, f"{path}.mode", item.get("mode"))


def file_mode(errors: Errors, path: str, mode: int | None) -> None:
    if mode is not None and not 0 <= mode <= 0o777:
        errors.append(invalid(path, mode, FILE_MODE_TOLD))


def _take(errors: Errors, path: str, target: str, shown: str, taken: set[str]) -> None:
    if target in taken:
        errors.append(invalid(path, shown, _SAME_PATH))
    taken.add(target)


def _keys(errors: Errors, volume_path: str, path: str, source: Json, taken: set[str]) -> None:
    name = source.get("name", "")
    if not name:
        errors.append(required(f"{path}.name"))
    for index, item in enumerate(source.get("items") or ()):
        key_to_path(errors, f"{path}.items[{index}]", item)
        if item.get("path"):
            _take(errors, volume_path, item["path"], name, taken)


def _downward_api(errors: Errors, volume_path: str, path: str, source: Json, taken: set[str]) -> None:
    for item in source.get("items") or ():
        downward_file(errors, path, item)
        if item.get("path"):
            _take(errors, volume_path, item["path"], item["path"], taken)


def _token(errors: Errors, volume_path: str, path: str, source: Json, taken: set[str]) -> None:
    """Upstream tells what is wrong with the path of a token at the volume."""
    seconds, target = source.get("expirationSeconds"), source.get("path", "")
    if seconds is None:
        errors.append(required(f"{path}.expirationSeconds"))
    elif seconds < TOKEN_SECONDS_MIN:
        errors.append(invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes"))
    elif seconds > TOKEN_SECONDS_MAX:
        told = "may not specify a duration larger than 2^32 seconds"
        errors.append(invalid(f"{path}.expirationSeconds", seconds, told))
    if not target:
        errors.append(required(f"{volume_path}.path"))
    else:
        descending_unreserved(errors, f"{volume_path}.path", target)


def _trust_bundle(errors: Errors, volume_path: str, path: str, source: Json, taken: set[str]) -> None:
    name, signer = source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        errors.append(invalid(path, source, "only one of name and signerName may be used"))
    elif name is not None:
        _bundle_by_name(errors, path, source, name)
    elif signer is not None:
        if not signer:
            errors.append(required(f"{path}.signerName", "must be a valid signer name"))
        errors += signer_name(f"{path}.signerName", signer)
        label_selector(errors, f"{path}.labelSelector", source.get("labelSelector"))
    else:
        errors.append(required(path, "either name or signerName must be specified"))
    target = source.get("path", "")
    if not target:
        errors.append(required(f"{path}.path"))
    descending_unreserved(errors, f"{path}.path", target)
    _take(errors, volume_path, target, target, taken)


def _bundle_by_name(errors: Errors, path: str, source: Json, name: str) -> None:
    if not name:
        errors.append(required(f"{path}.name", "must be a valid object name"))
    wrong = names.dns_subdomain(name.rpartition(":")[2])
    errors += invalids(f"{path}.name", name, [f"not a valid clustertrustbundlename: {problem}" for problem in wrong])
    if "labelSelector" in source:
        told = "labelSelector must be unset if name is specified"
        errors.append(invalid(f"{path}.labelSelector", source["labelSelector"], told))


def _certificate(errors: Errors, volume_path: str, path: str, source: Json, taken: set[str]) -> None:
    signer = source.get("signerName", "")
    errors += signer_name(f"{path}.signerName", signer)
    _user_annotations(errors, f"{path}.userAnnotations", source.get("userAnnotations") or {})
    if source.get("keyType", "") not in _KEY_TYPES:
        errors.append(not_supported(f"{path}.keyType", source.get("keyType", ""), _KEY_TYPES))
    seconds = source.get("maxExpirationSeconds")
    if seconds is not None:
        _certificate_seconds(errors, f"{path}.maxExpirationSeconds", seconds, signer)
    paths = [field for field in _CERTIFICATE_PATHS if source.get(field)]
    for field in paths:
        descending_unreserved(errors, f"{path}.{field}", source[field])
        _take(errors, volume_path, source[field], source[field], taken)
    if not paths:
        errors.append(required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"))


def _certificate_seconds(errors: Errors, path: str, seconds: int, signer: str) -> None:
    most = KUBERNETES_CERTIFICATE_SECONDS_MAX if is_kubernetes_signer(signer) else CERTIFICATE_SECONDS_MAX
    if seconds < CERTIFICATE_SECONDS_MIN:
        told = f"if provided, maxExpirationSeconds must be >= {CERTIFICATE_SECONDS_MIN}"
        errors.append(invalid(path, seconds, told))
    if seconds > most:
        errors.append(invalid(path, seconds, f"if provided, maxExpirationSeconds must be <= {most}"))


def _user_annotations(errors: Errors, path: str, annotations: dict[str, str]) -> None:
    size = 0
    for key, value in annotations.items():
        errors += names.domain_prefixed_key(path, key.lower())
        size += names.length(key) + names.length(value)
    if size > ANNOTATIONS_SIZE_MAX:
        errors.append(too_long(path, ANNOTATIONS_SIZE_MAX))


_SOURCES = {
    "secret": _keys,
    "configMap": _keys,
    "downwardAPI": _downward_api,
    "serviceAccountToken": _token,
    "clusterTrustBundle": _trust_bundle,
    "podCertificate": _certificate,
}
