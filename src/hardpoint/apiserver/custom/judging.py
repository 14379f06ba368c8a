"""What becomes of a definition that is not going: which names it has, and whether it is served for good."""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Any

from hardpoint.apiserver.custom import approval, conditions, names

Json = dict[str, Any]


def judged(definition: Json, others: Iterable[Json], now: str) -> Json:
    """The definition with a status of its own that says what becomes of it, given the others of its group."""
    accepted, condition = names.accept(definition, others)
    new = {**definition, "status": {**deepcopy(definition.get("status") or {}), "acceptedNames": accepted}}
    conditions.put(new, condition, now)
    if not conditions.is_true(definition, "Established"):
        established = conditions.established(definition) if condition.status == "True" else conditions.NOT_ACCEPTED
        conditions.put(new, established, now)
    approved = approval.condition(definition)
    if approved is not None:
        conditions.put(new, approved, now)
    return new


def is_settled(definition: Json) -> bool:
    """Whether there is nothing to judge: it has all names it asks for, is established, and all that is written down."""
    accepted = (definition.get("status") or {}).get("acceptedNames")
    return (
        conditions.is_true(definition, "Established")
        and conditions.is_true(definition, "NamesAccepted")
        and accepted == names.as_go(definition["spec"]["names"])
        and approval.is_told(definition)
    )
