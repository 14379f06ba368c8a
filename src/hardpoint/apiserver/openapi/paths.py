"""Where a kind is served: every path, with the operations that are possible there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hardpoint.apiserver.openapi import parameters
from hardpoint.apiserver.openapi.operations import ON_COLLECTION, ON_ITEM, WATCH_ITEM, WATCH_LIST, Operations
from hardpoint.machinery.kinds import Kind, Subresource

Json = dict[str, Any]


def paths(kind: Kind, *, custom: bool) -> Iterator[tuple[str, Json]]:
    """Every path of the kind. Paths on which no verb is served do not occur."""
    base = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    within = "/namespaces/{namespace}" if kind.namespaced else ""
    own = Operations(kind, "Namespaced" if kind.namespaced else "", custom)
    for path, item in _plain(own, f"{base}{within}/{kind.plural}"):
        yield from _shared(path, item)
    for part in kind.subresources:
        for path, item in _part(own, f"{base}{within}/{kind.plural}/{{name}}/{part.name}", part):
            yield from _shared(path, item)
    if "watch" in kind.verbs:
        watched = f"{base}/watch{within}/{kind.plural}"
        yield from _shared(watched, {"get": own.operation("watchlist", WATCH_LIST)})
        yield from _shared(f"{watched}/{{name}}", {"get": own.operation("watch", WATCH_ITEM)})
    if kind.namespaced:
        yield from _everywhere(kind, base, custom)


def _plain(own: Operations, path: str) -> Iterator[tuple[str, Json]]:
    """The collection and the single object."""
    verbs = own.kind.verbs
    yield path, {one.method: own.operation(verb, one) for verb, one in ON_COLLECTION.items() if verb in verbs}
    on_item = {verb: one for verb, one in ON_ITEM.items() if verb in verbs and verb != "create"}
    yield f"{path}/{{name}}", {one.method: own.operation(verb, one) for verb, one in on_item.items()}


def _part(own: Operations, path: str, part: Subresource) -> Iterator[tuple[str, Json]]:
    """A subresource: something to connect to, a log, or a part of the object."""
    if part.kind.endswith("Options"):
        yield path, own.connections(part)
        if part.name == "proxy":
            yield f"{path}/{{path}}", own.connections(part, suffix="WithPath")
    elif part.name == "log":
        yield path, {"get": own.log(part)}
    else:
        yield path, {ON_ITEM[verb].method: own.operation(verb, ON_ITEM[verb], part) for verb in part.verbs}


def _everywhere(kind: Kind, base: str, custom: bool) -> Iterator[tuple[str, Json]]:
    """Listing and watching across namespaces."""
    own = Operations(kind, "", custom, suffix="ForAllNamespaces")
    if "list" in kind.verbs:
        yield from _shared(f"{base}/{kind.plural}", {"get": own.operation("list", ON_COLLECTION["list"])})
    if "watch" in kind.verbs:
        yield from _shared(f"{base}/watch/{kind.plural}", {"get": own.operation("watchlist", WATCH_LIST)})


def _shared(path: str, item: Json) -> Iterator[tuple[str, Json]]:
    """The path with the parameters that all of its operations have; nothing if it has none."""
    if not item:
        return
    in_path = parameters.in_path(path)
    for operation in item.values():
        # What connects passes bytes through; there is nothing to indent.
        pretty = () if operation["x-kubernetes-action"] == "connect" else parameters.in_query(("pretty",))
        operation["parameters"] = [*operation.get("parameters", ()), *in_path, *pretty]
    yield path, parameters.hoist(item)
