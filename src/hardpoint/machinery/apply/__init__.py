"""Server-side apply: who manages which field of an object, and how many managers' wishes become one object.

    tracker = Tracker(Updater(versions, "apps/v1", keep))
    tracker.track(live, new, "kubectl-edit", now)                      # after any write: fills metadata.managedFields
    new = tracker.apply(live, config, "my-operator", now, force=False) # Conflicts tells who minds

`types` says what apply must know about a kind, and `shapetypes` and `schematypes` find it out; `fieldsets` are the
sets of paths that managedFields holds; `updater` has the rules. Nothing here asks a clock or knows a server.
"""

from hardpoint.machinery.apply.checking import Unfit
from hardpoint.machinery.apply.conflicts import Conflicts
from hardpoint.machinery.apply.fieldsets import FieldSet
from hardpoint.machinery.apply.items import BadItem
from hardpoint.machinery.apply.schematypes import of_schema
from hardpoint.machinery.apply.shapetypes import of_shape
from hardpoint.machinery.apply.tracking import Tracker
from hardpoint.machinery.apply.types import Type
from hardpoint.machinery.apply.updater import Updater, Versions

__all__ = [
    "BadItem",
    "Conflicts",
    "FieldSet",
    "Tracker",
    "Type",
    "Unfit",
    "Updater",
    "Versions",
    "of_schema",
    "of_shape",
]
