"""Names and taints of devices, as claims, classes and slices use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, invalids, not_supported, required, too_long

Json = dict[str, Any]
Errors = list[FieldError]

DOMAIN_LENGTH_MAX = 63
ID_LENGTH_MAX = 32


def driver_name(errors: Errors, path: str, name: str) -> None:
    """A subdomain in any case, no longer than a label."""
    if not name:
        errors.append(required(path))
        return
    if names.length(name) > DOMAIN_LENGTH_MAX:
        errors.append(too_long(path, DOMAIN_LENGTH_MAX))
    errors += invalids(path, name, names.dns_subdomain_caseless(name))


def plain_driver_name(errors: Errors, path: str, name: str) -> None:
    """A driver's name where upstream checks it by hand, and tells so in other words."""
    if not name:
        errors.append(required(path))
        return
    if names.length(name) > DOMAIN_LENGTH_MAX:
        errors.append(too_long(path, DOMAIN_LENGTH_MAX))
    errors += invalids(path, name, names.dns_subdomain(name.lower()))


def qualified_name(errors: Errors, path: str, name: str) -> None:
    """`domain/identifier`, or an identifier alone, which belongs to the slice's driver."""
    domain, slash, identifier = name.rpartition("/")
    if slash and not domain:
        errors.append(invalid(path, "", "the domain must not be empty"))
    elif slash:
        driver_name(errors, path, domain)
    if slash and not identifier:
        errors.append(invalid(path, "", "the name must not be empty"))
        return
    if names.length(identifier) > ID_LENGTH_MAX:
        errors.append(too_long(path, ID_LENGTH_MAX))
    errors += invalids(path, identifier, names.c_identifier(identifier))


def fully_qualified_name(errors: Errors, path: str, name: str) -> None:
    qualified_name(errors, path, name)
    if "/" not in name:
        detail = "a fully qualified name must be a domain and a name separated by a slash"
        errors.append(invalid(path, name, detail))


def taint(errors: Errors, path: str, value: Json, effects: Sequence[str], *, old_effect: str | None = None) -> None:
    """A device's taint. An effect that was stored before is not judged again."""
    key, text, effect = value.get("key", ""), value.get("value", ""), value.get("effect", "")
    errors += invalids(f"{path}.key", key, names.label_key(key))
    if text:
        errors += invalids(f"{path}.value", text, names.label_value(text))
    if effect == old_effect:
        return
    if not effect:
        errors.append(required(f"{path}.effect"))
    elif effect not in effects:
        errors.append(not_supported(f"{path}.effect", effect, effects))
