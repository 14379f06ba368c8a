"""The words of a controller: `from hardpoint.controller import Context, Requeue`."""

from hardpoint.seams.controller.contract import Permanent, Requeue
from hardpoint.seams.controller.guest.context import Context
from hardpoint.seams.controller.guest.declared import Watch
from hardpoint.seams.controller.guest.handlers.changed import Changed
from hardpoint.seams.controller.guest.plain import PlainContext
from hardpoint.seams.controller.guest.predicates import (
    Predicate,
    annotations_changed,
    any_of,
    generation_changed,
    labels_changed,
)

__all__ = [
    "Changed",
    "Context",
    "Permanent",
    "PlainContext",
    "Predicate",
    "Requeue",
    "Watch",
    "annotations_changed",
    "any_of",
    "generation_changed",
    "labels_changed",
]
