"""Conditions of a status: `Ready` is True since then, because of this. By the rules of Kubernetes' own API types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from hardpoint.machinery.timestamps import format_time

Json = dict[str, Any]

MESSAGE_CHARACTERS_MAX = 32768
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?")
_TYPE = re.compile(r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_STATUSES = {True: "True", False: "False", None: "Unknown"}


def condition(
    type_: str, status: bool | None, reason: str, message: str, *, now: datetime, generation: int | None
) -> Json:
    """A condition as it is now; `status` None means that nobody knows. Raises ValueError for what no server takes."""
    if not _TYPE.fullmatch(type_):
        raise ValueError(f"the condition type {type_!r} is none; write it like Ready or example.com/Ready")
    if not _REASON.fullmatch(reason):
        raise ValueError(f"the reason {reason!r} of {type_} must be one word in CamelCase, such as JobFailed")
    made = {
        "type": type_,
        "status": _STATUSES[status],
        "observedGeneration": generation,
        "lastTransitionTime": format_time(now),
        "reason": reason,
        "message": message[:MESSAGE_CHARACTERS_MAX],
    }
    if generation is None:
        del made["observedGeneration"]
    return made


def with_condition(conditions: Sequence[Json], new: Json) -> list[Json]:
    """The list with `new` in the place of its type, or at the end. What stays the same keeps its time."""
    kept = list(conditions)
    for place, old in enumerate(kept):
        if old.get("type") == new["type"]:
            if old.get("status") == new["status"]:
                new = {**new, "lastTransitionTime": old.get("lastTransitionTime") or new["lastTransitionTime"]}
            kept[place] = {**old, **new}
            return kept
    return [*kept, new]


def merged(base: Sequence[Json], ours: Sequence[Json], theirs: Sequence[Json]) -> list[Json] | None:
    """`theirs` with what changed from `base` to `ours`; None if both changed one condition in different ways."""
    before, mine, live = _by_type(base), _by_type(ours), _by_type(theirs)
    for name in dict.fromkeys((*before, *mine)):
        if mine.get(name) == before.get(name) or mine.get(name) == live.get(name):
            continue
        if live.get(name) != before.get(name):
            return None
        if name in mine:
            live[name] = mine[name]
        else:
            live.pop(name, None)
    return list(live.values())


def _by_type(conditions: Iterable[Json]) -> dict[str, Json]:
    return {condition.get("type", ""): condition for condition in conditions}
