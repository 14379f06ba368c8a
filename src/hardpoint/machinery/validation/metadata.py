"""What makes an object's metadata invalid, whatever its kind.

Kinds differ in the form of their names only: `NAME_FORMS` says which. A kind whose name depends on the rest of the
object exports a function of the object in its module's `NAMES`. Metadata inside a template is checked by the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.areas import rule
from hardpoint.machinery.fielderrors import (
    FieldError,
    forbidden,
    invalid,
    invalids,
    json_as_go,
    not_supported,
    required,
    too_long,
)
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.validation.labelselectors import labels as check_labels

Json = dict[str, Any]
NameForm = Callable[[str], list[str]]

IMMUTABLE = "field is immutable"
NEGATIVE = "must be greater than or equal to 0"
ANNOTATIONS_SIZE_MAX = 256 * 1024
MANAGER_LENGTH_MAX = 128
SUBRESOURCE_LENGTH_MAX = 256

_RBAC = "rbac.authorization.k8s.io"

NAME_FORMS: Mapping[tuple[str, str], NameForm] = {
    ("", "Event"): names.path_segment,
    ("", "Namespace"): names.dns_label,
    # Its name is told last, in other words; see `workloads.py`.
    ("", "ReplicationController"): lambda name: [],
    ("", "Service"): names.dns_label,
    ("apps", "StatefulSet"): names.dns_label,
    ("apiregistration.k8s.io", "APIService"): names.path_segment,
    ("certificates.k8s.io", "CertificateSigningRequest"): names.path_segment,
    # Its own form is in `networking.py`.
    ("networking.k8s.io", "IPAddress"): lambda name: [],
    ("policy", "PodDisruptionBudget"): names.path_segment,
    ("certificates.k8s.io", "ClusterTrustBundle"): names.path_segment,
    (_RBAC, "ClusterRole"): names.path_segment,
    (_RBAC, "ClusterRoleBinding"): names.path_segment,
    (_RBAC, "Role"): names.path_segment,
    (_RBAC, "RoleBinding"): names.path_segment,
}
"""All other names are DNS subdomains."""

# These are questions, not objects: they are answered and forgotten, and nobody asks what they are called.
UNNAMED = frozenset({"authentication.k8s.io", "authorization.k8s.io"})

STANDARD_FINALIZERS = frozenset({"foregroundDeletion", "kubernetes", "orphan"})
# The groups whose validation does not ask where a finalizer comes from, and a kind of a group whose others do.
TAKES_ANY_FINALIZER = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
        "policy",
    }
)
_CORE_EVENT = ("", "Event")

# The fields of an owner in the order Go prints them.
_OWNER = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
_IMMUTABLE_FIELDS = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def on_create(kind: Kind, obj: Json) -> list[FieldError]:
    """What is wrong with the metadata of a new object, whose name has been generated if it was to be."""
    if kind.group in UNNAMED:
        return []
    errors: list[FieldError] = []
    metadata = obj.get("metadata") or {}
    _name(errors, kind, obj, metadata)
    _namespace(errors, kind, metadata.get("namespace", ""))
    _counted(errors, metadata)
    _shared(errors, metadata)
    errors += finalizers(kind, obj)
    _managed_fields(errors, metadata)
    return errors


def on_update(kind: Kind, obj: Json, old: Json) -> list[FieldError]:
    """What is wrong with the metadata that is to replace another."""
    if kind.group in UNNAMED:
        return []
    errors: list[FieldError] = []
    new, before = obj.get("metadata") or {}, old.get("metadata") or {}
    if before.get("deletionTimestamp") is not None:
        _no_new_finalizers(errors, new.get("finalizers") or (), before.get("finalizers") or ())
    if not new.get("resourceVersion"):
        errors.append(invalid("metadata.resourceVersion", "", "must be specified for an update"))
    _counted(errors, new)
    if new.get("generation", 0) < before.get("generation", 0):
        errors.append(invalid("metadata.generation", new.get("generation", 0), "must not be decremented"))
    for name in _IMMUTABLE_FIELDS:
        if new.get(name) != before.get(name):
            errors.append(invalid(f"metadata.{name}", new.get(name), IMMUTABLE))
    _shared(errors, new)
    _managed_fields(errors, new)
    return errors


def finalizers(kind: Kind, obj: Json) -> list[FieldError]:
    """What is wrong with the finalizers of an object, new or changed."""
    errors: list[FieldError] = []
    if named := (obj.get("metadata") or {}).get("finalizers"):
        _finalizers(errors, named)
        takes_any = kind.group in TAKES_ANY_FINALIZER or (kind.group, kind.kind) == _CORE_EVENT
        if kind.structure is None and not takes_any:
            _standard_finalizers(errors, named)
    return errors


def of_embedded(metadata: Json, path: str) -> list[FieldError]:
    """What is wrong with the metadata of an object inside another. It need not have a name, and may be anywhere."""
    errors: list[FieldError] = []
    for field in ("generateName", "name"):
        if wrong := names.path_segment(metadata.get(field, "")):
            errors += invalids(f"metadata.{field}", metadata[field], wrong)
    if wrong := names.dns_label(metadata["namespace"]) if metadata.get("namespace") else []:
        errors += invalids("metadata.namespace", metadata["namespace"], wrong)
    _counted(errors, metadata)
    _shared(errors, metadata)
    _finalizers(errors, metadata.get("finalizers") or ())
    _managed_fields(errors, metadata)
    return [error._replace(field=path + error.field.removeprefix("metadata")) for error in errors]


def check_annotations(errors: list[FieldError], path: str, values: Mapping[str, str]) -> None:
    """Keys are label keys in any case; all keys and values together have a limit."""
    size = 0
    for key, value in values.items():
        if wrong := names.label_key(key.lower()):
            errors += invalids(path, key, wrong)
        size += names.length(key) + names.length(value)
    if size > ANNOTATIONS_SIZE_MAX:
        errors.append(too_long(path, ANNOTATIONS_SIZE_MAX))


def immutable(errors: list[FieldError], path: str, value: Any, old: Any) -> None:
    """An update may not change this field."""
    if value != old:
        errors.append(invalid(path, value, IMMUTABLE))


def non_negative(errors: list[FieldError], path: str, value: int) -> None:
    if value < 0:
        errors.append(invalid(path, value, NEGATIVE))


def field_manager(path: str, value: str) -> list[FieldError]:
    """A manager's name is short and printable."""
    errors = []
    if names.length(value) > MANAGER_LENGTH_MAX:
        errors.append(too_long(path, MANAGER_LENGTH_MAX))
    if not value.isprintable():
        errors += [
            invalid(path, value, f"invalid character U+{ord(character):04X} (at position {_bytes_before(value, at)})")
            for at, character in enumerate(value)
            if not character.isprintable()
        ]
    return errors


