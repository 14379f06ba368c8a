"""Whether a definition may be in one of Kubernetes' own groups: an annotation says who approved it.

Validation refuses a definition without the annotation; what the annotation says is told as a condition.
"""

from __future__ import annotations

from typing import Any

from hardpoint.apiserver.custom.conditions import Condition, find
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.validation.apiextensions import APPROVAL_HELP, APPROVED

Json = dict[str, Any]

TYPE = "KubernetesAPIApprovalPolicyConformant"
_PROTECTED = (".k8s.io", ".kubernetes.io")


def condition(definition: Json) -> Condition | None:
    """The condition of a definition in a protected group; None for all others."""
    if not f".{definition['spec']['group']}".endswith(_PROTECTED):
        return None
    said = (definition["metadata"].get("annotations") or {}).get(APPROVED, "")
    must = f"protected groups must have approval annotation {quote(APPROVED)}"
    if not said:
        return Condition(TYPE, "False", "MissingAnnotation", f"{must}, {APPROVAL_HELP}")
    if said.startswith("unapproved"):
        return Condition(TYPE, "False", "UnapprovedAnnotation", f"not approved: {quote(said)}")
    if "://" in said:
        return Condition(TYPE, "True", "ApprovedAnnotation", f"approved in {said}")
    told = f'{must} with either a URL or a reason starting with "unapproved", {APPROVAL_HELP}'
    return Condition(TYPE, "False", "InvalidAnnotation", told)


def is_told(definition: Json) -> bool:
    """Whether the definition already has the condition it should have."""
    wanted, found = condition(definition), find(definition, TYPE)
    if wanted is None:
        return True
    return found is not None and (found.get("reason"), found.get("message")) == (wanted.reason, wanted.message)
