"""Which cluster IPs a Service may have, of which families, and how both may change."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import addresses
from hardpoint.machinery.fielderrors import FieldError, at, duplicate, invalid, invalids, required
from hardpoint.machinery.validation import rules

Json = dict[str, Any]
Errors = list[FieldError]

FAMILIES = ("IPv4", "IPv6")
FAMILY_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
CLUSTER_IPS_MAX = 2
MAY_NOT_CHANGE = "may not change once set"


def is_headless(spec: Json) -> bool:
    return bool(spec.get("clusterIPs") == ["None"])


def cluster_ips(errors: Errors, spec: Json, old_spec: Json) -> None:
    """The form of clusterIP, clusterIPs, ipFamilies and ipFamilyPolicy, and whether they fit together."""
    if spec["type"] == "ExternalName":
        return
    ips, first = spec.get("clusterIPs") or [], spec.get("clusterIP", "")
    path = "spec.clusterIPs"
    if first and not ips:
        errors.append(required(path))
    elif first and ips[0] != first:
        errors.append(invalid(path, ips, "first value must match `clusterIP`"))
    elif ips and not first:
        errors.append(invalid(path, ips, "must be empty when `clusterIP` is not specified"))
    families = spec.get("ipFamilies") or []
    for index, family in enumerate(families):
        place = at("spec.ipFamilies", index)
        errors += rules.choice(place, family, FAMILIES)
        if family in families[:index]:
            errors.append(duplicate(place, family))
    if "ipFamilyPolicy" in spec:
        errors += rules.choice("spec.ipFamilyPolicy", spec["ipFamilyPolicy"], FAMILY_POLICIES)
    if _are_addresses(errors, path, ips, old_spec.get("clusterIPs") or ()):
        _fit_families(errors, path, ips, [] if is_headless(spec) else families)


def _are_addresses(errors: Errors, path: str, ips: list[str], old_ips: Any) -> bool:
    before = len(errors)
    for index, ip in enumerate(ips):
        if index == 0 and ip == "None":
            if len(ips) > 1:
                errors.append(invalid(path, ips, "'None' must be the first and only value"))
        elif ip not in old_ips:
            errors += invalids(at(path, index), ip, addresses.legacy_ip(ip))
    are_fine = len(errors) == before
    if len(ips) > CLUSTER_IPS_MAX:
        errors.append(invalid(path, ips, f"may only hold up to {CLUSTER_IPS_MAX} values"))
    return are_fine


def _fit_families(errors: Errors, path: str, ips: list[str], families: list[str]) -> None:
    if len(ips) > 1 and len({addresses.is_ipv6(ip) for ip in ips}) < 2:
        errors.append(invalid(path, ips, "may specify no more than one IP for each IP family"))
    for index, (ip, family) in enumerate(zip(ips, families, strict=False)):
        if family in FAMILIES and addresses.is_ipv6(ip) != (family == "IPv6"):
            detail = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            errors.append(invalid(at(path, index), ip, detail))


def changes(errors: Errors, spec: Json, old_spec: Json) -> None:
    """What was allocated stays; only a second IP may come and go."""
    if "ExternalName" in (spec["type"], old_spec.get("type")):
        return
    was_headless, becomes_headless = is_headless(old_spec), is_headless(spec)
    ips, old_ips = spec.get("clusterIPs") or [], old_spec.get("clusterIPs") or []
    families, old_families = spec.get("ipFamilies") or [], old_spec.get("ipFamilies") or []
    policy = spec.get("ipFamilyPolicy")
    if not (was_headless and becomes_headless):
        _change(errors, "clusterIPs", ips, old_ips, "primary clusterIP can not be unset", unset=not ips, shown=ips)
        if len(old_ips) > len(ips) == 1 and policy != "SingleStack":
            errors.append(_keeps_both(policy, "clusterIP"))
    if not was_headless and not becomes_headless:
        told = "primary ipFamily can not be unset"
        shown = families if len(families) == len(old_families) else ips
        _change(errors, "ipFamilies", families, old_families, told, unset=not ips, shown=shown)
        if len(old_families) > len(families) == 1 and policy != "SingleStack":
            errors.append(_keeps_both(policy, "ipFamily"))


def _change(
    errors: Errors, field: str, new: list[str], old: list[str], told_unset: str, *, unset: bool, shown: list[str]
) -> None:
    path = f"spec.{field}"
    if len(new) == len(old):
        for index, value in enumerate(old):
            if value != new[index]:
                place = index if field == "clusterIPs" else 0
                errors.append(invalid(at(path, place), shown, MAY_NOT_CHANGE))
        return
    if len(old) > len(new) and unset:
        errors.append(invalid(at(path, 0), new, told_unset))
    if old and new and old[0] != new[0]:
        errors.append(invalid(at(path, 0), shown, MAY_NOT_CHANGE))


def _keeps_both(policy: str | None, released: str) -> FieldError:
    detail = f"must be set to 'SingleStack' when releasing the secondary {released}"
    return invalid("spec.ipFamilyPolicy", policy, detail)
