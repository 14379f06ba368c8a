"""One handler: a function, what it is called for, and for which objects. Checked when its file is loaded."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, overload

from hardpoint.machinery.errors import HardpointError
from hardpoint.machinery.selectors import Selector, parse
from hardpoint.runtime.authored import Authored
from hardpoint.runtime.workqueue import BACKOFF_SECONDS_MAX, Waits
from hardpoint.seams.controller.contract import Requeue
from hardpoint.seams.controller.guest.calling import Calls
from hardpoint.seams.controller.guest.context import Context
from hardpoint.seams.controller.guest.declared import Named, What, named
from hardpoint.seams.controller.guest.handlers.changed import Changed
from hardpoint.seams.controller.guest.handlers.essence import Path
from hardpoint.seams.controller.guest.outcome import copied
from hardpoint.seams.controller.guest.plain import PlainContext

Json = dict[str, Any]
T = TypeVar("T")

Kind = Literal["create", "update", "delete", "event", "timer", "daemon"]
When: TypeAlias = Callable[[Any], bool]

AsyncHandler: TypeAlias = Callable[[T, Context], Awaitable[Requeue | None]]
PlainHandler: TypeAlias = Callable[[T, PlainContext], Requeue | None]
AsyncChangeHandler: TypeAlias = Callable[[T, Changed, Context], Awaitable[Requeue | None]]
PlainChangeHandler: TypeAlias = Callable[[T, Changed, PlainContext], Requeue | None]

BACKOFF_SECONDS = 1.0
DECORATORS: dict[Kind, str] = {
    "create": "@app.on_create",
    "update": "@app.on_update",
    "delete": "@app.on_delete",
    "event": "@app.on_event",
    "timer": "@app.timer",
    "daemon": "@app.daemon",
}
_MAY_TAKE_CHANGE = frozenset({"update", "event"})

log = logging.getLogger(__name__)


class Handles(Protocol[T]):
    """What `@app.on_create(...)` and the like put on a function: it is returned as it was."""

    @overload
    def __call__(self, function: AsyncHandler[T], /) -> AsyncHandler[T]: ...
    @overload
    def __call__(self, function: PlainHandler[T], /) -> PlainHandler[T]: ...


class HandlesChanges(Protocol[T]):
    """The same for functions that may take the change as well."""

    @overload
    def __call__(self, function: AsyncHandler[T], /) -> AsyncHandler[T]: ...
    @overload
    def __call__(self, function: PlainHandler[T], /) -> PlainHandler[T]: ...
    @overload
    def __call__(self, function: AsyncChangeHandler[T], /) -> AsyncChangeHandler[T]: ...
    @overload
    def __call__(self, function: PlainChangeHandler[T], /) -> PlainChangeHandler[T]: ...


class Stays(Protocol[T]):
    """What `@app.daemon(...)` puts on a function, which has to be async: nothing else can be cancelled."""

    def __call__(self, function: AsyncHandler[T], /) -> AsyncHandler[T]: ...


class HandlerOptions(TypedDict, total=False):
    """What any handler may declare."""

    name: str
    """What progress is remembered under; without it, the function's name."""
    when: When | None
    """A function of the object: whether it concerns the handler."""
    label_selector: str
    """Which objects concern it, as kubectl writes it."""
    timeout_seconds: float | None
    """How long one call may take."""
    owns: Sequence[What]
    """What it makes."""
    reads: Sequence[What]
    """What it reads through its context."""


class RetryOptions(HandlerOptions, total=False):
    """What handlers of creations, updates and deletions may declare."""

    retries: int | None
    """How often it is tried; then it has failed for good. Without it, until it works."""
    backoff_seconds: float
    """How long to wait after the first failure; twice as long after each one more, up to five minutes."""


_KNOWN: dict[Kind, type[HandlerOptions]] = {
    "create": RetryOptions,
    "update": RetryOptions,
    "delete": RetryOptions,
    "event": HandlerOptions,
    "timer": HandlerOptions,
    "daemon": HandlerOptions,
}


