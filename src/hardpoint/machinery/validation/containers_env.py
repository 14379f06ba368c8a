"""What makes a container's environment invalid: variables, and where their values come from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, invalids, not_supported, required
from hardpoint.machinery.validation.paths import no_backsteps

Json = dict[str, Any]
Errors = list[FieldError]

# Fields of a pod that the downward API knows; where it may be used decides which of them can be asked for.
_FIELDS = frozenset(
    {
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.phase",
        "status.podIP",
        "status.podIPs",
    }
)
ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_RESOURCES = tuple(
    f"{part}.{name}" for part in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory")
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_BYTES_TOLD = f"only divisor's values {', '.join(_BYTES)} are supported with the"
# The resource's name without its part to the divisors it allows and the words that say so.
_DIVISORS: Mapping[str, tuple[Collection[str], str]] = {
    "cpu": (("1m", "1"), "only divisor's values 1m and 1 are supported with the cpu resource"),
    "memory": (_BYTES, f"{_BYTES_TOLD} memory resource"),
    "ephemeral-storage": (_BYTES, f"{_BYTES_TOLD} local ephemeral storage resource"),
    "hugepages": (_BYTES, f"{_BYTES_TOLD} hugepages resource"),
}


def env(errors: Errors, path: str, variables: list[Json]) -> None:
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            errors.append(required(f"{path}[{index}].name"))
        elif wrong := names.relaxed_env_var_name(name):
            errors += invalids(f"{path}[{index}].name", name, wrong)
        source = variable.get("valueFrom")
        if source is not None:
            _value_from(errors, f"{path}[{index}].valueFrom", source, variable.get("value", ""))


def env_from(errors: Errors, path: str, sources: list[Json]) -> None:
    for index, source in enumerate(sources):
        place = f"{path}[{index}]"
        prefix = source.get("prefix", "")
        if prefix and (wrong := names.relaxed_env_var_name(prefix)):
            errors += invalids(f"{place}.prefix", prefix, wrong)
        found = [kind for kind in ("configMapRef", "secretRef") if kind in source]
        for kind in found:
            _whole_object(errors, f"{place}.{kind}", source[kind].get("name", ""))
        if not found:
            errors.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(found) > 1:
            errors.append(invalid(path, "", "may not have more than one field specified at a time"))


def field_selector(errors: Errors, path: str, selector: Json, allowed: Collection[str]) -> None:
    """A reference to a field of the pod itself; annotations and labels may be asked for one by one."""
    version, field = selector.get("apiVersion", ""), selector.get("fieldPath", "")
    if not version or not field:
        errors.append(required(f"{path}.{'fieldPath' if version else 'apiVersion'}"))
        return
    map_name, subscript = _subscripted(field)
    if (unknown := _unknown_field(version, field, map_name)) is not None:
        errors.append(invalid(f"{path}.fieldPath", field, f"error converting fieldPath: {unknown}"))
    elif map_name is not None:
        key = subscript.lower() if map_name == "metadata.annotations" else subscript
        if wrong := names.qualified_name(key):
            errors += invalids(path, key, wrong)
    elif field not in allowed and not (field == "spec.host" and "spec.nodeName" in allowed):
        errors.append(not_supported(f"{path}.fieldPath", field, allowed))


def resource_selector(errors: Errors, path: str, selector: Json, *, in_volume: bool) -> None:
    """A reference to what a container asks for; in a volume it must say which container."""
    resource = selector.get("resource", "")
    if in_volume and not selector.get("containerName"):
        errors.append(required(f"{path}.containerName"))
    elif not resource:
        errors.append(required(f"{path}.resource"))
    elif resource not in _RESOURCES and not resource.startswith(_HUGE_PAGES):
        errors.append(not_supported(f"{path}.resource", resource, _RESOURCES))
    divisor = selector.get("divisor", "0")
    if divisor != "0":
        name = resource.partition(".")[2]
        allowed, told = _DIVISORS.get("hugepages" if name.startswith("hugepages-") else name, ((divisor,), ""))
        if divisor not in allowed:
            errors.append(invalid(f"{path}.divisor", resource, told))


def _value_from(errors: Errors, path: str, source: Json, value: str) -> None:
    found = 0
    for name, check in _SOURCES.items():
        reference = source.get(name)
        if reference is not None:
            found += 1
            check(errors, f"{path}.{name}", reference)
    if not found:
        kinds = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        errors.append(invalid(path, "", f"must specify one of: {kinds}"))
    elif value:
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif found > 1:
        errors.append(invalid(path, "", "may not have more than one field specified at a time"))


def _field_ref(errors: Errors, path: str, selector: Json) -> None:
    field_selector(errors, path, selector, ENV_FIELDS)


def _resource_field_ref(errors: Errors, path: str, selector: Json) -> None:
    resource_selector(errors, path, selector, in_volume=False)


def _key_ref(errors: Errors, path: str, reference: Json) -> None:
    name, key = reference.get("name", ""), reference.get("key", "")
    if wrong := names.dns_subdomain(name):
        errors += invalids(f"{path}.name", name, wrong)
    if not key:
        errors.append(required(f"{path}.key"))
    elif wrong := names.config_map_key(key):
        errors += invalids(f"{path}.key", key, wrong)


def _file_ref(errors: Errors, path: str, reference: Json) -> None:
    key, volume = reference.get("key", ""), reference.get("volumeName", "")
    if not key:
        errors.append(required(f"{path}.key"))
    elif wrong := names.relaxed_env_var_name(key):
        errors += invalids(f"{path}.key", key, wrong)
    if not volume:
        errors.append(required(f"{path}.volumeName"))
    elif wrong := names.dns_label(volume):
        errors += invalids(f"{path}.volumeName", volume, wrong)
    if not reference.get("path"):
        errors.append(required(f"{path}.path"))
    else:
        no_backsteps(errors, f"{path}.path", reference["path"])


_SOURCES: Mapping[str, Callable[[Errors, str, Json], None]] = {
    "fieldRef": _field_ref,
    "resourceFieldRef": _resource_field_ref,
    "configMapKeyRef": _key_ref,
    "secretKeyRef": _key_ref,
    "fileKeyRef": _file_ref,
}


def _whole_object(errors: Errors, path: str, name: str) -> None:
    if not name:
        errors.append(required(f"{path}.name"))
    elif wrong := names.dns_subdomain(names.without_trailing_dash(name)):
        errors += invalids(f"{path}.name", name, wrong)


def _subscripted(field: str) -> tuple[str | None, str]:
    """`metadata.labels['app']` is the map and the key; anything else has no map."""
    if not field.endswith("']"):
        return None, ""
    map_name, opened, key = field[:-2].partition("['")
    return (map_name, key) if opened and map_name else (None, "")


def _unknown_field(version: str, field: str, map_name: str | None) -> str | None:
    if version != "v1":
        return f"unsupported pod version: {version}"
    if map_name is not None:
        known = map_name in ("metadata.annotations", "metadata.labels")
        return None if known else f"field label does not support subscript: {field}"
    return None if field in _FIELDS or field == "spec.host" else f"field label not supported: {field}"
