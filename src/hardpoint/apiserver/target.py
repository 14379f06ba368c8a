"""What a URL asks for: a resource, or a path of the server's own.

Follows the rules of kube-apiserver's request info: `/api/<version>` and `/apis/<group>/<version>` lead to resources,
everything shorter and everything else is a path. Segments are split before they are decoded, so an encoded slash
never becomes a separator.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from hardpoint.machinery.remembering import remembered

VERBS = {
    "POST": "create",
    "GET": "get",
    "HEAD": "get",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
COLLECTION_VERBS = {"get": "list", "delete": "deletecollection"}
NAMESPACE_SUBRESOURCES = frozenset(("status", "finalize"))
_LONG_RUNNING_VERBS = frozenset(("watch", "proxy"))
_LONG_RUNNING_SUBRESOURCES = frozenset(("attach", "exec", "log", "portforward", "proxy"))


class Target(NamedTuple):
    """Where a request goes. `resource` is empty for a path of the server's own."""

    path: str
    group: str = ""
    version: str = ""
    resource: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()
    """What follows the subresource, for proxies."""
    watches: bool = False
    """The deprecated `/api/v1/watch/...` form."""


def verb_of(target: Target, method: str, *, watch: bool) -> str:
    """The API verb: create, get, list, watch, update, patch, delete, deletecollection; other methods lower-cased."""
    verb = VERBS.get(method)
    if verb is None or not target.resource:
        return method.lower()
    # An object is got, whatever its query says: only collections are watched, and the old form of a watch.
    if verb == "get" and (target.watches or (watch and not target.name)):
        return "watch"
    if not target.name:
        return COLLECTION_VERBS.get(verb, verb)
    return verb


def runs_long(target: Target, verb: str) -> bool:
    """Whether a request may take as long as it likes: watches, logs, and whatever is connected through."""
    return verb in _LONG_RUNNING_VERBS or target.subresource in _LONG_RUNNING_SUBRESOURCES


@remembered(count=8192)
def parse(path: str) -> Target:
    """The target of a percent-encoded path."""
    # Only one slash leads; more may follow.
    raw = path.removeprefix("/").rstrip("/").split("/")
    segments = [unquote(part) if "%" in part else part for part in raw]
    if segments[0] == "api" and len(segments) >= 3:
        return _resource(path, "", segments[1], segments[2:])
    # The group without a name is not among the named ones.
    if segments[0] == "apis" and len(segments) >= 4 and segments[1]:
        return _resource(path, segments[1], segments[2], segments[3:])
    return Target(path)


def _resource(path: str, group: str, version: str, segments: list[str]) -> Target:
    watches = segments[0] == "watch" and len(segments) > 1
    if watches:
        segments = segments[1:]
    namespace = ""
    if segments[0] == "namespaces" and len(segments) > 1:
        namespace = segments[1]
        # `namespaces/x` is the namespace itself; `namespaces/x/pods` are things in it.
        if len(segments) > 2 and segments[2] not in NAMESPACE_SUBRESOURCES:
            segments = segments[2:]
    name = segments[1] if len(segments) > 1 else ""
    subresource = segments[2] if len(segments) > 2 else ""
    return Target(path, group, version, segments[0], namespace, name, subresource, tuple(segments[3:]), watches)
