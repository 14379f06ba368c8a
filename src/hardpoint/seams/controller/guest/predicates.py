"""Which updates of its own resource a controller wants to hear of: `@app.controller(CronTab, when=generation_changed)`.

A predicate is a function of the object before and after an update. Creations and deletions are always heard of, and
so is what begins a deletion: no predicate can keep a finalizer from being looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Json = dict[str, Any]

Predicate: TypeAlias = Callable[[Any, Any], bool]


class MetadataPredicate:
    """A predicate that looks at metadata only, and so needs no typed objects."""

    __slots__ = ("field",)

    def __init__(self, field: str) -> None:
        self.field = field

    def __call__(self, old: Any, new: Any) -> bool:
        """For objects as functions get them."""
        return bool(getattr(old.metadata, self.field, None) != getattr(new.metadata, self.field, None))

    def differs(self, old: Json, new: Json) -> bool:
        """For objects as the server sends them."""
        return bool(old["metadata"].get(self.field) != new["metadata"].get(self.field))

    def __repr__(self) -> str:
        return f"{self.field}_changed"


generation_changed = MetadataPredicate("generation")
"""The spec changed: a status that is a subresource, labels and annotations do not count."""
labels_changed = MetadataPredicate("labels")
annotations_changed = MetadataPredicate("annotations")


def any_of(*predicates: Predicate) -> Predicate:
    """Holds if one of them does."""
    return lambda old, new: any(predicate(old, new) for predicate in predicates)
