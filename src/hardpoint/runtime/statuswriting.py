"""Writing a status: the difference only, conditional on what it was decided on, so that nothing of others is lost.

A merge patch tells exactly which fields changed, and the resourceVersion in it has the server refuse it when somebody
was faster. Then the newest status is asked for: where they wrote other fields, or other conditions, both are kept;
where they wrote the same field, the Conflict stands, and the object is to be looked at again. Server-side apply would
not do: its manager must say all it ever said each time, and lists without a key would still be lost.
"""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.errors import ApiError, HardpointError
from hardpoint.machinery.mergepatch import difference
from hardpoint.runtime import conditions
from hardpoint.runtime.objectwriting import TRIES_MAX, ObjectWriter, kind_of

Json = dict[str, Any]


class NoStatus(HardpointError):
    """The resource has no status subresource, so nobody can write one."""


async def write_status(writer: ObjectWriter, seen: Json, patch: Json) -> Json | None:
    """Merge `patch` into the status of the object that was `seen`, and return it; None if it is gone.

    Raises ApiError, among them 409 if somebody else wrote the same fields, and NoStatus.
    """
    base = seen.get("status") or {}
    live = seen
    for tries_left in reversed(range(TRIES_MAX)):
        try:
            return await writer.patch(live, {"status": patch}, subresource="status")
        except ApiError as refused:
            if refused.code == 404:
                await _check_served(writer, seen)
                return None
            if refused.code != 409 or not tries_left:
                raise
            newest = await writer.newest(seen)
            if newest is None:
                return None
            rebased = rebase(base, patch, newest.get("status") or {})
            if rebased is None:
                raise
            live, base, patch = newest, newest.get("status") or {}, rebased
    raise AssertionError("the last try returns or raises")


def rebase(base: Json, patch: Json, theirs: Json) -> Json | None:
    """What `patch`, made for `base`, is for `theirs`; None if both changed one field in different ways."""
    their_patch = difference(base, theirs)
    rebased = dict(patch)
    ours, others = patch.get("conditions"), theirs.get("conditions")
    if isinstance(ours, list) and isinstance(others, list) and "conditions" in their_patch:
        both = conditions.merged(base.get("conditions") or [], ours, others)
        if both is None:
            return None
        rebased["conditions"] = both
        del their_patch["conditions"]
    return None if _collide(rebased, their_patch) else rebased


def _collide(ours: Json, theirs: Json) -> bool:
    waiting = [(ours, theirs)]
    while waiting:
        mine, other = waiting.pop()
        for key in mine.keys() & other.keys():
            if isinstance(mine[key], dict) and isinstance(other[key], dict):
                waiting.append((mine[key], other[key]))
            elif mine[key] != other[key]:
                return True
    return False


async def _check_served(writer: ObjectWriter, seen: Json) -> None:
    """Servers answer alike for an object that is gone and for a status that is not served. Raises NoStatus."""
    kind = await writer.client.discovery.find(kind_of(seen))
    if kind.subresource("status") is None:
        raise NoStatus(
            f"{kind_of(seen)} has no status subresource; give its class a Status, or its CRD subresources.status"
        )
