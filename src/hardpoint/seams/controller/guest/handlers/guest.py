"""All the handlers of one resource: one follower with one queue, so that no two of them meet over an object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hardpoint.runtime.environment import Environment
from hardpoint.runtime.informer import Informer
from hardpoint.seams.controller.guest.context import Equipment
from hardpoint.seams.controller.guest.declared import Named
from hardpoint.seams.controller.guest.follower import DOMAIN, Follower, Looks
from hardpoint.seams.controller.guest.handlers.essence import ANNOTATION
from hardpoint.seams.controller.guest.handlers.handler import Handler, Kind
from hardpoint.seams.controller.guest.handlers.handling import Handling
from hardpoint.seams.controller.guest.indexing import IndexGuest

_REMEMBERING = ("create", "update")
_CLEANING = ("delete", "daemon")
"""What has to be over before an object may go."""


class HandlersGuest(Follower):
    """Handlers in the order of their registration."""

    def __init__(self, app: str, name: str, first: Handler, indexes: Mapping[str, IndexGuest]) -> None:
        self.app = app
        self.name = name
        self.function = first.function
        self.resource = first.resource
        self.indexes = indexes
        self.handlers: list[Handler] = []
        self.add(first)

    def is_of(self, resource: Named) -> bool:
        """Whether these are the handlers of a resource, be it of another version."""
        return (self.resource.group, self.resource.kind) == (resource.group, resource.kind)

    def add(self, handler: Handler) -> None:
        """Raises ConfigError for one that cannot be told from another, or would handle the same objects twice."""
        if handler.resource.title != self.resource.title:
            raise handler.function.wrong(
                f"is for {handler.resource.title}, and {self.function.place} for {self.resource.title}; an App "
                "handles one version of a kind"
            )
        same = next((there for there in self.handlers if there.id == handler.id), None)
        if same is not None:
            raise handler.function.wrong(f"has the name of the one at {same.function.place}; give it a name=")
        self.handlers.append(handler)
        self.owns = tuple(dict.fromkeys((*self.owns, *handler.owns)))
        self.reads = tuple(dict.fromkeys((*self.reads, *handler.reads)))

    def of(self, kind: Kind) -> Sequence[Handler]:
        return [handler for handler in self.handlers if handler.kind == kind]

    @property
    def prefix(self) -> str:
        """What this App's marks on the objects begin with."""
        return f"{self.app}.{self.resource.group or DOMAIN}"

    @property
    def cleaning(self) -> Sequence[Handler]:
        """The handlers that keep an object they are for until they are done with it."""
        return [handler for handler in self.handlers if handler.kind in _CLEANING]

    @property
    def finalizer(self) -> str:
        return f"{self.prefix}/handlers" if self.cleaning else ""

    @property
    def annotation(self) -> str:
        return f"{self.prefix}/{ANNOTATION}"

    @property
    def remembering(self) -> Sequence[Handler]:
        """The handlers whose progress is written on objects they are for."""
        return [handler for handler in self.handlers if handler.kind in _REMEMBERING]

    @property
    def writes_objects(self) -> bool:
        return bool(self.remembering or self.finalizer)

    def looks(self, equipment: Equipment, primary: Informer, environment: Environment) -> Looks:
        handling = Handling(self, equipment, primary, environment)
        return Looks(handling, handling.hear, handling.running)
