"""What makes a FlowSchema or a PriorityLevelConfiguration invalid."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import (
    FieldError,
    at,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
)
from hardpoint.machinery.validation import rules

Json = dict[str, Any]
Errors = list[FieldError]

PRECEDENCE_MAX = 10000
DISTINGUISHERS = ("ByNamespace", "ByUser")
VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
SUBJECT_FIELDS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}
QUEUES_MAX = 10 * 1000 * 1000
HASH_BITS_MAX = 60
NOT_NEGATIVE_INTEGER = "must be a non-negative integer"
PERCENTAGE = "must be between 0 and 100, inclusive"


def _flow_schema(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec = obj["spec"]
    _precedence(errors, "spec.matchingPrecedence", spec["matchingPrecedence"], obj["metadata"].get("name", ""))
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type", "") not in DISTINGUISHERS:
        shown = rules.as_go_struct(Type=method.get("type", ""))
        listed = ", ".join(f'"{each}"' for each in DISTINGUISHERS)
        place = "spec.distinguisherMethod.type"
        errors.append(FieldError("FieldValueNotSupported", place, shown, f"supported values: {listed}"))
    level = (spec.get("priorityLevelConfiguration") or {}).get("name", "")
    if level:
        errors += invalids("spec.priorityLevelConfiguration.name", level, names.dns_subdomain(level))
    else:
        errors.append(required("spec.priorityLevelConfiguration.name", "must reference a priority level"))
    for index, rule in enumerate(spec.get("rules") or ()):
        _rule(errors, at("spec.rules", index), rule)
    return errors


def _precedence(errors: Errors, path: str, value: int, name: str) -> None:
    if value <= 0:
        errors.append(invalid(path, value, "must be a positive value"))
    if value > PRECEDENCE_MAX:
        errors.append(invalid(path, value, f"must not be greater than {PRECEDENCE_MAX}"))
    if value == 1 and name != "exempt":
        errors.append(invalid(path, value, "only the schema named 'exempt' may have matchingPrecedence 1"))


def _rule(errors: Errors, path: str, rule: Json) -> None:
    subjects = rule.get("subjects") or []
    for index, subject in enumerate(subjects):
        _subject(errors, at(f"{path}.subjects", index), subject)
    if not subjects:
        errors.append(required(f"{path}.subjects", "subjects must contain at least one value"))
    resource_rules, other_rules = rule.get("resourceRules") or [], rule.get("nonResourceRules") or []
    if not resource_rules and not other_rules:
        detail = "at least one of resourceRules and nonResourceRules has to be non-empty"
        errors.append(required(path, detail))
    for index, each in enumerate(resource_rules):
        _resource_rule(errors, at(f"{path}.resourceRules", index), each)
    for index, each in enumerate(other_rules):
        _non_resource_rule(errors, at(f"{path}.nonResourceRules", index), each)


def _subject(errors: Errors, path: str, subject: Json) -> None:
    kind = subject.get("kind", "")
    if kind not in SUBJECT_FIELDS:
        errors.append(not_supported(f"{path}.kind", kind, sorted(SUBJECT_FIELDS)))
        return
    field = SUBJECT_FIELDS[kind]
    value = subject.get(field)
    if value is None:
        errors.append(required(f"{path}.{field}", f"{field} is required when subject kind is '{kind}'"))
    elif kind == "ServiceAccount":
        _service_account(errors, f"{path}.{field}", value)
    elif not value.get("name"):
        errors.append(required(f"{path}.{field}.name"))
    for other_kind, other in sorted(
        SUBJECT_FIELDS.items(), key=lambda each: ("serviceAccount", "user", "group").index(each[1])
    ):
        if other != field and other in subject:
            detail = f"{other} is forbidden when subject kind is not '{other_kind}'"
            errors.append(forbidden(f"{path}.{other}", detail))


def _service_account(errors: Errors, path: str, account: Json) -> None:
    name, namespace = account.get("name", ""), account.get("namespace", "")
    if not name:
        errors.append(required(f"{path}.name"))
    elif name != "*":
        errors += invalids(f"{path}.name", name, names.dns_subdomain(name))
    if namespace:
        errors += invalids(f"{path}.namespace", namespace, names.dns_label(namespace))
    else:
        errors.append(required(f"{path}.namespace", "must specify namespace for service account"))


def _verbs(errors: Errors, path: str, verbs: list[str]) -> None:
    if not verbs:
        errors.append(required(path, "verbs must contain at least one value"))
    elif "*" in verbs:
        _wildcard_alone(errors, path, verbs, "verbs")
    elif not set(verbs).issubset(VERBS):
        errors.append(not_supported(path, verbs, VERBS))


def _wildcard_alone(errors: Errors, path: str, values: list[str], told: str) -> None:
    if "*" in values and len(values) > 1:
        errors.append(invalid(path, values, f"if '*' is present, must not specify other {told}"))


def _resource_rule(errors: Errors, path: str, rule: Json) -> None:
    _verbs(errors, f"{path}.verbs", rule.get("verbs") or [])
    for field, one, many in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values = rule.get(field) or []
        if not values:
            errors.append(required(f"{path}.{field}", f"resource rules must supply at least one {one}"))
        _wildcard_alone(errors, f"{path}.{field}", values, many)
    namespaces = rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        detail = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.append(required(f"{path}.namespaces", detail))
    elif "*" in namespaces:
        _wildcard_alone(errors, f"{path}.namespaces", namespaces, "namespaces")
    else:
        for index, namespace in enumerate(namespaces):
            told = "each member of this list must be '*' or a DNS-1123 label; "
            wrong = [told + text for text in names.dns_label(namespace)]
            errors += invalids(at(f"{path}.namespaces", index), namespace, wrong)


def _non_resource_rule(errors: Errors, path: str, rule: Json) -> None:
    _verbs(errors, f"{path}.verbs", rule.get("verbs") or [])
    urls = rule.get("nonResourceURLs") or []
    if not urls:
        errors.append(required(f"{path}.nonResourceURLs", "nonResourceURLs must contain at least one value"))
    elif "*" in urls:
        _wildcard_alone(errors, f"{path}.nonResourceURLs", urls, "non-resource URLs")
    else:
        for index, url in enumerate(urls):
            if problem := _url_problem(url):
                errors.append(invalid(at(f"{path}.nonResourceURLs", index), url, problem))


def _url_problem(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    is_suffix = url.count("*") == 1 and url.endswith("/*")
    return "wildcard can only do suffix matching" if "*" in url and not is_suffix else ""


def _priority_level(obj: Json, old: Json | None = None) -> Errors:
    errors: Errors = []
    spec, name = obj["spec"], obj["metadata"].get("name", "")
    kind = spec.get("type", "")
    if (name == "exempt") != (kind == "Exempt"):
        errors.append(invalid("spec.type", kind, "must be 'Exempt' if and only if `name` is 'exempt'"))
    _union(errors, "spec", spec, {"Exempt": "exempt", "Limited": "limited"}, needed=("Limited",))
    if kind == "Exempt":
        _exempt(errors, "spec.exempt", spec.get("exempt") or {})
    elif kind == "Limited" and "limited" in spec:
        _limited(errors, "spec.limited", spec["limited"])
    return errors


def _union(errors: Errors, path: str, value: Json, members: Mapping[str, str], needed: Collection[str]) -> None:
    """One member, the one its type names. A type that is missing is told last, one that is not known first."""
    kind = value.get("type", "")
    wrong_type = rules.required_choice(f"{path}.type", kind, (*members,))
    if kind:
        errors += wrong_type
    for type_, member in members.items():
        if member and member in value and kind != type_:
            errors.append(forbidden(f"{path}.{member}", ""))
        elif kind == type_ and type_ in needed and member not in value:
            errors.append(required(f"{path}.{member}"))
    if not kind:
        errors += wrong_type


def _exempt(errors: Errors, path: str, exempt: Json) -> None:
    if exempt.get("nominalConcurrencyShares", 0) < 0:
        shares = exempt["nominalConcurrencyShares"]
        errors.append(invalid(f"{path}.nominalConcurrencyShares", shares, NOT_NEGATIVE_INTEGER))
    if not 0 <= exempt.get("lendablePercent", 0) <= 100:
        errors.append(invalid(f"{path}.lendablePercent", exempt["lendablePercent"], PERCENTAGE))


def _limited(errors: Errors, path: str, limited: Json) -> None:
    shares = limited["nominalConcurrencyShares"]
    if shares < 0:
        errors.append(invalid(f"{path}.nominalConcurrencyShares", shares, NOT_NEGATIVE_INTEGER))
    _limit_response(errors, f"{path}.limitResponse", limited.get("limitResponse") or {})
    if not 0 <= limited["lendablePercent"] <= 100:
        errors.append(invalid(f"{path}.lendablePercent", limited["lendablePercent"], PERCENTAGE))
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        detail = f"if specified, {NOT_NEGATIVE_INTEGER}"
        errors.append(invalid(f"{path}.borrowingLimitPercent", borrowing, detail))


def _limit_response(errors: Errors, path: str, response: Json) -> None:
    _union(errors, path, response, {"Queue": "queuing", "Reject": ""}, needed=("Queue",))
    if response.get("type") == "Queue" and "queuing" in response:
        _queuing(errors, f"{path}.queuing", response["queuing"])


def _queuing(errors: Errors, path: str, queuing: Json) -> None:
    queues, hand = queuing["queues"], queuing["handSize"]
    if queuing["queueLengthLimit"] <= 0:
        errors.append(invalid(f"{path}.queueLengthLimit", queuing["queueLengthLimit"], "must be positive"))
    if queues <= 0:
        errors.append(invalid(f"{path}.queues", queues, "must be positive"))
    elif queues > QUEUES_MAX:
        errors.append(invalid(f"{path}.queues", queues, f"must not be greater than {QUEUES_MAX}"))
    if hand <= 0:
        errors.append(invalid(f"{path}.handSize", hand, "must be positive"))
    elif hand > queues:
        errors.append(invalid(f"{path}.handSize", hand, f"should not be greater than queues ({queues})"))
    elif _entropy_bits(queues, hand) > HASH_BITS_MAX:
        needs = f"required entropy bits of deckSize {queues} and handSize {hand}"
        errors.append(invalid(f"{path}.handSize", hand, f"{needs} should not be greater than {HASH_BITS_MAX}"))


def _entropy_bits(deck: int, hand: int) -> int:
    """How many bits of hash it takes to deal a hand from a deck."""
    return math.ceil(math.log2(deck) * hand)


def _status(obj: Json, _: Json) -> Errors:
    """What nobody may say about how a schema or a level is doing: conditions have types, each its own."""
    errors: Errors = []
    seen: set[str] = set()
    for index, condition in enumerate((obj.get("status") or {}).get("conditions") or ()):
        kind, place = condition.get("type", ""), f"{at('status.conditions', index)}.type"
        if kind in seen:
            errors.append(duplicate(place, kind))
        if not kind:
            errors.append(required(place))
        seen.add(kind)
    return errors


CREATE = {"FlowSchema": _flow_schema, "PriorityLevelConfiguration": _priority_level}
UPDATE = CREATE
SUBRESOURCES = {"FlowSchema": {"status": _status}, "PriorityLevelConfiguration": {"status": _status}}
