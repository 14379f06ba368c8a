"""The aggregated form of discovery, `apidiscovery.k8s.io/v2`: everything below `/api` or `/apis` in one list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hardpoint.apiserver.discovery.legacy import home, nicknames, verbs
from hardpoint.apiserver.discovery.order import Group
from hardpoint.machinery.kinds import Kind, Subresource

Json = dict[str, Any]

MEDIA_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PARAMETERS = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}


def group_discovery_list(groups: Sequence[Any]) -> Json:
    """The list of what `group_discovery` says of each group, written already or not."""
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": groups,
    }


def group_discovery(group: Group) -> Json:
    return {
        "metadata": {"name": group.name} if group.name else {},
        "versions": [
            {"version": version, "resources": [_resource_discovery(kind) for kind in kinds], "freshness": "Current"}
            for version, kinds in group.versions
        ],
    }


def _resource_discovery(kind: Kind) -> Json:
    # Custom resources name their group and version; built-in ones leave both empty, which means the same.
    group, version = (kind.group, kind.version) if kind.structure is not None else ("", "")
    entry: Json = {
        "resource": kind.plural,
        "responseKind": {"group": group, "version": version, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": verbs(kind),
        **nicknames(kind),
    }
    if kind.subresources:
        entry["subresources"] = [_subresource_discovery(kind, part) for part in kind.subresources]
    return entry


def _subresource_discovery(kind: Kind, part: Subresource) -> Json:
    group, version = (part.group, part.version) if kind.structure is not None else home(kind, part)
    return {
        "subresource": part.name,
        "responseKind": {"group": group, "version": version, "kind": part.kind},
        "verbs": part.verbs,
    }