@dataclass(frozen=True, slots=True, eq=False)
class Handler:
    """A function and all that was declared of it."""

    kind: Kind
    function: Authored[Requeue | None]
    resource: Named
    id: str
    """What progress calls it."""
    path: Path
    takes_change: bool
    every_seconds: float
    idle_seconds: float
    selector: Selector
    when: When | None
    retries: int | None
    timeout_seconds: float | None
    waits: Waits
    owns: tuple[Named, ...]
    reads: tuple[Named, ...]

    @property
    def field(self) -> str:
        return ".".join(self.path)

    async def call(self, calls: Calls, seen: Json, *given: Any) -> float | None:
        """Call the function; in how many seconds it wants to be called again. Raises what it raises."""
        return await calls(self.function, self.resource, seen, *given, timeout_seconds=self.timeout_seconds)

    def concerns(self, body: Json) -> bool:
        """Whether the handler is for this object."""
        if not self.selector.matches(body["metadata"].get("labels") or {}):
            return False
        if self.when is None:
            return True
        try:
            shown = self.resource.model.from_json(copied(body))
        except ValueError:
            return True  # Whoever is called next says what is wrong with it.
        try:
            return bool(self.when(shown))
        except Exception:  # It is the author's; a call too many does less harm than one too few.
            log.exception("when= failed", extra={"handler": self.id})
            return True


def handler(
    kind: Kind,
    function: Callable[..., Any],
    what: What,
    options: RetryOptions,
    *,
    field: str | Sequence[str] = "",
    every: float = 0.0,
    idle: float = 0.0,
) -> Handler:
    """The handler that a decorator makes of a function. Raises ConfigError, with the function's line."""
    authored: Authored[Requeue | None] = Authored(DECORATORS[kind], function)
    takes_change = _takes_change(kind, authored)
    try:
        _check(kind, options, every, idle)
        path = _path(field)
        return Handler(
            kind=kind,
            function=authored,
            resource=named(what),
            id=" ".join(filter(None, (kind, options.get("name") or _name_of(authored), ".".join(path)))),
            path=path,
            takes_change=takes_change,
            every_seconds=every,
            idle_seconds=idle,
            selector=parse(options.get("label_selector", "")),
            when=options.get("when"),
            retries=options.get("retries"),
            timeout_seconds=options.get("timeout_seconds"),
            waits=Waits(options.get("backoff_seconds", BACKOFF_SECONDS), BACKOFF_SECONDS_MAX),
            owns=tuple(named(each) for each in options.get("owns", ())),
            reads=tuple(named(each) for each in options.get("reads", ())),
        )
    except (ValueError, HardpointError) as wrong:
        raise authored.wrong(f"cannot be a handler: {wrong}") from wrong


def _takes_change(kind: Kind, function: Authored[Any]) -> bool:
    if kind == "daemon" and not function.is_async:
        raise function.wrong("must be an async function: it is cancelled when the object goes")
    if function.takes("object", "context"):
        return False
    if kind not in _MAY_TAKE_CHANGE:
        raise function.wrong("must take two arguments, the object and the context")
    if not function.takes("object", "change", "context"):
        raise function.wrong("must take the object and the context, or the object, the change and the context")
    return True


def _check(kind: Kind, options: RetryOptions, every: float, idle: float) -> None:
    known = _KNOWN[kind]
    if unknown := ", ".join(f"{option}=" for option in options if option not in known.__annotations__):
        raise ValueError(f"it takes no {unknown}; it may take {', '.join(known.__annotations__)}")
    positive = {name: options.get(name) for name in ("retries", "timeout_seconds", "backoff_seconds")}
    if kind == "timer":
        positive["every"] = every
    for name, value in positive.items():
        if value is not None and not (isinstance(value, int | float) and value > 0):
            raise ValueError(f"{name}={value!r} must be a number, more than 0")
    if not (isinstance(idle, int | float) and idle >= 0):
        raise ValueError(f"idle={idle!r} must be a number, at least 0")
    if options.get("when") is not None and not callable(options["when"]):
        raise ValueError(f"when={options['when']!r} must be a function of the object")


def _path(field: str | Sequence[str]) -> Path:
    steps = tuple(field.split(".") if isinstance(field, str) and field else field)
    if not all(isinstance(step, str) and step and step == step.strip() for step in steps):
        raise ValueError(f"field={field!r} must be a path such as 'spec.image', or a list of its steps")
    return steps


def _name_of(function: Authored[Any]) -> str:
    return function.name.rpartition(".")[2]
