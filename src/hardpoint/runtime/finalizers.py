"""Finalizers: the name an object carries for as long as somebody has to clean up after it.

Both ways are conditional on the list that was seen, so nobody else's finalizer is lost; and both are done again on the
newest list when it was not the newest, so that a restart or a race costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hardpoint.machinery.errors import ApiError
from hardpoint.runtime.objectwriting import TRIES_MAX, ObjectWriter

Json = dict[str, Any]


def has_finalizer(body: Json, name: str) -> bool:
    return name in (body["metadata"].get("finalizers") or ())


def is_deleted(body: Json) -> bool:
    """Whether somebody deleted it; it lives on until its finalizers are gone."""
    return "deletionTimestamp" in body["metadata"]


async def add_finalizer(writer: ObjectWriter, seen: Json, name: str) -> Json | None:
    """The object with the finalizer; None if it was deleted before it got one."""
    return await _change(writer, seen, lambda body: _with(body, name))


async def drop_finalizer(writer: ObjectWriter, seen: Json, name: str) -> None:
    """Take the finalizer off. An object that lost it already, or is gone, is as it should be."""
    await _change(writer, seen, lambda body: _without(body, name))


async def _change(writer: ObjectWriter, seen: Json, wanted: Callable[[Json], list[str] | None]) -> Json | None:
    """Write the wanted list, on the newest object; None where there is none to write, or nothing to write it on."""
    for tries_left in reversed(range(TRIES_MAX)):
        finalizers = wanted(seen)
        if finalizers is None:
            return None
        try:
            return await writer.patch(seen, {"metadata": {"finalizers": finalizers}})
        except ApiError as refused:
            if refused.code == 404:
                return None
            if refused.code != 409 or not tries_left:
                raise
        newest = await writer.newest(seen)
        if newest is None:
            return None
        seen = newest
    raise AssertionError("the last try returns or raises")


def _with(body: Json, name: str) -> list[str] | None:
    """A deleted object gets no more finalizers; the server would refuse it."""
    if is_deleted(body):
        return None
    return [*dict.fromkeys((*(body["metadata"].get("finalizers") or ()), name))]


def _without(body: Json, name: str) -> list[str] | None:
    if not has_finalizer(body, name):
        return None
    return [known for known in body["metadata"]["finalizers"] if known != name]