def _bytes_before(text: str, position: int) -> int:
    return len(text[:position].encode(errors="surrogatepass"))


def _name(errors: list[FieldError], kind: Kind, obj: Json, metadata: Json) -> None:
    prefix, name = metadata.get("generateName", ""), metadata.get("name", "")
    form = NAME_FORMS.get((kind.group, kind.kind), names.dns_subdomain)
    if prefix and (wrong := form(names.without_trailing_dash(prefix))):
        errors += invalids("metadata.generateName", prefix, wrong)
    if not name:
        errors.append(required("metadata.name", "name or generateName is required"))
        return
    if wrong := form(name):
        errors += invalids("metadata.name", name, wrong)
        return
    special = rule("validation", "NAMES", kind)
    if special is not None and (wrong := special(obj)):
        errors += invalids("metadata.name", name, wrong)


def _namespace(errors: list[FieldError], kind: Kind, namespace: str) -> None:
    if not kind.namespaced:
        if namespace:
            errors.append(forbidden("metadata.namespace", "not allowed on this type"))
    elif not namespace:
        errors.append(required("metadata.namespace"))
    elif wrong := names.dns_label(namespace):
        errors += invalids("metadata.namespace", namespace, wrong)


def _counted(errors: list[FieldError], metadata: Json) -> None:
    generation = metadata.get("generation", 0)
    if generation < 0:
        errors.append(invalid("metadata.generation", generation, NEGATIVE))


