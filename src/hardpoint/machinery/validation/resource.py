"""What makes the kinds of dynamic resource allocation invalid. Claims are here, slices in `resource_slices`.

CEL selectors are checked for being there and for their length, not compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    invalid,
    invalids,
    not_supported,
    required,
    too_long,
    too_many,
)
from hardpoint.machinery.validation import resource_slices, rules
from hardpoint.machinery.validation.labelselectors import labels
from hardpoint.machinery.validation.metadata import check_annotations
from hardpoint.machinery.validation.resource_names import driver_name, fully_qualified_name, plain_driver_name, taint
from hardpoint.machinery.validation.resources import is_extended

Json = dict[str, Any]
Errors = list[FieldError]

REQUESTS_MAX = 32
CONSTRAINTS_MAX = 32
CONFIGS_MAX = 32
SELECTORS_MAX = 32
ALTERNATIVES_MAX = 8
EXPRESSION_LENGTH_MAX = 10 * 1024
PARAMETERS_LENGTH_MAX = 10 * 1024
ALLOCATION_MODES = ("All", "ExactCount")
NOT_A_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


def _claim(obj: Json) -> Errors:
    errors: Errors = []
    _claim_spec(errors, "spec", obj["spec"])
    return errors


def _claim_update(obj: Json, old: Json) -> Errors:
    return rules.declared_immutable("spec", obj["spec"], old["spec"])


def _template(obj: Json) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    metadata = spec.get("metadata") or {}
    check_annotations(errors, "spec.metadata.annotations", metadata.get("annotations") or {})
    labels(errors, "spec.metadata.labels", metadata.get("labels") or {})
    _claim_spec(errors, "spec.spec", spec["spec"])
    return errors


def _each(
    errors: Errors, path: str, values: list[Json], limit: int, check: Callable[[Errors, str, Json], None]
) -> None:
    """Check every value of a list that is not too long."""
    if len(values) > limit:
        errors.append(too_many(path, len(values), limit))
        return
    for index, value in enumerate(values):
        check(errors, at(path, index), value)


def _unique_names(errors: Errors, path: str, values: list[Json]) -> None:
    seen = set()
    for index, value in enumerate(values):
        name = value.get("name", "")
        if name in seen:
            errors.append(duplicate(at(path, index), name))
        seen.add(name)


def _claim_spec(errors: Errors, path: str, spec: Json) -> None:
    devices = spec.get("devices") or {}
    requests = devices.get("requests") or []
    known = _request_names(requests)
    place = f"{path}.devices"
    _each(errors, f"{place}.requests", requests, REQUESTS_MAX, _request)
    _unique_names(errors, f"{place}.requests", requests)

    def constraint(found: Errors, where: str, value: Json) -> None:
        _request_references(found, f"{where}.requests", value.get("requests") or [], known)
        _constraint(found, where, value)

    def config(found: Errors, where: str, value: Json) -> None:
        _request_references(found, f"{where}.requests", value.get("requests") or [], known)
        _configuration(found, where, value)

    _each(errors, f"{place}.constraints", devices.get("constraints") or [], CONSTRAINTS_MAX, constraint)
    _each(errors, f"{place}.config", devices.get("config") or [], CONFIGS_MAX, config)


def _request_names(requests: list[Json]) -> set[str]:
    found = set()
    for request in requests:
        found.add(request.get("name", ""))
        for alternative in request.get("firstAvailable") or ():
            found.add(f"{request.get('name', '')}/{alternative.get('name', '')}")
    return found


def _request(errors: Errors, path: str, request: Json) -> None:
    _request_name(errors, f"{path}.name", request.get("name", ""))
    exactly, alternatives = request.get("exactly"), request.get("firstAvailable") or []
    one = "exactly one of `exactly` or `firstAvailable` is required"
    if exactly is None and not alternatives:
        errors.append(required(path, one))
    elif exactly is not None and alternatives:
        errors.append(invalid(path, None, f"{one}, but multiple fields are set"))
    elif exactly is not None:
        _asked(errors, f"{path}.exactly", exactly)
    else:
        _each(errors, f"{path}.firstAvailable", alternatives, ALTERNATIVES_MAX, _alternative)
        _unique_names(errors, f"{path}.firstAvailable", alternatives)


def _request_name(errors: Errors, path: str, name: str) -> None:
    errors += invalids(path, name, names.dns_label(name))


def _alternative(errors: Errors, path: str, alternative: Json) -> None:
    _request_name(errors, f"{path}.name", alternative.get("name", ""))
    _asked(errors, path, alternative)


def _asked(errors: Errors, path: str, asked: Json) -> None:
    name = asked.get("deviceClassName", "")
    if name:
        errors += invalids(f"{path}.deviceClassName", name, names.dns_subdomain(name))
    else:
        errors.append(required(f"{path}.deviceClassName"))
    _each(errors, f"{path}.selectors", asked.get("selectors") or [], SELECTORS_MAX, _selector)
    mode, count = asked["allocationMode"], asked.get("count", 0)
    if mode == "All" and count:
        errors.append(invalid(f"{path}.count", count, "must not be specified when allocationMode is 'All'"))
    elif mode == "ExactCount" and count <= 0:
        errors.append(invalid(f"{path}.count", count, rules.POSITIVE))
    elif mode not in ALLOCATION_MODES:
        errors.append(not_supported(f"{path}.allocationMode", mode, ALLOCATION_MODES))
    for index, toleration in enumerate(asked.get("tolerations") or ()):
        _toleration(errors, at(f"{path}.tolerations", index), toleration)


def _toleration(errors: Errors, path: str, toleration: Json) -> None:
    key, operator, value = toleration.get("key", ""), toleration["operator"], toleration.get("value", "")
    if key:
        errors += invalids(f"{path}.key", key, names.label_key(key))
    if operator == "Exists" and value:
        errors.append(invalid(f"{path}.value", value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        errors += invalids(f"{path}.value", value, names.label_value(value))
    elif operator != "Exists":
        errors.append(not_supported(f"{path}.operator", operator, ("Equal", "Exists")))
    effect = toleration.get("effect", "")
    if effect and effect not in resource_slices.EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, resource_slices.EFFECTS))


def _selector(errors: Errors, path: str, selector: Json) -> None:
    if "cel" not in selector:
        errors.append(required(f"{path}.cel"))
    elif names.length(selector["cel"].get("expression", "")) > EXPRESSION_LENGTH_MAX:
        errors.append(too_long(f"{path}.cel.expression", EXPRESSION_LENGTH_MAX))


def _constraint(errors: Errors, path: str, constraint: Json) -> None:
    for field in ("matchAttribute", "distinctAttribute"):
        if field in constraint:
            fully_qualified_name(errors, f"{path}.{field}", constraint[field])
            return
    detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'
    errors.append(required(path, detail))


def _request_references(errors: Errors, path: str, references: list[str], known: set[str]) -> None:
    for index, reference in enumerate(references):
        place = at(path, index)
        parts = reference.split("/")
        if len(parts) > 2:
            errors.append(invalid(place, reference, NOT_A_REQUEST))
            continue
        for part in parts:
            _request_name(errors, place, part)
        if reference not in known:
            errors.append(invalid(place, reference, NOT_A_REQUEST))
        if reference in references[:index]:
            errors.append(duplicate(place, reference))


def _configuration(errors: Errors, path: str, config: Json) -> None:
    opaque = config.get("opaque")
    if opaque is None:
        errors.append(required(f"{path}.opaque"))
        return
    driver_name(errors, f"{path}.opaque.driver", opaque.get("driver", ""))
    place, parameters = f"{path}.opaque.parameters", opaque.get("parameters")
    if parameters is None:
        errors.append(required(place))
    elif len(orjson.dumps(parameters)) > PARAMETERS_LENGTH_MAX:
        errors.append(too_long(place, PARAMETERS_LENGTH_MAX))
    elif not isinstance(parameters, dict):
        errors.append(invalid(place, "<value omitted>", "must be a valid JSON object"))


def _device_class(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    _each(errors, "spec.selectors", spec.get("selectors") or [], SELECTORS_MAX, _selector)
    _each(errors, "spec.config", spec.get("config") or [], CONFIGS_MAX, _configuration)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        errors.append(invalid("spec.extendedResourceName", name, "must be a valid extended resource name"))
    return errors


def _taint_rule(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    selector = spec.get("deviceSelector") or {}
    if "driver" in selector:
        plain_driver_name(errors, "spec.deviceSelector.driver", selector["driver"])
    if "pool" in selector:
        resource_slices.pool_name(errors, "spec.deviceSelector.pool", selector["pool"])
    if "device" in selector:
        errors += invalids("spec.deviceSelector.device", selector["device"], names.dns_label(selector["device"]))
    old_effect = old["spec"]["taint"].get("effect") if old else None
    taint(errors, "spec.taint", spec.get("taint") or {}, resource_slices.EFFECTS, old_effect=old_effect)
    return errors


def _template_update(obj: Json, old: Json) -> Errors:
    return rules.immutable("spec", obj["spec"], old["spec"])


CREATE = {
    "ResourceClaim": _claim,
    "ResourceClaimTemplate": _template,
    "DeviceClass": _device_class,
    "DeviceTaintRule": _taint_rule,
    "ResourceSlice": resource_slices.on_create,
}
UPDATE = {
    "ResourceClaim": _claim_update,
    "ResourceClaimTemplate": _template_update,
    "DeviceClass": _device_class,
    "DeviceTaintRule": _taint_rule,
    "ResourceSlice": resource_slices.on_update,
}
