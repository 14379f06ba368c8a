"""What can be seen of a reconcile from outside: the fields of every log line inside it, and a span around it.

    with Reconciling("crontabs", key, kind="CronTab", attempts=2) as reconcile:
        ...
        reconcile.result = "requeue_after"

The fields have controller-runtime's names, and are on the author's own log lines too, since they follow the context.
Spans are OpenTelemetry's, if somebody in the process has imported it: whoever collects them has. Else there are none,
and they cost nothing. Requests inside a span are spans in it, see `telemetryrequests.py`.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar, Token
from random import getrandbits
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from hardpoint.machinery.uids import BITS, uid

if TYPE_CHECKING:
    from opentelemetry.trace import Span

LIBRARY = "hardpoint"


class Named(Protocol):
    """The key of an object."""

    @property
    def namespace(self) -> str: ...

    @property
    def name(self) -> str: ...


class Reconciling:
    """One reconcile. Everything logged inside it says so."""

    __slots__ = ("_id", "_outer", "_span", "_token", "attempts", "controller", "group", "key", "kind", "result")

    def __init__(self, controller: str, key: Named, *, group: str = "", kind: str = "", attempts: int = 0) -> None:
        """`attempts` is how often it has failed before."""
        self.controller = controller
        self.key = key
        self.group = group
        self.kind = kind
        self.attempts = attempts
        self.result = "success"
        """How it ended; whoever runs it says so. An exception makes it an error."""
        self._id = ""
        self._span: Span | None = None

    @property
    def id(self) -> str:
        """A name for this one reconcile; made when somebody asks."""
        if not self._id:
            self._id = uid(getrandbits(BITS))
        return self._id

    def fields(self) -> dict[str, Any]:
        """What log lines say, in controller-runtime's words."""
        namespace, name = self.key.namespace, self.key.name
        told: dict[str, Any] = {"controller": self.controller}
        if self.kind:
            told |= {"controllerGroup": self.group, "controllerKind": self.kind}
            told[self.kind] = {"name": name, "namespace": namespace} if namespace else {"name": name}
        return told | {"namespace": namespace, "name": name, "reconcileID": self.id}

    def __enter__(self) -> Self:
        self._outer: Token[Reconciling | None] = _current.set(self)
        if is_traced():
            self._start_span()
        return self

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, _: TracebackType | None) -> None:
        _current.reset(self._outer)
        if kind is not None:
            self.result = "error"
        if self._span is not None:
            self._end_span(raised)

    def _start_span(self) -> None:
        from opentelemetry import context, trace

        told: dict[str, str | int] = {
            "controller.name": self.controller,
            "reconcile.key": str(self.key),
            "reconcile.attempts": self.attempts,
            "reconcile.id": self.id,
        }
        self._span = trace.get_tracer(LIBRARY).start_span(f"reconcile {self.controller}", attributes=told)
        self._token = context.attach(trace.set_span_in_context(self._span))

    def _end_span(self, raised: BaseException | None) -> None:
        from opentelemetry import context
        from opentelemetry.trace import StatusCode

        assert self._span is not None
        context.detach(self._token)
        self._span.set_attribute("reconcile.result", self.result)
        if raised is not None:
            self._span.record_exception(raised)
        if self.result == "error":
            self._span.set_status(StatusCode.ERROR)
        self._span.end()


def log_fields() -> dict[str, Any]:
    """What a log line written now should say of the reconcile it is written in; nothing outside of one."""
    current = _current.get()
    return current.fields() if current is not None else {}


def is_traced() -> bool:
    """Whether anybody in this process uses OpenTelemetry: whoever collects spans has imported it."""
    return "opentelemetry.trace" in sys.modules


_current: ContextVar[Reconciling | None] = ContextVar("reconcile", default=None)
