"""The rows of bindings, certificates, admission rules and flow control."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from hardpoint.machinery import durations
from hardpoint.machinery.printers.cells import NONE, UNSET, Cells, Json, age, at, condition, name, pairs

_REQUEST_STATES = ("Issued", "Denied", "Failed")


def role_binding(obj: Json, now: datetime) -> Cells:
    subjects = obj.get("subjects") or ()
    return [
        name(obj),
        f"{at(obj, 'roleRef.kind', '')}/{at(obj, 'roleRef.name', '')}",
        age(obj, now),
        _subjects(subjects, "User"),
        _subjects(subjects, "Group"),
        ", ".join(f"{each.get('namespace', '')}/{each.get('name', '')}" for each in _of(subjects, "ServiceAccount")),
    ]


def _subjects(subjects: Sequence[Json], kind: str) -> str:
    return ", ".join(each.get("name", "") for each in _of(subjects, kind))


def _of(subjects: Sequence[Json], kind: str) -> list[Json]:
    return [each for each in subjects if each.get("kind") == kind]


def certificate_signing_request(obj: Json, now: datetime) -> Cells:
    seconds = at(obj, "spec.expirationSeconds")
    return [
        name(obj),
        age(obj, now),
        at(obj, "spec.signerName", "") or NONE,
        at(obj, "spec.username", ""),
        NONE if seconds is None else durations.human(timedelta(seconds=seconds)),
        _signing_state(obj),
    ]


def _signing_state(obj: Json) -> str:
    found = {each.get("type") for each in at(obj, "status.conditions", ())}
    state = "Denied" if "Denied" in found else "Approved" if "Approved" in found else "Pending"
    if "Failed" in found:
        state += ",Failed"
    return f"{state},Issued" if at(obj, "status.certificate") else state


def cluster_trust_bundle(obj: Json, now: datetime) -> Cells:
    return [name(obj), at(obj, "spec.signerName", "") or NONE]


def pod_certificate_request(obj: Json, now: datetime) -> Cells:
    states = [each["type"] for each in at(obj, "status.conditions", ()) if each.get("type") in _REQUEST_STATES]
    return [
        name(obj),
        at(obj, "spec.podName", ""),
        at(obj, "spec.serviceAccountName", ""),
        at(obj, "spec.nodeName", ""),
        at(obj, "spec.signerName", ""),
        states[-1] if states else "Pending",
        pairs(at(obj, "spec.unverifiedUserAnnotations")),
    ]


def webhook_configuration(obj: Json, now: datetime) -> Cells:
    return [name(obj), len(obj.get("webhooks") or ()), age(obj, now)]


def validating_policy(obj: Json, now: datetime) -> Cells:
    return [name(obj), len(at(obj, "spec.validations", ())), _param_kind(obj), age(obj, now)]


def mutating_policy(obj: Json, now: datetime) -> Cells:
    return [name(obj), len(at(obj, "spec.mutations", ())), _param_kind(obj), age(obj, now)]


def _param_kind(obj: Json) -> str:
    kind = at(obj, "spec.paramKind")
    return UNSET if kind is None else f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"


def policy_binding(obj: Json, now: datetime) -> Cells:
    return [name(obj), at(obj, "spec.policyName", ""), _param(at(obj, "spec.paramRef")), age(obj, now)]


def _param(reference: Json | None) -> str:
    if reference is None:
        return UNSET
    if reference.get("name"):
        return f"{reference.get('namespace') or '*'}/{reference['name']}"
    selector = reference.get("selector")
    return UNSET if selector is None else _go_selector(selector)


def _go_selector(selector: Json) -> str:
    """A LabelSelector as Go's generated String method prints it, which is what upstream shows here."""
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.get('key', '')},Operator:{each.get('operator', '')},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )


def flow_schema(obj: Json, now: datetime) -> Cells:
    dangling = condition(at(obj, "status.conditions"), "Dangling")
    return [
        name(obj),
        at(obj, "spec.priorityLevelConfiguration.name", ""),
        at(obj, "spec.matchingPrecedence", 0),
        at(obj, "spec.distinguisherMethod.type", NONE),
        age(obj, now),
        "?" if dangling is None else dangling.get("status", ""),
    ]


def by_precedence(schemas: Sequence[Json]) -> list[Json]:
    """Flow schemas are listed in the order in which they are tried."""
    return sorted(schemas, key=lambda each: (at(each, "spec.matchingPrecedence", 0), name(each)))


def priority_level(obj: Json, now: datetime) -> Cells:
    limited = at(obj, "spec.limited")
    queuing = at(obj, "spec.limited.limitResponse.queuing")
    queues = [NONE] * 3
    if queuing is not None:
        queues = [queuing.get(field, 0) for field in ("queues", "handSize", "queueLengthLimit")]
    shares = NONE if limited is None else limited.get("nominalConcurrencyShares", 0)
    return [name(obj), at(obj, "spec.type", ""), shares, *queues, age(obj, now)]
