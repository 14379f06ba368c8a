"""Names and amounts of resources: what containers, pods, quotas and limit ranges may say of cpu, memory and others.

Errors are added to the list each function is given. Amounts are canonical texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
)
from hardpoint.machinery.fielderrors import show as shown
from hardpoint.machinery.quantity import BadQuantity, Quantity, parse

Json = dict[str, Any]
NameCheck = Callable[[list[FieldError], str, str], None]

HUGE_PAGES = "hugepages-"
NEGATIVE = "must be greater than or equal to 0"

_COMPUTE = frozenset({"cpu", "memory", "ephemeral-storage"})
_COUNTED = frozenset(
    {
        "configmaps",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
    }
)
_PREFIXED = frozenset(f"{prefix}.{name}" for prefix in ("requests", "limits") for name in _COMPUTE)
STANDARD_QUOTA = _COMPUTE | _PREFIXED | _COUNTED | {"requests.storage"}
STANDARD = STANDARD_QUOTA | {"storage"}


def is_huge_page(name: str) -> bool:
    return name.startswith(HUGE_PAGES)


def is_quota_huge_page(name: str) -> bool:
    return name.startswith((HUGE_PAGES, "requests.hugepages-"))


def is_native(name: str) -> bool:
    """Whether the name belongs to Kubernetes: unqualified, or below kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


@lru_cache(maxsize=1024)
def is_extended(name: str) -> bool:
    """Whether the name is of a resource that only a node's device plugins know."""
    return not is_native(name) and not name.startswith("requests.") and not names.qualified_name(f"requests.{name}")


def may_overcommit(name: str) -> bool:
    """Whether more may be used than was asked for."""
    return is_native(name) and not is_huge_page(name)


def resource_name(errors: list[FieldError], path: str, name: str) -> None:
    """A qualified name; one without a domain must be a standard resource."""
    if wrong := names.qualified_name(name):
        errors += invalids(path, name, wrong)
    elif "/" not in name and name not in STANDARD and not is_quota_huge_page(name):
        errors.append(invalid(path, name, "must be a standard resource type or fully qualified"))


def container_resource_name(errors: list[FieldError], path: str, name: str) -> None:
    if name in _COMPUTE:
        return
    resource_name(errors, path, name)
    if "/" not in name:
        if not is_huge_page(name):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))


def pod_resource_name(errors: list[FieldError], path: str, name: str) -> None:
    """Pods as a whole may ask for cpu, memory and huge pages."""
    before = len(errors)
    resource_name(errors, path, name)
    if len(errors) == before and name not in ("cpu", "memory") and not is_huge_page(name):
        errors.append(not_supported(path, name, ("cpu", "memory")))


def quota_resource_name(errors: list[FieldError], path: str, name: str) -> None:
    resource_name(errors, path, name)
    if "/" not in name and name not in STANDARD_QUOTA and not is_quota_huge_page(name):
        errors.append(invalid(path, name, "must be a standard resource for quota"))


def resource_amount(errors: list[FieldError], path: str, name: str, amount: str) -> None:
    """No amount is negative, and what is counted comes in whole numbers."""
    if amount[0] == "-":
        errors.append(invalid(path, amount, NEGATIVE))
    if (name in _COUNTED or is_extended(name)) and parse(amount).milli_value() % 1000:
        errors.append(invalid(path, amount, "must be an integer"))


def container_resources(
    errors: list[FieldError], path: str, wanted: Json | None, claim_names: Collection[str] = ()
) -> None:
    """The `resources` of a container; `claim_names` are the claims its pod may refer to."""
    if wanted:
        requirements(errors, path, wanted, container_resource_name, claim_names)


def requirements(
    errors: list[FieldError], path: str, wanted: Json, check_name: NameCheck, claim_names: Collection[str]
) -> None:
    """Limits and requests that agree with each other. `check_name` says which resources may be named."""
    limits, requests = wanted.get("limits") or {}, wanted.get("requests") or {}
    _amounts(errors, f"{path}.limits", limits, check_name)
    _amounts(errors, f"{path}.requests", requests, check_name, limits)
    if _huge_pages_alone(limits, requests):
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    if claims := wanted.get("claims"):
        _claims(errors, f"{path}.claims", claims, claim_names)


def _amounts(
    errors: list[FieldError],
    path: str,
    amounts: Mapping[str, str],
    check_name: NameCheck,
    limits: Mapping[str, str] | None = None,
) -> None:
    for name, amount in amounts.items():
        place = f"{path}[{name}]"
        check_name(errors, place, name)
        resource_amount(errors, place, name, amount)
        if limits is not None:
            _within_limit(errors, path, name, amount, limits)
        if is_huge_page(name) and not _is_multiple(name, parse(amount)):
            errors.append(invalid(place, amount, f"{amount} is not positive integer multiple of {name}"))


def _within_limit(errors: list[FieldError], path: str, name: str, amount: str, limits: Mapping[str, str]) -> None:
    limit = limits.get(name)
    if limit is None:
        if not may_overcommit(name):
            told = "Limit must be set for non overcommitable resources"
            errors.append(required(path.removesuffix("requests") + "limits", told))
    elif amount != limit:
        order = parse(amount).compare(parse(limit))
        if order != 0 and not may_overcommit(name):
            errors.append(invalid(path, amount, f"must be equal to {name} limit of {limit}"))
        elif order > 0:
            errors.append(invalid(path, amount, f"must be less than or equal to {name} limit of {limit}"))


def _is_multiple(name: str, amount: Quantity) -> bool:
    try:
        size = parse(name.removeprefix(HUGE_PAGES))
    except BadQuantity:
        return False
    if size.sign <= 0 or size.milli_value() % 1000:
        return False
    return amount.value() % size.value() == 0


def _huge_pages_alone(limits: Mapping[str, str], requests: Mapping[str, str]) -> bool:
    asked = limits.keys() | requests.keys()
    return not asked & {"cpu", "memory"} and any(is_huge_page(name) for name in asked)


def _claims(errors: list[FieldError], path: str, claims: list[Json], claim_names: Collection[str]) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        place = f"{path}[{index}]"
        name, request = claim.get("name", ""), claim.get("request", "")
        if not name:
            errors.append(required(place))
            continue
        _claim_once(errors, place, name, request, seen)
        if name not in claim_names:
            known = f": {', '.join(sorted(claim_names))}" if claim_names else " which is empty"
            told = f"must be one of the names in pod.spec.resourceClaims{known}"
            errors.append(FieldError("FieldValueNotFound", place, shown(name), told))


def _claim_once(errors: list[FieldError], path: str, name: str, request: str, seen: set[str]) -> None:
    """A claim is used as a whole, or request by request, and each of them once."""
    if name in seen:
        errors.append(duplicate(path, name))
        return
    key = f"{name}/{request}" if request else name
    if request and (wrong := names.dns_label(request)):
        errors += invalids(f"{path}.request", request, wrong)
    if key in seen:
        errors.append(duplicate(path, key))
    elif not request:
        errors += [duplicate(path, name) for other in seen if other.startswith(f"{name}/")]
    seen.add(key)
