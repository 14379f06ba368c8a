"""Which URLs there are, which methods each of them takes, and in which media types it listens and answers.

kube-apiserver makes its routes from what a kind can do: an object's path exists if something can be done to objects,
the path across namespaces if the kind can be listed. What has no route is a 404, a route without the method a 405.
"""

from __future__ import annotations

from hardpoint.apiserver import negotiation
from hardpoint.apiserver.connect import SUBRESOURCES as CONNECTIONS
from hardpoint.apiserver.negotiation import OFFERED, WATCH_OFFERED
from hardpoint.apiserver.patchtypes import ALL as PATCHES
from hardpoint.apiserver.registry import Registry
from hardpoint.apiserver.target import VERBS, Target
from hardpoint.machinery import errors, names
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.kinds import Kind, Subresource
from hardpoint.machinery.messages import Request

_ON_OBJECTS = frozenset(("delete", "get", "patch", "update"))
_ON_PROXIES = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
_OF_LISTS = (*OFFERED, *WATCH_OFFERED)
_OF_LOGS = ("text/plain", *OFFERED)


def find(registry: Registry, where: Target) -> tuple[Kind, Subresource | None]:
    """The kind, and the part of it, that a URL leads to. Raises 404 where there is no such path."""
    kind = registry.find(where.group, where.version, where.resource)
    if kind is None or not _leads_somewhere(kind, where):
        raise errors.no_such_path()
    if not where.subresource:
        return kind, None
    part = kind.subresource(where.subresource)
    if part is None and kind.structure is not None:
        raise errors.not_found(kind.resource, where.name)
    if part is None or (where.rest and part.name != "proxy"):
        raise errors.no_such_path()
    return kind, part


def _leads_somewhere(kind: Kind, where: Target) -> bool:
    if where.namespace and not kind.namespaced and kind.known_as != "Namespace":
        return False
    if where.watches and "watch" not in kind.verbs:
        return False
    if kind.namespaced and not where.namespace:
        return not where.name and "list" in kind.verbs
    if "/" in where.name or "/" in where.namespace:
        return False
    return bool(where.subresource) or not where.name or not _ON_OBJECTS.isdisjoint(kind.verbs)


def check(request: Request, verb: str, kind: Kind, part: Subresource | None, where: Target) -> None:
    """Raise what the route alone can refuse a request for: its method, its media types, an impossible name."""
    if verb == "watch" and "list" in kind.verbs and "watch" not in kind.verbs:
        raise errors.method_not_supported(kind.resource, "watch")
    if not _takes(request.method, verb, kind, part, where):
        raise _method_refused(request.method, verb, kind)
    if request.method == "PATCH" and where.subresource not in CONNECTIONS and kind.structure is None:
        _check_patch(request.headers.get("content-type", ""))
    accept = request.headers.get("accept", "")
    if accept and where.subresource not in CONNECTIONS:
        _check_answer(accept, verb, where)
    if accept and where.subresource == "log":
        negotiation.check(accept, _OF_LOGS)
    for place, name in (("Namespace", where.namespace), ("Name", where.name)):
        if wrong := names.path_segment(name):
            raise errors.bad_request(f'{place} parameter invalid: "{name}": {", ".join(wrong)}')


def _method_refused(method: str, verb: str, kind: Kind) -> ApiError:
    """405; custom resources are not routed, so it is their handler that refuses, in words of its own."""
    if kind.structure is None:
        return errors.method_not_allowed()
    return errors.method_not_supported(kind.resource, verb if method in VERBS else "")


def _check_answer(accept: str, verb: str, where: Target) -> None:
    listed = verb == "list" or (verb == "watch" and (where.watches or not where.name))
    negotiation.check(accept, _OF_LISTS if listed else OFFERED)
    negotiation.choose(accept, watch=verb == "watch")


def _check_patch(content_type: str) -> None:
    if content_type.partition(";")[0].strip() not in PATCHES:
        raise ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", details={})


def _takes(method: str, verb: str, kind: Kind, part: Subresource | None, where: Target) -> bool:
    if part is not None and part.name == "proxy":
        return method in _ON_PROXIES
    if method == "HEAD" or (where.watches and verb != "watch"):
        return False
    if part is not None:
        return verb in part.verbs
    if verb not in kind.verbs or (kind.namespaced and not where.namespace and verb not in ("list", "watch")):
        return False
    return bool(where.name) == (verb in _ON_OBJECTS) or verb == "watch"
