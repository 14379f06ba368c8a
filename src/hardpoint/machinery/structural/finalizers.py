"""What is unwise in the finalizers of a custom resource. A built-in kind refuses them; here they are warned about."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery import names
from hardpoint.machinery.fielderrors import quote
from hardpoint.machinery.validation.metadata import STANDARD_FINALIZERS

Json = dict[str, Any]

_WHERE = "metadata.finalizers"
_WHY = "to avoid accidental conflicts with other finalizer writers"


def warnings(obj: Json, old: Json | None = None) -> list[str]:
    """One sentence a problem with each finalizer that is new."""
    present = set(obj["metadata"].get("finalizers") or ())
    if not present:
        return []
    known = set((old or {}).get("metadata", {}).get("finalizers") or ())
    return [f"{_WHERE}: {quote(name)}: {told}" for name in sorted(present - known) for told in _unwise(name)]


def _unwise(name: str) -> list[str]:
    told = names.label_key(name)
    if "/" not in name and name not in STANDARD_FINALIZERS:
        path = " including a path (/)" if "." in name else ""
        told.append(f"prefer a domain-qualified finalizer name{path} {_WHY}")
    return told
