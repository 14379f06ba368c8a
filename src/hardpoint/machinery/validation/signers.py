"""The names of certificate signers: `example.com/signer`."""

from __future__ import annotations

from collections.abc import Callable

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, invalid, required, too_long

# A domain, a slash, and room for the namespace and the name of an object with a dot between them.
LENGTH_MAX = names.DNS_SUBDOMAIN_LENGTH_MAX + 1 + names.DNS_LABEL_LENGTH_MAX + 1 + names.DNS_SUBDOMAIN_LENGTH_MAX


def is_kubernetes_signer(name: str) -> bool:
    """Whether the signer's domain belongs to the Kubernetes project."""
    domain = name.partition("/")[0]
    return domain == "kubernetes.io" or domain.endswith(".kubernetes.io")


def signer_name(field: str, name: str) -> list[FieldError]:
    """A domain of two labels or more, one slash, and a path made of subdomains."""
    if not name:
        return [required(field)]
    if name.count("/") != 1:
        told = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        return [invalid(field, name, told)]
    domain, _, path = name.partition("/")
    errors = []
    if names.length(domain) > names.DNS_SUBDOMAIN_LENGTH_MAX:
        errors.append(too_long(field, names.DNS_SUBDOMAIN_LENGTH_MAX))
    errors += _first_wrong_part(field, domain, names.dns_label)
    if "." not in domain:
        errors.append(invalid(field, domain, "should be a domain with at least two segments separated by dots"))
    errors += _first_wrong_part(field, path, names.dns_subdomain)
    if names.length(name) > LENGTH_MAX:
        errors.append(too_long(field, LENGTH_MAX))
    return errors


def _first_wrong_part(field: str, dotted: str, rule: Callable[[str], list[str]]) -> list[FieldError]:
    for part in dotted.split("."):
        if wrong := rule(part):
            return [invalid(field, dotted, f'validating label "{part}": {problem}') for problem in wrong]
    return []
