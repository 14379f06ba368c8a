"""The conditions of a CustomResourceDefinition: what became of it, in kube-apiserver's words."""

from __future__ import annotations

from typing import Any, NamedTuple

from hardpoint.machinery.validation.webhookclients import ca_bundle

Json = dict[str, Any]

CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""The finalizer that holds a definition until its objects are gone."""


class Condition(NamedTuple):
    """One condition, without its time."""

    type: str
    status: str
    reason: str
    message: str


NAMES_ACCEPTED = Condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")
NOT_ACCEPTED = Condition("Established", "False", "NotAccepted", "not all names are accepted")
ESTABLISHED = Condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
INVALID_CA_BUNDLE = Condition("Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
PENDING = Condition(
    "Terminating",
    "True",
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)
IN_PROGRESS = Condition("Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
COMPLETED = Condition("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
NEVER_ESTABLISHED = Condition("Terminating", "False", "NeverEstablished", "resource was never established")
OVERLAPPING = Condition(
    "Terminating", "False", "OverlappingBuiltInResource", "instances overlap with built-in resources in storage"
)


def find(definition: Json, kind: str) -> Json | None:
    """The condition of that type, or None."""
    conditions = (definition.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), None)


def is_true(definition: Json, kind: str) -> bool:
    found = find(definition, kind)
    return found is not None and found.get("status") == "True"


def put(definition: Json, condition: Condition, now: str) -> None:
    """Write a condition down, in place. Its time is that of the last change of its status."""
    status = definition.setdefault("status", {})
    found = find(definition, condition.type)
    if found is None:
        found = {"type": condition.type}
        status["conditions"] = [*(status.get("conditions") or ()), found]
    if found.get("status") != condition.status or not found.get("lastTransitionTime"):
        found["lastTransitionTime"] = now
    found |= condition._asdict()


def mark_for_deletion(definition: Json, now: str) -> None:
    """What the first DELETE does to a definition, in place: it waits for its objects to go."""
    metadata = definition["metadata"]
    metadata["deletionTimestamp"] = now
    if CLEANUP not in (metadata.get("finalizers") or ()):
        metadata["finalizers"] = [*(metadata.get("finalizers") or ()), CLEANUP]
    put(definition, PENDING, now)


def established(definition: Json) -> Condition:
    """Whether a definition whose names are accepted is served for good: not if it could never be converted."""
    webhook = ((definition["spec"].get("conversion") or {}).get("webhook") or {}).get("clientConfig") or {}
    if webhook.get("caBundle") and ca_bundle("caBundle", webhook["caBundle"]):
        return INVALID_CA_BUNDLE
    return ESTABLISHED


def is_going(definition: Json) -> bool:
    return "deletionTimestamp" in definition["metadata"]
