"""The author's side: a function that makes the world look like an object.

    @app.controller(CronTab, owns=["batch/v1 Job"])
    async def run_on_time(tab: CronTab, ctx: Context) -> Requeue | None:
        await ctx.apply(job_for(tab))

Here is what a controller declares, checked when its file is loaded; `work.py` puts it to work.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypedDict, TypeVar, Unpack, overload

from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.selectors import parse
from hardpoint.runtime.authored import Authored
from hardpoint.runtime.environment import Environment
from hardpoint.runtime.informer import Informer
from hardpoint.seams.controller.contract import Requeue
from hardpoint.seams.controller.guest.context import Context, Equipment
from hardpoint.seams.controller.guest.declared import Watch, What, named
from hardpoint.seams.controller.guest.follower import DOMAIN, WORKERS, Follower, Looks
from hardpoint.seams.controller.guest.plain import PlainContext
from hardpoint.seams.controller.guest.predicates import Predicate
from hardpoint.seams.controller.guest.reconciling import Reconciling

T = TypeVar("T")

AsyncFunction: TypeAlias = Callable[[T, Context], Awaitable[Requeue | None]]
PlainFunction: TypeAlias = Callable[[T, PlainContext], Requeue | None]
Function: TypeAlias = AsyncFunction[T] | PlainFunction[T]
"""What an author writes, for objects that are shown as T."""

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Registering(Protocol[T]):
    """What `@app.controller(...)` puts on a function: it is returned as it was."""

    @overload
    def __call__(self, function: AsyncFunction[T], /) -> AsyncFunction[T]: ...
    @overload
    def __call__(self, function: PlainFunction[T], /) -> PlainFunction[T]: ...


class ControllerOptions(TypedDict, total=False):
    """What a controller may declare besides its resource and its functions."""

    owns: Sequence[What]
    """What it makes: a change of an object wakes the one that is its controller."""
    watches: Sequence[Watch]
    """What else concerns it."""
    reads: Sequence[What]
    """What it reads through its context, and is not woken by."""
    when: Predicate | None
    """Which updates of its own resource count; without it, all of them."""
    workers: int
    """How many objects are looked at at once. One object never is, twice."""
    namespace: str | None
    """Where it looks; without it, where the process does: `hardpoint run -n`, or everywhere."""
    label_selector: str
    field_selector: str
    """Which objects of its own resource it looks at, as kubectl writes it."""
    name: str
    """What logs and metrics call it; without it, the function's name."""
    resync_seconds: float | None
    """How often every object is looked at though nothing happened: for what is outside of the cluster."""
    timeout_seconds: float | None
    """How long one call may take."""


class ControllerGuest(Follower):
    """A reconcile function and all that was declared of it."""

    def __init__(
        self,
        app: str,
        function: Function[Any],
        what: What,
        *,
        finalize: Function[Any] | None = None,
        **options: Unpack[ControllerOptions],
    ) -> None:
        """Raises ConfigError, with the function's line."""
        self.app = app
        self.function = _authored("@app.controller", function)
        self.finalize = None if finalize is None else _authored("finalize=", finalize)
        self.name = options.get("name") or _name_of(self.function)
        self.when = options.get("when")
        self.workers = options.get("workers", WORKERS)
        self.namespace = options.get("namespace")
        self.label_selector = options.get("label_selector", "")
        self.field_selector = options.get("field_selector", "")
        self.resync_seconds = options.get("resync_seconds")
        self.timeout_seconds = options.get("timeout_seconds")
        unknown = ", ".join(f"{option}=" for option in options if option not in ControllerOptions.__annotations__)
        if unknown:
            raise self.function.wrong(f"takes no {unknown}; it may take {', '.join(ControllerOptions.__annotations__)}")
        try:
            self.resource = named(what)
            self.owns = tuple(named(each) for each in options.get("owns", ()))
            self.watches = tuple((named(watch.what), watch.to) for watch in _all_watches(options.get("watches", ())))
            self.reads = tuple(named(each) for each in options.get("reads", ()))
            self._check()
        except (ValueError, HardpointError) as wrong:
            raise self.function.wrong(f"cannot be a controller: {wrong}") from wrong

    @property
    def finalizer(self) -> str:
        """What an object carries until `finalize` is done with it; "" for none."""
        return f"{self.app}.{self.resource.group or DOMAIN}/finalizer" if self.finalize is not None else ""

    @property
    def followed_labels(self) -> str:
        """Which objects are followed. Who cleans up follows all: one that is selected no longer is to be let go."""
        return "" if self.finalize is not None else self.label_selector

    def looks(self, equipment: Equipment, primary: Informer, environment: Environment) -> Looks:
        return Looks(Reconciling(self, equipment, primary, environment.now))

    def _check(self) -> None:
        parse(self.label_selector)
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"its name {self.name!r} must be lower-case letters, digits and dashes; give it a name=")
        if self.workers < 1:
            raise ValueError(f"workers={self.workers} must be at least 1")
        if self.when is not None and not callable(self.when):
            raise ValueError(f"when={self.when!r} must be a function of the object before and after an update")
        for option in ("resync_seconds", "timeout_seconds"):
            seconds = getattr(self, option)
            if seconds is not None and seconds <= 0:
                raise ValueError(f"{option}={seconds:g} must be more than 0")


def _authored(decorator: str, function: Function[Any]) -> Authored[Requeue | None]:
    authored: Authored[Requeue | None] = Authored(decorator, function)
    if not authored.takes("object", "context"):
        raise authored.wrong("must take two arguments, the object and the context")
    return authored


def _name_of(function: Authored[Any]) -> str:
    return function.name.rpartition(".")[2].strip("_").replace("_", "-").lower()


def _all_watches(watches: Sequence[Watch]) -> Sequence[Watch]:
    for watch in watches:
        if not isinstance(watch, Watch):
            raise ValueError(f"{watch!r} in watches= must be a Watch: Watch('v1 ConfigMap', to=function)")
        if not callable(watch.to):
            raise ValueError(f"to={watch.to!r} must be a function that names the objects a change concerns")
    return watches
