"""Who follows the objects of a resource: what it declares, and what looks at them for it.

A controller is one, and so are all the handlers of a resource together. Here is what the rest of the house asks of
either: which resources it needs, in which roles, and how it is put to work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

from hardpoint.machinery.selectors import parse
from hardpoint.runtime.authored import Authored
from hardpoint.runtime.changes import Change, Key
from hardpoint.runtime.environment import Environment
from hardpoint.runtime.informer import Informer
from hardpoint.runtime.reconciler import Reconcile
from hardpoint.seams.controller.guest.context import Equipment
from hardpoint.seams.controller.guest.declared import Named, Where
from hardpoint.seams.controller.guest.indexing import IndexGuest
from hardpoint.seams.controller.guest.predicates import Predicate

Json = dict[str, Any]

WORKERS = 16
DOMAIN = "hardpoint.dev"
"""What finalizers and annotations on resources of the core group are called after."""


@dataclass(frozen=True, slots=True)
class Looks:
    """A follower at work."""

    reconcile: Reconcile
    """One look at one object."""
    hear: Callable[[Change], Iterable[Key]] | None = None
    """Whom a change of the resource itself concerns; without it, the object that changed."""
    beside: Callable[[], AbstractAsyncContextManager[object]] = nullcontext
    """Entered for as long as there are looks."""


class Follower(ABC):
    """What was declared for the objects of one resource. `function` is where errors say that was."""

    seam: ClassVar[str] = "controller"

    app: str
    name: str
    function: Authored[Any]
    resource: Named
    owns: tuple[Named, ...] = ()
    watches: tuple[tuple[Named, Callable[[Any], Iterable[Where]]], ...] = ()
    reads: tuple[Named, ...] = ()
    indexes: Mapping[str, IndexGuest] = {}
    """What `ctx.index` can be asked for: all indexes of the App."""
    when: Predicate | None = None
    workers: int = WORKERS
    namespace: str | None = None
    label_selector: str = ""
    field_selector: str = ""
    resync_seconds: float | None = None

    @property
    def followed_labels(self) -> str:
        """Which objects are followed."""
        return self.label_selector

    def selects(self, body: Json) -> bool:
        """Whether an object that is followed is one of those that were asked for."""
        return parse(self.label_selector).matches_object(body)

    @property
    @abstractmethod
    def finalizer(self) -> str:
        """What an object carries until it was cleaned up after; "" for none."""

    @property
    def writes_objects(self) -> bool:
        """Whether it writes something into the objects themselves, not only into their status."""
        return bool(self.finalizer)

    @property
    def declared(self) -> tuple[Named, ...]:
        """Every resource it reads."""
        watched = (resource for resource, _ in self.watches)
        indexed = (index.resource for index in self.indexes.values())
        return tuple(dict.fromkeys((self.resource, *self.owns, *watched, *self.reads, *indexed)))

    @abstractmethod
    def looks(self, equipment: Equipment, primary: Informer, environment: Environment) -> Looks:
        """What looks at the objects that `primary` has."""
