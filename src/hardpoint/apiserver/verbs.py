"""Which function answers which verb, on objects and on their subresources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from hardpoint.apiserver import connect
from hardpoint.apiserver.binding import bind, bind_by_body
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.create import create
from hardpoint.apiserver.delete import delete, delete_collection
from hardpoint.apiserver.eviction import evict
from hardpoint.apiserver.get import get
from hardpoint.apiserver.list import list_
from hardpoint.apiserver.patch import patch
from hardpoint.apiserver.reviews import review
from hardpoint.apiserver.scale import get_scale, patch_scale, update_scale
from hardpoint.apiserver.traits import VIRTUAL
from hardpoint.apiserver.update import update
from hardpoint.apiserver.watch import watch
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import Response

Verb = Callable[[Call], Awaitable[Response]]

_OBJECT: Mapping[str, Verb] = {
    "create": create,
    "delete": delete,
    "deletecollection": delete_collection,
    "get": get,
    "list": list_,
    "patch": patch,
    "update": update,
    "watch": watch,
}
_PART: Mapping[str, Verb] = {"get": get, "patch": patch, "update": update}
_SUBRESOURCES: Mapping[str, Mapping[str, Verb]] = {
    "approval": _PART,
    "binding": {"create": bind},
    "ephemeralcontainers": _PART,
    "eviction": {"create": evict},
    "finalize": {"update": update},
    "resize": _PART,
    "scale": {"get": get_scale, "patch": patch_scale, "update": update_scale},
    "status": _PART,
}


def find(kind: Kind, subresource: str, verb: str) -> Verb | None:
    """The function for a verb, or None where this server has none."""
    if subresource in connect.SUBRESOURCES:
        return connect.connect
    if subresource:
        return _SUBRESOURCES.get(subresource, {}).get(verb)
    if kind.kind == "Binding":
        return bind_by_body
    if kind.kind in VIRTUAL:
        return review
    return _OBJECT.get(verb)
