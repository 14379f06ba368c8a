"""The same context for plain functions, which run in threads: each call waits until the event loop has done it."""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from datetime import datetime
from typing import Any, Literal, TypeVar, overload

from hardpoint.client.options import Propagation
from hardpoint.machinery.models import Model
from hardpoint.machinery.objects import Object
from hardpoint.runtime.changes import Key
from hardpoint.seams.controller.guest.context import Context

M = TypeVar("M", bound=Model)
B = TypeVar("B")
R = TypeVar("R")
T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")


class PlainContext:
    """One call of a plain reconcile function. `Context` says what each method promises; none is to be awaited."""

    __slots__ = ("_context", "_loop")

    def __init__(self, context: Context, loop: asyncio.AbstractEventLoop) -> None:
        self._context = context
        self._loop = loop

    @property
    def key(self) -> Key:
        return self._context.key

    @property
    def now(self) -> datetime:
        return self._context.now

    @property
    def log(self) -> logging.Logger:
        return self._context.log

    def apply(self, body: B, *, owned: bool = True, force: bool = True) -> B:
        return self._wait(self._context.apply(body, owned=owned, force=force))

    def delete(self, body: Any, *, propagation: Propagation | None = None) -> None:
        self._wait(self._context.delete(body, propagation=propagation))

    @overload
    def get(self, what: type[M], name: str, *, namespace: str | None = None) -> M | None: ...
    @overload
    def get(self, what: str, name: str, *, namespace: str | None = None) -> Object | None: ...
    def get(self, what: Any, name: str, *, namespace: str | None = None) -> Any:
        return self._wait(self._context.get(what, name, namespace=namespace))

    @overload
    def list(self, what: type[M], *, namespace: str | None = None, label_selector: str = "") -> builtins.list[M]: ...
    @overload
    def list(self, what: str, *, namespace: str | None = None, label_selector: str = "") -> builtins.list[Object]: ...
    def list(self, what: Any, *, namespace: str | None = None, label_selector: str = "") -> Any:
        return self._wait(self._context.list(what, namespace=namespace, label_selector=label_selector))

    @overload
    def owned(self, what: type[M]) -> builtins.list[M]: ...
    @overload
    def owned(self, what: str) -> builtins.list[Object]: ...
    def owned(self, what: Any) -> Any:
        return self._wait(self._context.owned(what))

    @overload
    def index(self, function: Callable[[Any], Mapping[K, V] | None], key: K) -> builtins.list[V]: ...
    @overload
    def index(self, function: Callable[[T], str | Collection[K] | None], key: K | str) -> builtins.list[T]: ...
    def index(self, function: Callable[[Any], Any], key: Any) -> builtins.list[Any]:
        return self._wait(self._context.index(function, key))

    def event(
        self,
        type: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        *,
        about: Any = None,
        action: str = "",
    ) -> None:
        async def tell() -> None:
            self._context.event(type, reason, message, about=about, action=action)

        self._wait(tell())

    def condition(self, type: str, status: bool | None, reason: str, message: str = "") -> None:
        self._context.condition(type, status, reason, message)

    def _wait(self, answer: Coroutine[Any, Any, R]) -> R:
        return asyncio.run_coroutine_threadsafe(answer, self._loop).result()
