"""What makes an APIService invalid."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, invalids, quote, required

Json = dict[str, Any]
Errors = list[FieldError]

GROUP_PRIORITY_MAX = 20000
VERSION_PRIORITY_MAX = 1000


def _name(obj: Json) -> list[str]:
    spec = obj["spec"]
    wanted = f"{spec.get('version', '')}.{spec.get('group', '')}"
    return [] if obj["metadata"]["name"] == wanted else [f'must be `spec.version+"."+spec.group`: {quote(wanted)}']


def _api_service(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    group, version = spec.get("group", ""), spec.get("version", "")
    if not group and version != "v1":
        errors.append(required("spec.group", "only v1 may have an empty group and it better be legacy kube"))
    if group:
        errors += invalids("spec.group", group, names.dns_subdomain(group))
    errors += invalids("spec.version", version, names.dns_1035_label(version))
    for field, limit in (("groupPriorityMinimum", GROUP_PRIORITY_MAX), ("versionPriority", VERSION_PRIORITY_MAX)):
        value = spec.get(field, 0)
        if not 0 < value <= limit:
            errors.append(invalid(f"spec.{field}", value, f"must be positive and less than {limit}"))
    service = spec.get("service")
    if service is None:
        _local(errors, spec)
    else:
        _remote(errors, spec, service)
    return errors


def _local(errors: Errors, spec: Json) -> None:
    bundle = spec.get("caBundle")
    if bundle:
        size = len(bundle) * 3 // 4 - bundle.count("=", -2)
        errors.append(invalid("spec.caBundle", f"{size} bytes", "local APIServices may not have a caBundle"))
    if spec.get("insecureSkipTLSVerify"):
        detail = "local APIServices may not have insecureSkipTLSVerify"
        errors.append(invalid("spec.insecureSkipTLSVerify", True, detail))


def _remote(errors: Errors, spec: Json, service: Json) -> None:
    errors += [required(f"spec.service.{field}") for field in ("namespace", "name") if not service.get(field)]
    port = service.get("port", 0)
    if wrong := names.port_number(port):
        errors.append(invalid("spec.service.port", port, f"port is not valid: {', '.join(wrong)}"))
    if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
        errors.append(invalid("spec.insecureSkipTLSVerify", True, "may not be true if caBundle is present"))


NAMES = {"APIService": _name}
CREATE = {"APIService": _api_service}
UPDATE = CREATE
