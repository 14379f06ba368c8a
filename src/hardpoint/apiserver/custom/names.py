"""Which of the names that a definition asks for it gets: those that no other definition of its group has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hardpoint.apiserver.custom.conditions import NAMES_ACCEPTED, Condition
from hardpoint.machinery.fielderrors import quote

Json = dict[str, Any]

_RESOURCES = ("plural", "singular")
_KINDS = ("kind", "listKind")
_REASONS = {
    "plural": "PluralConflict",
    "singular": "SingularConflict",
    "shortNames": "ShortNamesConflict",
    "kind": "KindConflict",
    "listKind": "ListKindConflict",
}


def accept(definition: Json, others: Iterable[Json]) -> tuple[Json, Condition]:
    """The names a definition has from now on, and whether they are all it asked for.

    What it already has stays its own; of several conflicts the last one is told.
    """
    asked: Json = definition["spec"]["names"]
    own: Json = (definition.get("status") or {}).get("acceptedNames") or {}
    resources, kinds = _taken(others)
    accepted = {**own, "categories": asked.get("categories")}
    condition = NAMES_ACCEPTED
    for field in ("plural", "singular", "shortNames", "kind", "listKind"):
        taken = kinds if field in _KINDS else resources
        conflicts = _conflicts(asked.get(field), own.get(field), taken)
        if conflicts:
            condition = Condition("NamesAccepted", "False", _REASONS[field], _told(conflicts))
        else:
            accepted[field] = asked.get(field)
    return as_go(accepted), condition


def _taken(others: Iterable[Json]) -> tuple[set[str], set[str]]:
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources |= {names.get(field, "") for field in _RESOURCES} | set(names.get("shortNames") or ())
        kinds |= {names.get(field, "") for field in _KINDS}
    return resources, kinds


def _conflicts(asked: Any, own: Any, taken: set[str]) -> list[str]:
    """The names among those asked for that somebody else has."""
    wanted = asked if isinstance(asked, list) else [asked or ""]
    kept = own if isinstance(own, list) else [own or ""]
    return [name for name in wanted if name and name not in kept and name in taken]


def _told(conflicts: list[str]) -> str:
    sentences = [f"{quote(name)} is already in use" for name in dict.fromkeys(conflicts)]
    return sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"


def as_go(names: Json) -> Json:
    """As Go writes them: plural and kind always, the rest where there is any."""
    fields = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
    always = {"plural": "", "kind": ""}
    return {field: names.get(field) or always[field] for field in fields if names.get(field) or field in always}
