"""The legacy form of discovery: one small object for each path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hardpoint.apiserver.discovery.order import Group
from hardpoint.machinery.kinds import Kind, Subresource

Json = dict[str, Any]


def api_versions(core: Sequence[Group], address: str) -> Json:
    return {
        "kind": "APIVersions",
        "versions": [version for group in core for version, _ in group.versions],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def group_list(groups: Sequence[Any]) -> Json:
    """The list of what `api_group` says of each group, written already or not."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def api_group(group: Group) -> Json:
    versions = [{"groupVersion": f"{group.name}/{name}", "version": name} for name, _ in group.versions]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def resource_list(group: str, version: str, kinds: Sequence[Kind]) -> Json:
    body: Json = {"kind": "APIResourceList"}
    if group:
        # The core group's list has always come without an apiVersion.
        body["apiVersion"] = "v1"
    body["groupVersion"] = f"{group}/{version}" if group else version
    body["resources"] = [entry for kind in kinds for entry in _resources(kind)]
    return body


def _resources(kind: Kind) -> Iterator[Json]:
    """The kind's entry and those of its subresources, in the legacy form."""
    entry: Json = {
        "name": kind.plural,
        "singularName": kind.singular,
        "namespaced": kind.namespaced,
        "kind": kind.kind,
        "verbs": verbs(kind),
        **nicknames(kind),
    }
    if kind.storage_version_hash:
        entry["storageVersionHash"] = kind.storage_version_hash
    yield entry
    for part in kind.subresources:
        group, version = home(kind, part)
        elsewhere = {"group": group, "version": version} if version else {}
        yield {
            "name": f"{kind.plural}/{part.name}",
            "singularName": "",
            "namespaced": kind.namespaced,
            **elsewhere,
            "kind": part.kind,
            "verbs": part.verbs,
        }


def verbs(kind: Kind) -> Sequence[str]:
    """What may be done with a kind; of one whose definition is going, nothing new is made."""
    if kind.structure is None or not kind.structure.is_terminating:
        return kind.verbs
    return [verb for verb in kind.verbs if verb not in ("create", "patch", "update")]


def nicknames(kind: Kind) -> Json:
    """Short names and categories, where there are any."""
    named: Json = {}
    if kind.short_names:
        named["shortNames"] = kind.short_names
    if kind.categories:
        named["categories"] = kind.categories
    return named


def home(kind: Kind, part: Subresource) -> tuple[str, str]:
    """Group and version of a subresource's body; both empty if they are its parent's."""
    if not part.version or (part.group, part.version) == (kind.group, kind.version):
        return "", ""
    return part.group, part.version
