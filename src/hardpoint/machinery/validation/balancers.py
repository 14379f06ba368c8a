"""What makes the status of a load balancer invalid, in front of a Service or an Ingress."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, invalids, not_supported, required

Json = dict[str, Any]
Errors = list[FieldError]

IP_MODES = ("Proxy", "VIP")
_PATH = "status.loadBalancer.ingress"


def of_service(obj: Json, old: Json) -> Errors:
    """What is wrong with where a Service says it can be reached."""
    points = _points(obj)
    if points and obj["spec"].get("type") != "LoadBalancer":
        return [forbidden(_PATH, "may only be used when `spec.type` is 'LoadBalancer'")]
    errors: Errors = []
    for index, point in enumerate(points):
        path = at(_PATH, index)
        _address(errors, path, point, old)
        _mode(errors, f"{path}.ipMode", point)
        _hostname(errors, path, point)
    return errors


def of_ingress(obj: Json, old: Json) -> Errors:
    """What is wrong with where an Ingress says it can be reached."""
    errors: Errors = []
    for index, point in enumerate(_points(obj)):
        _address(errors, at(_PATH, index), point, old)
        _hostname(errors, at(_PATH, index), point)
    return errors


def _points(obj: Json) -> list[Json]:
    return ((obj.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []


def _address(errors: Errors, path: str, point: Json, old: Json) -> None:
    """An address that was there before may stay, however it is written."""
    address = point.get("ip")
    if address and address not in {each.get("ip") for each in _points(old)}:
        errors += invalids(f"{path}.ip", address, addresses.legacy_ip(address))


def _mode(errors: Errors, path: str, point: Json) -> None:
    mode, has_address = point.get("ipMode"), bool(point.get("ip"))
    if mode is None and has_address:
        errors.append(required(path, "must be specified when `ip` is set"))
    elif mode is not None and not has_address:
        errors.append(forbidden(path, "may not be specified when `ip` is not set"))
    elif mode is not None and mode not in IP_MODES:
        errors.append(not_supported(path, mode, IP_MODES))


def _hostname(errors: Errors, path: str, point: Json) -> None:
    if hostname := point.get("hostname"):
        errors += invalids(f"{path}.hostname", hostname, names.dns_subdomain(hostname))
        if addresses.parse_ip(hostname) is not None:
            errors.append(invalid(f"{path}.hostname", hostname, "must be a DNS name, not an IP address"))
