"""What controllers may do in a cluster: as much as they declare, and no more.

A controller reads its own resource and writes its status; it makes and deletes what it owns, and only reads the rest.
Whoever writes through `ctx.client`, or applies what it does not own, adds a Role of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hardpoint.machinery import kinds
from hardpoint.sdk.app import App
from hardpoint.seams.controller.guest.declared import Named
from hardpoint.seams.controller.guest.follower import Follower
from hardpoint.seams.crd.guest.naming import plural_of

Json = dict[str, Any]
Granted = tuple[str, str, tuple[str, ...]]
"""The API group, the resource, and the verbs."""

READ = ("get", "list", "watch")
OWN = (*READ, "create", "patch", "delete")
EVENTS: tuple[Granted, ...] = (("events.k8s.io", "events", ("create", "patch")),)
LEASES: tuple[Granted, ...] = (("coordination.k8s.io", "leases", ("get", "list", "create", "update", "delete")),)


def rules_by_namespace(apps: Sequence[App]) -> dict[str, list[Json]]:
    """The rules that the controllers of Apps need in each namespace; under "", those that they need everywhere."""
    granted: dict[str, list[Granted]] = {}
    for app in apps:
        for guest in app.controllers.values():
            for resource, grant in _grants(app, guest):
                where = guest.namespace or "" if _is_namespaced(app, resource) else ""
                granted.setdefault(where, []).append(grant)
            granted.setdefault(guest.namespace or "", []).extend(EVENTS)
    return {where: rules(grants) for where, grants in granted.items()}


def rules(granted: Iterable[Granted]) -> list[Json]:
    """Rules that grant it all, each resource once."""
    verbs: dict[tuple[str, str], dict[str, None]] = {}
    for group, resource, allowed in granted:
        verbs.setdefault((group, resource), {}).update(dict.fromkeys(allowed))
    return [
        {"apiGroups": [group], "resources": [resource], "verbs": list(allowed)}
        for (group, resource), allowed in verbs.items()
    ]


def _grants(app: App, guest: Follower) -> Iterator[tuple[Named, Granted]]:
    own = guest.resource
    group, plural = own.group, _plural(app, own)
    # Finalizers and annotations are part of the object itself, not of a subresource.
    yield own, (group, plural, (*READ, "patch") if guest.writes_objects else READ)
    yield own, (group, f"{plural}/status", ("patch",))
    if guest.owns:
        # Some clusters ask whoever makes an owner wait for its deletion whether they may touch its finalizers.
        yield own, (group, f"{plural}/finalizers", ("update",))
    for resource in guest.owns:
        yield resource, (resource.group, _plural(app, resource), OWN)
    indexed = (index.resource for index in guest.indexes.values())
    for resource in (*(watched for watched, _ in guest.watches), *guest.reads, *indexed):
        yield resource, (resource.group, _plural(app, resource), READ)


def _plural(app: App, resource: Named) -> str:
    """What the resource is called in paths: as it is known, or else the usual plural of its kind."""
    builtin = kinds.by_kind(resource.api_version, resource.kind)
    if builtin is not None:
        return builtin.plural
    said = (each.plural for each in app.resources if (each.group, each.kind) == (resource.group, resource.kind))
    return next(filter(None, said), "") or plural_of(resource.kind)


def _is_namespaced(app: App, resource: Named) -> bool:
    builtin = kinds.by_kind(resource.api_version, resource.kind)
    if builtin is not None:
        return builtin.namespaced
    return all(
        each.scope == "Namespaced"
        for each in app.resources
        if (each.group, each.kind) == (resource.group, resource.kind)
    )
