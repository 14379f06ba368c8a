"""What makes an Ingress, IngressClass, IPAddress or ServiceCIDR invalid. Policies have `networking_policies`."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
    too_long,
)
from hardpoint.machinery.validation import balancers, networking_policies, rules

Json = dict[str, Any]
Errors = list[FieldError]

PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
NOT_IN_PATHS = ("//", "/./", "/../", "%2f", "%2F")
NOT_ENDING_PATHS = ("/..", "/.")
CONTROLLER_LENGTH_MAX = 250
CLASS_ANNOTATION = "kubernetes.io/ingress.class"
NOT_AN_IP = "must be a DNS name, not an IP address"


def _ingress_create(obj: Json) -> Errors:
    errors: Errors = []
    _ingress(errors, obj["spec"], {})
    annotation = (obj["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    name = obj["spec"].get("ingressClassName")
    if annotation is not None and name is not None and annotation != name:
        detail = "must match `ingressClassName` when both are specified"
        errors.append(invalid(f"annotations.{CLASS_ANNOTATION}", annotation, detail))
    return errors


def _ingress_update(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    _ingress(errors, obj["spec"], old["spec"])
    return errors


def _ingress(errors: Errors, spec: Json, before: Json) -> None:
    listed = spec.get("rules") or []
    if not listed and "defaultBackend" not in spec:
        errors.append(invalid("spec", spec.get("rules"), "either `defaultBackend` or `rules` must be specified"))
    if "defaultBackend" in spec:
        _backend(errors, "spec.defaultBackend", spec["defaultBackend"])
    had_bad_wildcard = _has_bad_wildcard(before)
    for index, rule in enumerate(listed):
        _rule(errors, at("spec.rules", index), rule, skips_wildcard=had_bad_wildcard)
    had_bad_secret = any(
        names.dns_subdomain(tls["secretName"]) for tls in before.get("tls") or () if tls.get("secretName")
    )
    for index, tls in enumerate(spec.get("tls") or ()):
        _tls(errors, at("spec.tls", index), tls, skips_secret=had_bad_secret)
    if "ingressClassName" in spec:
        name = spec["ingressClassName"]
        errors += invalids("spec.ingressClassName", name, names.dns_subdomain(name))


def _has_bad_wildcard(spec: Json) -> bool:
    for rule in spec.get("rules") or ():
        if "*" in rule.get("host", ""):
            errors: Errors = []
            _http(errors, "", rule)
            if errors:
                return True
    return False


def _rule(errors: Errors, path: str, rule: Json, *, skips_wildcard: bool) -> None:
    host = rule.get("host", "")
    if host:
        if addresses.parse_ip(host) is not None:
            errors.append(invalid(f"{path}.host", host, NOT_AN_IP))
        errors += invalids(f"{path}.host", host, _host(host))
    if not ("*" in host and skips_wildcard):
        _http(errors, path, rule)


def _host(host: str) -> list[str]:
    return names.wildcard_dns_subdomain(host) if "*" in host else names.dns_subdomain(host)


def _http(errors: Errors, path: str, rule: Json) -> None:
    http = rule.get("http")
    if http is None:
        return
    paths = http.get("paths") or []
    if not paths:
        errors.append(required(f"{path}.http.paths"))
    for index, each in enumerate(paths):
        _path(errors, at(f"{path}.http.paths", index), each)


def _path(errors: Errors, path: str, each: Json) -> None:
    kind, value = each.get("pathType"), each.get("path", "")
    if kind is None:
        errors.append(required(f"{path}.pathType", "pathType must be specified"))
        return
    if kind in ("Exact", "Prefix"):
        if not value.startswith("/"):
            errors.append(invalid(f"{path}.path", value, "must be an absolute path"))
        for part in NOT_IN_PATHS:
            if part in value:
                errors.append(invalid(f"{path}.path", value, f"must not contain '{part}'"))
        for end in NOT_ENDING_PATHS:
            if value.endswith(end):
                errors.append(invalid(f"{path}.path", value, f"cannot end with '{end}'"))
    elif kind == "ImplementationSpecific":
        if value and not value.startswith("/"):
            errors.append(invalid(f"{path}.path", value, "must be an absolute path"))
    else:
        errors.append(not_supported(f"{path}.pathType", kind, PATH_TYPES))
    _backend(errors, f"{path}.backend", each.get("backend") or {})


def _backend(errors: Errors, path: str, backend: Json) -> None:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        errors.append(invalid(path, "", "cannot set both resource and service backends"))
    elif resource is not None:
        _reference(errors, f"{path}.resource", resource)
    elif service is not None:
        _service_backend(errors, path, service)
    else:
        errors.append(invalid(path, "", "resource or service backend is required"))


def _service_backend(errors: Errors, path: str, service: Json) -> None:
    name = service.get("name", "")
    if name:
        errors += invalids(f"{path}.service.name", name, names.dns_label(name))
    else:
        errors.append(required(f"{path}.service.name"))
    port = service.get("port") or {}
    port_name, number = port.get("name", ""), port.get("number", 0)
    if port_name and number:
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif port_name:
        errors += invalids(f"{path}.service.port.name", port_name, names.port_name(port_name))
    elif number:
        errors += invalids(f"{path}.service.port.number", number, names.port_number(number))
    else:
        errors.append(required(path, "port name or number is required"))


def _reference(errors: Errors, path: str, reference: Json) -> None:
    group = reference.get("apiGroup")
    if group is not None:
        errors += invalids(f"{path}.apiGroup", group, names.dns_subdomain(group))
    for field in ("kind", "name"):
        value = reference.get(field, "")
        if value:
            errors += invalids(f"{path}.{field}", value, names.path_segment(value))
        else:
            errors.append(required(f"{path}.{field}"))


def _tls(errors: Errors, path: str, tls: Json, *, skips_secret: bool) -> None:
    for index, host in enumerate(tls.get("hosts") or ()):
        errors += invalids(at(f"{path}.hosts", index), host, _host(host))
    secret = tls.get("secretName", "")
    if secret and not skips_secret:
        errors += invalids(f"{path}.secretName", secret, names.dns_subdomain(secret))


def _ingress_class(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    controller = spec.get("controller", "")
    if old is not None:
        errors += rules.immutable("spec.controller", controller, old["spec"].get("controller"))
    if names.length(controller) > CONTROLLER_LENGTH_MAX:
        errors.append(too_long("spec.controller", CONTROLLER_LENGTH_MAX))
    errors += names.domain_prefixed_path("spec.controller", controller)
    if "parameters" in spec:
        _class_parameters(errors, "spec.parameters", spec["parameters"])
    return errors


def _class_parameters(errors: Errors, path: str, parameters: Json) -> None:
    group = parameters.get("apiGroup")
    if group is not None:
        errors += invalids(f"{path}.apiGroup", group, names.dns_subdomain(group))
    for field in ("kind", "name"):
        if value := parameters.get(field):
            errors += invalids(f"{path}.{field}", value, names.path_segment(value))
    scope, namespace = parameters["scope"], parameters.get("namespace")
    if scope not in ("Cluster", "Namespace"):
        errors.append(not_supported(f"{path}.scope", scope, ("Cluster", "Namespace")))
    elif scope == "Cluster" and namespace is not None:
        errors.append(forbidden(f"{path}.namespace", "`parameters.scope` is set to 'Cluster'"))
    elif scope == "Namespace" and namespace is None:
        errors.append(required(f"{path}.namespace", "`parameters.scope` is set to 'Namespace'"))
    elif namespace is not None:
        errors += invalids(f"{path}.namespace", namespace, names.dns_label(namespace))
    errors += [required(f"{path}.{field}") for field in ("kind", "name") if not parameters.get(field)]


def _ip_address(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    parent = obj["spec"].get("parentRef")
    if old is not None:
        return rules.declared_immutable("spec.parentRef", parent, old["spec"].get("parentRef"))
    if parent is None:
        return [required("spec.parentRef")]
    path = "spec.parentRef"
    if group := parent.get("group"):
        errors += invalids(f"{path}.group", group, names.dns_subdomain(group))
    for field in ("resource", "name", "namespace"):
        if value := parent.get(field):
            errors += invalids(f"{path}.{field}", value, names.path_segment(value))
    errors += [required(f"{path}.{field}") for field in ("resource", "name") if not parent.get(field)]
    return errors


def _ip_address_name(obj: Json) -> list[str]:
    return addresses.ip(obj["metadata"]["name"])


def _service_cidr(obj: Json) -> Errors:
    errors: Errors = []
    path, cidrs = "spec.cidrs", obj["spec"].get("cidrs") or []
    if not cidrs:
        return [required(path, "at least one CIDR required")]
    if len(cidrs) > 2:
        shown = rules.as_go_struct(CIDRs=cidrs)
        return [FieldError("FieldValueInvalid", path, shown, "may only hold up to 2 values")]
    for index, cidr in enumerate(cidrs):
        errors += invalids(at(path, index), cidr, addresses.cidr(cidr))
    parsed = [addresses.parse_cidr(cidr) for cidr in cidrs]
    families = [cidr.address.version for cidr in parsed if cidr is not None]
    if len(families) == 2 and families[0] == families[1]:
        detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        errors.append(invalid(path, cidrs, detail))
    return errors


def _service_cidr_update(obj: Json, old: Json) -> Errors:
    path = "spec.cidrs"
    cidrs, before = obj["spec"].get("cidrs") or [], old["spec"].get("cidrs") or []
    if len(cidrs) == len(before):
        return [
            invalid(at(path, index), cidr, rules.IMMUTABLE) for index, cidr in enumerate(cidrs) if cidr != before[index]
        ]
    if (len(before), len(cidrs)) != (1, 2):
        return [invalid(path, cidrs or None, rules.IMMUTABLE)]
    errors = [] if cidrs[0] == before[0] else [invalid(at(path, 0), cidrs[0], rules.IMMUTABLE)]
    return errors + _service_cidr(obj)


NAMES = {"IPAddress": _ip_address_name}
CREATE = {
    "Ingress": _ingress_create,
    "IngressClass": _ingress_class,
    "IPAddress": _ip_address,
    "ServiceCIDR": _service_cidr,
    **networking_policies.CREATE,
}
UPDATE = {
    "Ingress": _ingress_update,
    "IngressClass": _ingress_class,
    "IPAddress": _ip_address,
    "ServiceCIDR": _service_cidr_update,
    **networking_policies.UPDATE,
}
SUBRESOURCES = {"Ingress": {"status": balancers.of_ingress}}
