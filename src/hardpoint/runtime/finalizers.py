"""Finalizers: the name an object carries for as long as somebody has to clean up after it.

Every change is conditional on the object that was seen, so nobody else's finalizer is lost; and it is made again on the
newest one when that was not the newest, so that a restart or a race costs nothing.
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
    return await change_metadata(writer, seen, lambda body: with_finalizer(body, name))


async def drop_finalizer(writer: ObjectWriter, seen: Json, name: str) -> None:
    """Take the finalizer off. An object that lost it already, or is gone, is as it should be."""
    await change_metadata(writer, seen, lambda body: _without(body, name))


async def change_metadata(writer: ObjectWriter, seen: Json, wanted: Callable[[Json], Json | None]) -> Json | None:
    """Merge what is wanted into the metadata of the newest object; None if nothing is, or there is no such object."""
    for tries_left in reversed(range(TRIES_MAX)):
        metadata = wanted(seen)
        if metadata is None:
            return None
        try:
            return await writer.patch(seen, {"metadata": metadata})
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


def with_finalizer(body: Json, name: str) -> Json | None:
    """The metadata to merge. A deleted object gets no more finalizers; the server would refuse it."""
    if is_deleted(body):
        return None
    return {"finalizers": [*dict.fromkeys((*(body["metadata"].get("finalizers") or ()), name))]}


def _without(body: Json, name: str) -> Json | None:
    if not has_finalizer(body, name):
        return None
    return {"finalizers": [known for known in body["metadata"]["finalizers"] if known != name]}
