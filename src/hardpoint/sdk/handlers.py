"""The decorators for what happens to objects: their creation, updates and deletion, and what runs while they live.

All handlers of a resource are one follower, made with the first of them. Which objects a handler is for, how often it
is tried and what is remembered is the seam's; here is what an author writes, and who belongs together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, Unpack, overload

from hardpoint.machinery.models import Model
from hardpoint.machinery.objects import Object
from hardpoint.seams.controller.guest.declared import What
from hardpoint.seams.controller.guest.follower import Follower
from hardpoint.seams.controller.guest.handlers.guest import HandlersGuest
from hardpoint.seams.controller.guest.handlers.handler import (
    Handler,
    HandlerOptions,
    Handles,
    HandlesChanges,
    Kind,
    RetryOptions,
    Stays,
    handler,
)
from hardpoint.seams.controller.guest.indexing import IndexGuest

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Model)


class Handlers:
    """The part of an App that is about handlers."""

    name: str
    controllers: dict[str, Follower]
    indexes: dict[str, IndexGuest]

    @overload
    def on_create(self, what: type[M], /, **options: Unpack[RetryOptions]) -> Handles[M]: ...
    @overload
    def on_create(self, what: str, /, **options: Unpack[RetryOptions]) -> Handles[Object]: ...
    def on_create(self, what: Any, /, **options: Unpack[RetryOptions]) -> Any:
        """A function that is called once for each new object of `what`, and for each that was there before it."""
        return self._handling("create", what, options)

    @overload
    def on_update(
        self, what: type[M], /, *, field: str | Sequence[str] = ..., **options: Unpack[RetryOptions]
    ) -> HandlesChanges[M]: ...
    @overload
    def on_update(
        self, what: str, /, *, field: str | Sequence[str] = ..., **options: Unpack[RetryOptions]
    ) -> HandlesChanges[Object]: ...
    def on_update(self, what: Any, /, *, field: str | Sequence[str] = "", **options: Unpack[RetryOptions]) -> Any:
        """A function that is called when a field changed since it was last called, such as `spec.image`.

        Without a field: when anything changed but the status, and metadata other than labels and annotations. With a
        second argument of three it is told from what to what.
        """
        return self._handling("update", what, options, field=field)

    @overload
    def on_delete(self, what: type[M], /, **options: Unpack[RetryOptions]) -> Handles[M]: ...
    @overload
    def on_delete(self, what: str, /, **options: Unpack[RetryOptions]) -> Handles[Object]: ...
    def on_delete(self, what: Any, /, **options: Unpack[RetryOptions]) -> Any:
        """A function that cleans up after an object, which stays until that is done."""
        return self._handling("delete", what, options)

    @overload
    def on_event(self, what: type[M], /, **options: Unpack[HandlerOptions]) -> HandlesChanges[M]: ...
    @overload
    def on_event(self, what: str, /, **options: Unpack[HandlerOptions]) -> HandlesChanges[Object]: ...
    def on_event(self, what: Any, /, **options: Unpack[HandlerOptions]) -> Any:
        """A function that is called for each change as the server tells it. Nothing is remembered or tried again."""
        return self._handling("event", what, options)

    @overload
    def timer(
        self, what: type[M], /, *, every: float, idle: float = ..., **options: Unpack[HandlerOptions]
    ) -> Handles[M]: ...
    @overload
    def timer(
        self, what: str, /, *, every: float, idle: float = ..., **options: Unpack[HandlerOptions]
    ) -> Handles[Object]: ...
    def timer(self, what: Any, /, *, every: float, idle: float = 0.0, **options: Unpack[HandlerOptions]) -> Any:
        """A function that is called `every` so many seconds for each object, if it did not change for `idle`."""
        return self._handling("timer", what, options, every=every, idle=idle)

    @overload
    def daemon(self, what: type[M], /, **options: Unpack[HandlerOptions]) -> Stays[M]: ...
    @overload
    def daemon(self, what: str, /, **options: Unpack[HandlerOptions]) -> Stays[Object]: ...
    def daemon(self, what: Any, /, **options: Unpack[HandlerOptions]) -> Any:
        """An async function that runs for as long as an object lives. It is cancelled before the object goes."""
        return self._handling("daemon", what, options)

    def index(self, what: What, /) -> Callable[[F], F]:
        """A plain function of an object: the keys that `ctx.index(function, key)` finds it under, or values by key."""

        def register(function: F) -> F:
            made = IndexGuest(self.name, function, what)
            there = self.indexes.get(made.name)
            if there is not None:
                raise made.function.wrong(f"has the name of the index at {there.function.place}")
            self.indexes[made.name] = made
            return function

        return register

    def _handling(self, kind: Kind, what: Any, options: Any, **about: Any) -> Any:
        def register(function: F) -> F:
            self._add(handler(kind, function, what, options, **about))
            return function

        return register

    def _add(self, made: Handler) -> None:
        resource = made.resource
        for there in self.controllers.values():
            if isinstance(there, HandlersGuest) and there.is_of(resource):
                there.add(made)
                return
        name = f"{resource.kind.lower()}-handlers"
        if name in self.controllers:
            name = "-".join((*resource.group.split("."), name))
        self.controllers[name] = HandlersGuest(self.name, name, made, self.indexes)
