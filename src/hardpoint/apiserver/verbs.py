"""Which function answers which verb, on objects and on their subresources.

Functions are named here and imported when they are first needed: a server that has just started is asked for little,
and everything a create needs is half of the code. `load` imports the rest when there is time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib import import_module

from hardpoint.apiserver import connect
from hardpoint.apiserver.call import Call
from hardpoint.apiserver.traits import VIRTUAL
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import Response

Verb = Callable[[Call], Awaitable[Response]]

_OBJECT: Mapping[str, str] = {
    "create": "create.create",
    "delete": "delete.delete",
    "deletecollection": "delete.delete_collection",
    "get": "get.get",
    "list": "list.list_",
    "patch": "patch.patch",
    "update": "update.update",
    "watch": "watch.watch",
}
_PART: Mapping[str, str] = {"get": "get.get", "patch": "patch.patch", "update": "update.update"}
_SUBRESOURCES: Mapping[str, Mapping[str, str]] = {
    "approval": _PART,
    "binding": {"create": "binding.bind"},
    "ephemeralcontainers": _PART,
    "eviction": {"create": "eviction.evict"},
    "finalize": {"update": "update.update"},
    "resize": _PART,
    "scale": {"get": "scale.get_scale", "patch": "scale.patch_scale", "update": "scale.update_scale"},
    "status": _PART,
    "token": {"create": "tokenrequest.create"},
}
_BIND_BY_BODY = "binding.bind_by_body"
_REVIEW = "reviews.answering.review"


def find(kind: Kind, subresource: str, verb: str) -> Verb | None:
    """The function for a verb, or None where this server has none."""
    if subresource in connect.SUBRESOURCES:
        return connect.connect
    if subresource:
        name = _SUBRESOURCES.get(subresource, {}).get(verb)
    elif kind.known_as == "Binding":
        name = _BIND_BY_BODY
    elif kind.known_as in VIRTUAL:
        name = _REVIEW
    else:
        name = _OBJECT.get(verb)
    return _function(name) if name else None


@cache
def _function(name: str) -> Verb:
    module, _, function = name.rpartition(".")
    found: Verb = getattr(import_module(f"hardpoint.apiserver.{module}"), function)
    return found


def load() -> None:
    """Import every verb, so that nobody waits for it."""
    parts = [name for verbs in _SUBRESOURCES.values() for name in verbs.values()]
    for name in (*_OBJECT.values(), *parts, _BIND_BY_BODY, _REVIEW):
        _function(name)
