"""What makes Endpoints or an EndpointSlice invalid."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, invalid, invalids, required, too_many
from hardpoint.machinery.validation import rules
from hardpoint.machinery.validation.labelselectors import labels

Json = dict[str, Any]
Errors = list[FieldError]

PROTOCOLS = ("SCTP", "TCP", "UDP")
ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
ENDPOINTS_MAX = 1000
ADDRESSES_MAX = 100
PORTS_MAX = 20000
TOPOLOGY_LABELS_MAX = 16
HINTS_MAX = 8


def endpoint_ip(path: str, text: str) -> Errors:
    """An address that traffic can be sent to from anywhere in the cluster."""
    return invalids(path, text, _unreachable(text))


# Slices are rewritten whole whenever a pod comes or goes, so the same addresses are judged again and again.
_legacy_ip = lru_cache(maxsize=8192)(addresses.legacy_ip)


@lru_cache(maxsize=8192)
def _unreachable(text: str) -> tuple[str, ...]:
    parsed = addresses.parse_ip(text)
    if parsed is None:
        return ("must be a valid IP address",)
    ip = parsed.value
    found = []
    if ip.is_unspecified:
        found.append(f"may not be unspecified ({text})")
    if ip.is_loopback:
        found.append("may not be in the loopback range (127.0.0.0/8, ::1/128)")
    if ip.is_link_local:
        found.append("may not be in the link-local range (169.254.0.0/16, fe80::/10)")
    if _is_link_local_multicast(ip.packed):
        found.append("may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
    return tuple(found)


def _is_link_local_multicast(packed: bytes) -> bool:
    return packed[:3] == b"\xe0\x00\x00" if len(packed) == 4 else packed[0] == 0xFF and packed[1] & 0x0F == 0x02


def _endpoints(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    for index, subset in enumerate(obj.get("subsets") or ()):
        _subset(errors, at("subsets", index), subset)
    if errors and old is not None and obj.get("subsets") == old.get("subsets"):
        return []
    return errors


def _subset(errors: Errors, path: str, subset: Json) -> None:
    if not subset.get("addresses") and not subset.get("notReadyAddresses"):
        errors.append(required(path, "must specify `addresses` or `notReadyAddresses`"))
    for field in ("addresses", "notReadyAddresses"):
        for index, address in enumerate(subset.get(field) or ()):
            _address(errors, at(f"{path}.{field}", index), address)
    ports = subset.get("ports") or []
    for index, port in enumerate(ports):
        _port(errors, at(f"{path}.ports", index), port, needs_name=len(ports) > 1)


def _address(errors: Errors, path: str, address: Json) -> None:
    ip = address.get("ip", "")
    errors += invalids(f"{path}.ip", ip, _legacy_ip(ip))
    if hostname := address.get("hostname"):
        errors += invalids(f"{path}.hostname", hostname, names.dns_label(hostname))
    if "nodeName" in address:
        errors += invalids(f"{path}.nodeName", address["nodeName"], names.dns_subdomain(address["nodeName"]))
    errors += endpoint_ip(f"{path}.ip", ip)


def _port(errors: Errors, path: str, port: Json, *, needs_name: bool) -> None:
    name = port.get("name", "")
    if name:
        errors += invalids(f"{path}.name", name, names.dns_label(name))
    elif needs_name:
        errors.append(required(f"{path}.name"))
    errors += invalids(f"{path}.port", port["port"], names.port_number(port["port"]))
    errors += rules.choice(f"{path}.protocol", port["protocol"], PROTOCOLS)
    if "appProtocol" in port:
        errors += invalids(f"{path}.appProtocol", port["appProtocol"], names.qualified_name(port["appProtocol"]))


def _slice(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    _slice_ports(errors, obj.get("ports") or [])
    endpoints = obj.get("endpoints") or []
    is_unchanged = old is not None and endpoints == (old.get("endpoints") or [])
    if not is_unchanged:
        _slice_endpoints(errors, endpoints, obj.get("addressType", ""))
    errors += rules.required_choice("addressType", obj.get("addressType", ""), ADDRESS_TYPES)
    if old is not None:
        errors += rules.declared_immutable("addressType", obj.get("addressType"), old.get("addressType"))
    if not is_unchanged and len(endpoints) <= ENDPOINTS_MAX:
        errors += _address_counts(endpoints)
    return errors


def _address_counts(endpoints: list[Json]) -> Errors:
    errors: Errors = []
    for index, endpoint in enumerate(endpoints):
        path = f"{at('endpoints', index)}.addresses"
        count = len(endpoint.get("addresses") or ())
        if not count:
            errors.append(required(path))
        elif count > ADDRESSES_MAX:
            errors.append(too_many(path, count, ADDRESSES_MAX))
    return errors


def _slice_ports(errors: Errors, ports: list[Json]) -> None:
    if len(ports) > PORTS_MAX:
        errors.append(too_many("ports", len(ports), PORTS_MAX))
        return
    seen = set()
    for index, port in enumerate(ports):
        path = at("ports", index)
        name = port["name"]
        if name:
            errors += invalids(f"{path}.name", name, names.dns_label(name))
        if name in seen:
            errors.append(duplicate(f"{path}.name", name))
        seen.add(name)
        errors += rules.choice(f"{path}.protocol", port["protocol"], PROTOCOLS)
        if "appProtocol" in port:
            errors += invalids(f"{path}.appProtocol", port["appProtocol"], names.qualified_name(port["appProtocol"]))


def _slice_endpoints(errors: Errors, endpoints: list[Json], address_type: str) -> None:
    if len(endpoints) > ENDPOINTS_MAX:
        errors.append(too_many("endpoints", len(endpoints), ENDPOINTS_MAX))
        return
    for index, endpoint in enumerate(endpoints):
        path = at("endpoints", index)
        for position, address in enumerate(endpoint.get("addresses") or ()):
            _slice_address(errors, f"{path}.addresses", position, address, address_type)
        if "nodeName" in endpoint:
            errors += invalids(f"{path}.nodeName", endpoint["nodeName"], names.dns_subdomain(endpoint["nodeName"]))
        topology = endpoint.get("deprecatedTopology") or {}
        if len(topology) > TOPOLOGY_LABELS_MAX:
            errors.append(too_many(f"{path}.deprecatedTopology", len(topology), TOPOLOGY_LABELS_MAX))
        labels(errors, f"{path}.deprecatedTopology", topology)
        if "hostname" in endpoint:
            errors += invalids(f"{path}.hostname", endpoint["hostname"], names.dns_label(endpoint["hostname"]))
        _hints(errors, f"{path}.hints", endpoint.get("hints") or {})


def _slice_address(errors: Errors, path: str, index: int, address: str, address_type: str) -> None:
    place = at(path, index)
    if address_type == "FQDN":
        errors += names.fully_qualified_domain_name(place, address)
    if address_type not in ("IPv4", "IPv6"):
        return
    if wrong := (_legacy_ip if address_type == "IPv4" else addresses.ip)(address):
        errors += invalids(place, address, wrong)
        return
    if addresses.is_ipv6(address) != (address_type == "IPv6"):
        errors.append(invalid(path, address, f"must be an {address_type} address"))
    errors += endpoint_ip(place, address)


def _hints(errors: Errors, path: str, hints: Json) -> None:
    for field, rule in (("forZones", names.label_value), ("forNodes", names.dns_subdomain)):
        values = hints.get(field) or []
        if len(values) > HINTS_MAX:
            errors.append(too_many(f"{path}.{field}", len(values), HINTS_MAX))
            return
        seen = set()
        for index, value in enumerate(values):
            place = f"{at(f'{path}.{field}', index)}.name"
            name = value.get("name", "")
            if name in seen:
                errors.append(duplicate(place, name))
            seen.add(name)
            errors += invalids(place, name, rule(name))


CREATE = {"Endpoints": _endpoints, "EndpointSlice": _slice}
UPDATE = CREATE
