"""What makes a claim to a persistent volume invalid, wherever it stands: alone, in a pod, or in a stateful set."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, forbidden, invalid, invalids, not_supported, required
from hardpoint.machinery.quantity import parse
from hardpoint.machinery.validation.labelselectors import label_selector, labels
from hardpoint.machinery.validation.metadata import check_annotations

Json = dict[str, Any]
Errors = list[FieldError]

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")

# What a template may not say about the object made from it, and how upstream spells the field.
_NOT_IN_TEMPLATE = {
    name: name
    for name in (
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "ownerReferences",
        "finalizers",
        "managedFields",
    )
} | {"uid": "uID"}


def claim_template(errors: Errors, path: str, template: Json) -> None:
    """The claim that is made for each pod with this volume."""
    metadata = template.get("metadata") or {}
    check_annotations(errors, f"{path}.metadata.annotations", metadata.get("annotations") or {})
    labels(errors, f"{path}.metadata.labels", metadata.get("labels") or {})
    for field, told_as in _NOT_IN_TEMPLATE.items():
        if metadata.get(field):
            errors.append(forbidden(f"{path}.metadata.{told_as}", "cannot be set"))
    claim_spec(errors, f"{path}.spec", template.get("spec") or {})


def claim_spec(errors: Errors, path: str, spec: Json, *, invalid_values_allowed: bool = False) -> None:
    """`spec` of a PersistentVolumeClaim. Invalid label values are allowed where an old object has them."""
    modes = spec.get("accessModes") or []
    if not modes:
        errors.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    label_selector(errors, f"{path}.selector", spec.get("selector"), invalid_values_allowed=invalid_values_allowed)
    _access_modes(errors, f"{path}.accessModes", modes)
    _storage(errors, f"{path}.resources[storage]", ((spec.get("resources") or {}).get("requests") or {}).get("storage"))
    _class_name(errors, f"{path}.storageClassName", spec.get("storageClassName"))
    mode = spec.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", mode, VOLUME_MODES))
    _data_sources(errors, path, spec.get("dataSource"), spec.get("dataSourceRef"))
    _class_name(errors, f"{path}.volumeAttributesClassName", spec.get("volumeAttributesClassName"))


def _access_modes(errors: Errors, path: str, modes: list[str]) -> None:
    errors += [not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES[:3] for mode in modes):
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))


def _storage(errors: Errors, path: str, amount: str | None) -> None:
    if amount is None:
        errors.append(required(path))
    elif parse(amount).sign <= 0:
        errors.append(invalid(path, amount, "must be greater than zero"))


def _class_name(errors: Errors, path: str, name: str | None) -> None:
    if name and (wrong := names.dns_subdomain(name)):
        errors += invalids(path, name, wrong)


def _data_sources(errors: Errors, path: str, source: Json | None, reference: Json | None) -> None:
    """The new field may name another namespace; without one, both fields must say the same."""
    if source is not None:
        _data_source(errors, f"{path}.dataSource", source)
    if reference is not None:
        _data_source(errors, f"{path}.dataSourceRef", reference)
    namespace = (reference or {}).get("namespace")
    if namespace and (wrong := names.dns_label(namespace)):
        errors += invalids(f"{path}.dataSourceRef.namespace", namespace, wrong)
    if source is None or reference is None:
        return
    if namespace:
        told = "may not be specified when dataSourceRef.namespace is specified"
        errors.append(FieldError("FieldValueInvalid", path, "{}", told))
    elif any(source.get(field) != reference.get(field) for field in ("apiGroup", "kind", "name")):
        errors.append(FieldError("FieldValueInvalid", path, "{}", "must match dataSourceRef"))


def _data_source(errors: Errors, path: str, source: Json) -> None:
    errors += [required(f"{path}.{field}") for field in ("name", "kind") if not source.get(field)]
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    if not group and kind != "PersistentVolumeClaim":
        told = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(invalid(path, kind, told))
    if group and (wrong := names.dns_subdomain(group)):
        errors += invalids(f"{path}.apiGroup", group, wrong)
