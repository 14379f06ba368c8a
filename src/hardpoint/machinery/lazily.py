"""A property that is worked out once, when it is first asked for.

As functools' cached_property, whose lock before Python 3.12 is one for all objects of a class: whoever is asked for
something small would wait for a thread that works out something large. Here, two may work out the same at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazily(Generic[T]):  # noqa: N801  # it is used as `property` is
    def __init__(self, work_out: Callable[[Any], T]) -> None:
        self._work_out = work_out
        self.__doc__ = work_out.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazily[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazily[T] | T:
        if instance is None:
            return self
        found = instance.__dict__[self._name] = self._work_out(instance)
        return found
