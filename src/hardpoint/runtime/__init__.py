"""What controllers are made of, ours and yours: informers, and queues of what to look at.

    informers = Informers(client)
    informer = informers.get("stable.example.com/v1 CronTab")

- `informers` shares an `informer` among all who follow the same; `changes` is what they are told, `cache` (over
  `cache_objects` and `indexes`) what they can read, `transforms` what is kept of an object.
- `workqueue` says what is looked at, when, and how often at once.

The names below are imported when they are first used: whoever wants only a queue does not pay for the rest.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hardpoint.runtime.changes import Change, Handler, Key
    from hardpoint.runtime.indexes import IndexFunction, by_controller_uid, by_label, by_owner_uid
    from hardpoint.runtime.informer import Informer
    from hardpoint.runtime.informers import Informers
    from hardpoint.runtime.transforms import (
        Transform,
        metadata_only,
        unchanged,
        without_bookkeeping,
        without_managed_fields,
    )
    from hardpoint.runtime.workqueue import LookAgain, Rate, Waits, WorkQueue
    from hardpoint.runtime.workqueue_metrics import QueueMetrics

__all__ = [
    "Change",
    "Handler",
    "IndexFunction",
    "Informer",
    "Informers",
    "Key",
    "LookAgain",
    "QueueMetrics",
    "Rate",
    "Transform",
    "Waits",
    "WorkQueue",
    "by_controller_uid",
    "by_label",
    "by_owner_uid",
    "metadata_only",
    "unchanged",
    "without_bookkeeping",
    "without_managed_fields",
]

_HOMES = {
    "changes": ("Change", "Handler", "Key"),
    "indexes": ("IndexFunction", "by_controller_uid", "by_label", "by_owner_uid"),
    "informer": ("Informer",),
    "informers": ("Informers",),
    "transforms": ("Transform", "metadata_only", "unchanged", "without_bookkeeping", "without_managed_fields"),
    "workqueue": ("LookAgain", "Rate", "Waits", "WorkQueue"),
    "workqueue_metrics": ("QueueMetrics",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