def _shared(errors: list[FieldError], metadata: Json) -> None:
    """What is asked of metadata at every write."""
    if labels := metadata.get("labels"):
        check_labels(errors, "metadata.labels", labels)
    if values := metadata.get("annotations"):
        check_annotations(errors, "metadata.annotations", values)
    if owners := metadata.get("ownerReferences"):
        _owner_references(errors, owners)


def _owner_references(errors: list[FieldError], owners: list[Json]) -> None:
    path = "metadata.ownerReferences"
    controller = ""
    for index, owner in enumerate(owners):
        _owner_reference(errors, f"{path}[{index}]", owner)
        if owner.get("controller"):
            this = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                told = "Only one reference can have Controller set to true. Found"
                shown = json_as_go([{field: each[field] for field in _OWNER if field in each} for each in owners])
                told = f'{told} "true" in references for {controller} and {this}'
                errors.append(FieldError("FieldValueInvalid", path, shown, told))
            else:
                controller = this


def _owner_reference(errors: list[FieldError], path: str, owner: Json) -> None:
    api_version = owner.get("apiVersion", "")
    if not api_version:
        errors.append(required(f"{path}.apiVersion", "must not be empty"))
    elif api_version.count("/") > 1 or api_version.endswith("/"):
        errors.append(invalid(f"{path}.apiVersion", api_version, "must be <group>/<version> or <version>"))
    errors += [
        required(f"{path}.{name}", "must not be empty") for name in ("kind", "name", "uid") if not owner.get(name)
    ]
    if (api_version, owner.get("kind")) == ("v1", "Event"):
        errors.append(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"))


def _finalizers(errors: list[FieldError], named: Sequence[str]) -> None:
    for finalizer in named:
        if wrong := names.qualified_name(finalizer):
            errors += invalids("metadata.finalizers", finalizer, wrong)
    if "orphan" in named and "foregroundDeletion" in named:
        told = "finalizer orphan and foregroundDeletion cannot be both set"
        errors.append(invalid("metadata.finalizers", named, told))


def _standard_finalizers(errors: list[FieldError], named: Sequence[str]) -> None:
    """A finalizer without a domain is one of Kubernetes' own."""
    for index, finalizer in enumerate(named):
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            told = "name is neither a standard finalizer name nor is it fully qualified"
            errors.append(invalid(f"metadata.finalizers[{index}]", finalizer, told))


def _no_new_finalizers(errors: list[FieldError], new: Sequence[str], old: Sequence[str]) -> None:
    added = sorted(set(new) - set(old))
    if added:
        shown = ", ".join(f'"{name}"' for name in added)
        told = "no new finalizers can be added if the object is being deleted, found new finalizers"
        errors.append(forbidden("metadata.finalizers", f"{told} []string{{{shown}}}"))


def _managed_fields(errors: list[FieldError], metadata: Json) -> None:
    for index, entry in enumerate(metadata.get("managedFields") or ()):
        path = f"metadata.managedFields[{index}]"
        operation = entry.get("operation", "")
        if not operation:
            errors.append(required(f"{path}.operation", "must not be empty"))
        elif operation not in ("Apply", "Update"):
            errors.append(not_supported(f"{path}.operation", operation, ("Apply", "Update")))
        if entry.get("fieldsType", "FieldsV1") != "FieldsV1":
            errors.append(invalid(f"{path}.fieldsType", entry["fieldsType"], "must be `FieldsV1`"))
        errors += field_manager(f"{path}.manager", entry.get("manager", ""))
        if names.length(entry.get("subresource", "")) > SUBRESOURCE_LENGTH_MAX:
            errors.append(too_long(f"{path}.subresource", SUBRESOURCE_LENGTH_MAX))
