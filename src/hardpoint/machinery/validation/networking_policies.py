"""What makes a NetworkPolicy invalid."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hardpoint.machinery import addresses, names
from hardpoint.machinery.addresses import Cidr
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalid, invalids, not_supported, required
from hardpoint.machinery.validation.labelselectors import has_invalid_values, label_selector

Json = dict[str, Any]
Errors = list[FieldError]

PROTOCOLS = ("TCP", "UDP", "SCTP")
POLICY_TYPES = ("Ingress", "Egress")
DIRECTIONS = (("ingress", "from"), ("egress", "to"))


def _policy(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    missing: Errors = []
    spec, before = obj["spec"], old["spec"] if old else {}
    lenient = has_invalid_values(before.get("podSelector"))
    known_cidrs = {cidr for block in _blocks(before) for cidr in (block.get("cidr", ""), *(block.get("except") or ()))}
    label_selector(errors, "spec.podSelector", spec.get("podSelector"), invalid_values_allowed=lenient)
    for direction, peers in DIRECTIONS:
        for index, rule in enumerate(spec.get(direction) or ()):
            path = at(f"spec.{direction}", index)
            for position, port in enumerate(rule.get("ports") or ()):
                _port(errors, at(f"{path}.ports", position), port)
            for position, peer in enumerate(rule.get(peers) or ()):
                place = at(f"{path}.{peers}", position)
                _peer(errors, place, peer, known_cidrs, lenient=lenient)
                if "ipBlock" in peer and not peer["ipBlock"].get("cidr"):
                    missing.append(required(f"{place}.ipBlock.cidr"))
    _types(errors, "spec.policyTypes", spec.get("policyTypes") or [])
    return errors + missing


def _blocks(spec: Json) -> list[Json]:
    return [
        peer["ipBlock"]
        for direction, peers in DIRECTIONS
        for rule in spec.get(direction) or ()
        for peer in rule.get(peers) or ()
        if "ipBlock" in peer
    ]


def _types(errors: Errors, path: str, types: list[str]) -> None:
    if len(types) > len(POLICY_TYPES):
        errors.append(invalid(path, types, "may not specify more than two policyTypes"))
        return
    for index, kind in enumerate(types):
        if kind not in POLICY_TYPES:
            errors.append(not_supported(at(path, index), kind, POLICY_TYPES))


def _port(errors: Errors, path: str, port: Json) -> None:
    if port["protocol"] not in PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", port["protocol"], PROTOCOLS))
    number, end = port.get("port"), port.get("endPort")
    if number is None:
        if end is not None:
            errors.append(invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified"))
    elif isinstance(number, str):
        if end is not None:
            errors.append(invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric"))
        errors += invalids(f"{path}.port", number, names.port_name(number))
    else:
        errors += invalids(f"{path}.port", number, names.port_number(number))
        if end is not None:
            if end < number:
                errors.append(invalid(f"{path}.endPort", end, "must be greater than or equal to `port`"))
            errors += invalids(f"{path}.endPort", end, names.port_number(end))


def _peer(errors: Errors, path: str, peer: Json, known_cidrs: Collection[str], *, lenient: bool) -> None:
    for field in ("podSelector", "namespaceSelector"):
        label_selector(errors, f"{path}.{field}", peer.get(field), invalid_values_allowed=lenient)
    if "ipBlock" in peer:
        _ip_block(errors, f"{path}.ipBlock", peer["ipBlock"], known_cidrs)
    count = sum(field in peer for field in ("podSelector", "namespaceSelector", "ipBlock"))
    if not count:
        errors.append(required(path, "must specify a peer"))
    elif count > 1 and "ipBlock" in peer:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))


def _ip_block(errors: Errors, path: str, block: Json, known_cidrs: Collection[str]) -> None:
    cidr = block.get("cidr", "")
    if not cidr:
        return
    if cidr not in known_cidrs:
        errors += invalids(f"{path}.cidr", cidr, addresses.legacy_cidr(cidr))
    whole = addresses.parse_cidr(cidr)
    if whole is None:
        return
    for index, part in enumerate(block.get("except") or ()):
        place = at(f"{path}.except", index)
        if part not in known_cidrs:
            errors += invalids(place, part, addresses.legacy_cidr(part))
        parsed = addresses.parse_cidr(part)
        if parsed is not None and not _is_inside(parsed, whole):
            errors.append(invalid(place, part, "must be a strict subset of `cidr`"))


def _is_inside(part: Cidr, whole: Cidr) -> bool:
    if part.address.version != whole.address.version or whole.length >= part.length:
        return False
    bits = 32 if whole.address.version == 4 else 128
    shift = bits - whole.length
    return int(part.address.value) >> shift == int(whole.address.value) >> shift


CREATE = {"NetworkPolicy": _policy}
UPDATE = CREATE
