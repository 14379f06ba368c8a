"""What a namespace on its way out tells about it: five conditions, in Kubernetes' words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]

_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}
"""Each condition's reason and message while it is False, in the order they are listed."""


@dataclass(slots=True)
class Findings:
    """What one attempt to empty a namespace found out."""

    undiscovered: str = ""
    """Why not every resource could be discovered."""
    failures: list[str] = field(default_factory=list)
    """What went wrong, a sentence a resource."""
    remaining: Counter[str] = field(default_factory=Counter)
    """How many objects are left, by `plural.group`."""
    finalizers: Counter[str] = field(default_factory=Counter)
    """How many of them each finalizer holds."""
    estimate_seconds: float = 0.0
    """When it is worth looking again, if nothing happens before; 0 means that nobody knows."""

    @property
    def is_empty(self) -> bool:
        return not (self.undiscovered or self.failures or self.remaining)

    def add_remaining(self, kind: Kind, items: Iterable[Json]) -> None:
        for item in items:
            # The dot stays where there is no group, as in "pods. has 2 resource instances".
            self.remaining[f"{kind.plural}.{kind.group}"] += 1
            self.finalizers.update(item["metadata"].get("finalizers") or ())

    def problems(self) -> dict[str, tuple[str, str]]:
        """The conditions that are True: their reasons and messages."""
        found: dict[str, tuple[str, str]] = {}
        if self.undiscovered:
            found["NamespaceDeletionDiscoveryFailure"] = ("DiscoveryFailed", self.undiscovered)
        if self.failures:
            told = ", ".join(sorted(self.failures))
            message = f"Failed to delete all resource types, {len(self.failures)} remaining: {told}"
            found["NamespaceDeletionContentFailure"] = ("ContentDeletionFailed", message)
        if self.remaining:
            told = ", ".join(sorted(f"{name} has {count} resource instances" for name, count in self.remaining.items()))
            found["NamespaceContentRemaining"] = ("SomeResourcesRemain", f"Some resources are remaining: {told}")
        if self.finalizers:
            told = ", ".join(sorted(f"{name} in {count} resource instances" for name, count in self.finalizers.items()))
            message = f"Some content in the namespace has finalizers remaining: {told}"
            found["NamespaceFinalizersRemaining"] = ("SomeFinalizersRemain", message)
        return found


def conditions_after(before: list[Json], findings: Findings, now: str) -> list[Json]:
    """A namespace's conditions after an attempt. Those that say nothing new stay as they are, as do others' own."""
    problems = findings.problems()
    kept = {condition["type"]: condition for condition in before}
    for name, fine in _FINE.items():
        reason, message = problems.get(name, fine)
        status = "True" if name in problems else "False"
        old = kept.get(name, {})
        since = old.get("lastTransitionTime", now) if old.get("status") == status else now
        told = {"type": name, "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
        kept[name] = {**old, **told}
    return list(kept.values())
