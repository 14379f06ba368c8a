"""What makes a PriorityClass or a RuntimeClass invalid."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import FieldError, at, forbidden, invalids, not_supported, required
from hardpoint.machinery.validation import resources, rules
from hardpoint.machinery.validation.affinity import tolerations
from hardpoint.machinery.validation.labelselectors import labels

Json = dict[str, Any]
Errors = list[FieldError]

SYSTEM_PREFIX = "system-"
SYSTEM_CLASSES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
USER_PRIORITY_MAX = 1000000000
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")


def _priority_class(obj: Json) -> Errors:
    errors: Errors = []
    name, value = obj["metadata"].get("name", ""), obj.get("value", 0)
    if name.startswith(SYSTEM_PREFIX):
        if problem := _system_problem(name, value, bool(obj.get("globalDefault"))):
            reserved = f"priority class names with '{SYSTEM_PREFIX}' prefix are reserved for system use only."
            errors.append(forbidden("metadata.name", f"{reserved} error: {problem}"))
    elif value > USER_PRIORITY_MAX:
        detail = f"maximum allowed value of a user defined priority is {USER_PRIORITY_MAX}"
        errors.append(forbidden("value", detail))
    policy = obj["preemptionPolicy"]
    if not policy:
        errors.append(required("preemptionPolicy"))
    elif policy not in PREEMPTION_POLICIES:
        errors.append(not_supported("preemptionPolicy", policy, PREEMPTION_POLICIES))
    return errors


def _system_problem(name: str, value: int, is_default: bool) -> str:
    if name not in SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_CLASSES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def _priority_class_update(obj: Json, old: Json) -> Errors:
    errors: Errors = []
    if obj.get("value", 0) != old.get("value", 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    return errors + rules.immutable("preemptionPolicy", obj.get("preemptionPolicy"), old.get("preemptionPolicy"))


def _runtime_class(obj: Json) -> Errors:
    errors: Errors = []
    if "overhead" in obj:
        limits = {"limits": obj["overhead"].get("podFixed") or {}}
        resources.container_resources(errors, "overhead", limits)
    scheduling = obj.get("scheduling") or {}
    labels(errors, "scheduling.nodeSelector", scheduling.get("nodeSelector") or {})
    wanted = scheduling.get("tolerations") or []
    tolerations(errors, "scheduling.tolerations", wanted)
    _unique(errors, "scheduling.tolerations", wanted)
    handler = obj.get("handler", "")
    if not handler:
        errors.append(required("handler"))
    else:
        errors += invalids("handler", handler, _short_name(handler))
    return errors


def _short_name(value: str) -> list[str]:
    """A DNS label, whose length is told in bytes here."""
    limit = names.DNS_LABEL_LENGTH_MAX
    counted = names.too_long(limit)
    return [names.too_long(limit, "bytes") if text == counted else text for text in names.dns_label(value)]


def _unique(errors: Errors, path: str, wanted: list[Json]) -> None:
    seen = set()
    for index, toleration in enumerate(wanted):
        key = tuple(toleration.get(field, "") for field in ("key", "operator", "value", "effect"))
        if key in seen:
            shown = rules.as_go_struct(
                Key=key[0],
                Operator=key[1],
                Value=key[2],
                Effect=key[3],
                TolerationSeconds=toleration.get("tolerationSeconds"),
            )
            errors.append(FieldError("FieldValueDuplicate", at(path, index), shown, ""))
        seen.add(key)


def _runtime_class_update(obj: Json, old: Json) -> Errors:
    return rules.declared_immutable("handler", obj.get("handler"), old.get("handler"))


CREATE = {"PriorityClass": _priority_class, "RuntimeClass": _runtime_class}
UPDATE = {"PriorityClass": _priority_class_update, "RuntimeClass": _runtime_class_update}
