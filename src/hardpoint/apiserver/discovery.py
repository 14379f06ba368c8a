"""Which kinds there are, told to clients: `/api`, `/apis` and what is right below them.

Two languages are spoken. Legacy answers are one small object a path; the aggregated answer of `apidiscovery.k8s.io/v2`
carries everything below `/api` or `/apis` at once and can be revalidated by its ETag. Both are written anew when the
registry changes and are bytes in between.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import orjson

from hardpoint.apiserver import answers, negotiation
from hardpoint.apiserver.registry import Registry
from hardpoint.machinery import errors
from hardpoint.machinery.kinds import Kind, Subresource
from hardpoint.machinery.messages import Request, Response

Json = dict[str, Any]

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_AGGREGATED_PARAMETERS = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}

GROUP_PRIORITIES: Mapping[str, int] = {
    "apiregistration.k8s.io": 20000,
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
    "storagemigration.k8s.io": 15800,
}
CUSTOM_GROUP_PRIORITY = 1000

_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES = {None: 0, "beta": 1, "alpha": 2}


def version_order(version: str) -> tuple[int, int, int, str]:
    """The sort key that puts a group's best version first: GA, beta, alpha, newest first, then all other names."""
    parts = _VERSION.fullmatch(version)
    if parts is None:
        return len(_STAGES), 0, 0, version
    return _STAGES[parts[2]], -int(parts[1]), -int(parts[3] or 0), ""


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    versions: Sequence[tuple[str, Sequence[Kind]]]


@dataclass(frozen=True, slots=True)
class _Aggregated:
    body: bytes
    etag: str


@dataclass(frozen=True, slots=True)
class _Answers:
    """Every answer of one generation of the registry, by path without slashes around it."""

    generation: int
    legacy: Mapping[str, bytes]
    aggregated: Mapping[str, _Aggregated]


class Discovery:
    """Answers discovery from the registry. `address` is the `host:port` clients are told to use."""

    def __init__(self, registry: Registry, address: str) -> None:
        self._registry = registry
        self._address = address
        self._answers = _Answers(0, {}, {})

    def respond(self, request: Request) -> Response | None:
        """The answer, or None for a path that is not discovery's. Raises 405 and 406."""
        path = request.path.strip("/")
        current = self._current()
        legacy = current.legacy.get(path)
        if legacy is None:
            return None
        if request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        accept = request.headers.get("accept", "")
        aggregated = current.aggregated.get(path)
        if aggregated is not None and _wants_aggregated(accept):
            return _revalidated(aggregated, request.headers.get("if-none-match", ""))
        return answers.plain(request, negotiation.choose(accept), legacy)

    def paths(self) -> list[str]:
        """Every path that is answered, for the index."""
        return [f"/{path}" for path in self._current().legacy]

    def _current(self) -> _Answers:
        if self._answers.generation != self._registry.generation:
            self._answers = _answers(self._registry, self._address)
        return self._answers


def _wants_aggregated(accept: str) -> bool:
    """Whether the first clause that can be satisfied asks for the aggregated form."""
    if "APIGroupDiscoveryList" not in accept:
        return False
    for media, parameters in negotiation.clauses(accept):
        if media not in (negotiation.JSON, negotiation.YAML, "application/*", "*/*"):
            continue
        asked = {name: parameters[name] for name in _AGGREGATED_PARAMETERS if name in parameters}
        if not asked:
            return False
        if media == negotiation.JSON and asked == _AGGREGATED_PARAMETERS:
            return True
    return False


def _revalidated(answer: _Aggregated, if_none_match: str) -> Response:
    headers = (("ETag", answer.etag), ("Vary", "Accept"), ("Cache-Control", "public"))
    if if_none_match == answer.etag:
        return Response(304, content_type=AGGREGATED, headers=headers)
    return Response(200, answer.body, AGGREGATED, headers)


def _answers(registry: Registry, address: str) -> _Answers:
    groups = _groups(registry)
    core = [group for group in groups if not group.name]
    named = [group for group in groups if group.name]
    legacy: dict[str, Json] = {"api": _api_versions(core, address), "apis": _group_list(named)}
    for group in named:
        legacy[f"apis/{group.name}"] = {"kind": "APIGroup", "apiVersion": "v1", **_api_group(group)}
    for group in groups:
        for version, kinds in group.versions:
            base = f"apis/{group.name}/{version}" if group.name else f"api/{version}"
            legacy[base] = _resource_list(group.name, version, kinds)
    aggregated = {"api": _aggregated(core), "apis": _aggregated(named)}
    return _Answers(registry.generation, {path: _encoded(body) for path, body in legacy.items()}, aggregated)


def _groups(registry: Registry) -> list[_Group]:
    """The groups, most important first; versions best first; kinds by name."""

    def order(kind: Kind) -> tuple[int, str, tuple[int, int, int, str], str]:
        priority = GROUP_PRIORITIES.get(kind.group, CUSTOM_GROUP_PRIORITY)
        return -priority, kind.group, version_order(kind.version), kind.plural

    kinds = sorted(registry, key=order)
    return [
        _Group(name, [(version, list(served)) for version, served in groupby(members, key=lambda kind: kind.version)])
        for name, members in groupby(kinds, key=lambda kind: kind.group)
    ]


def _api_versions(core: Sequence[_Group], address: str) -> Json:
    return {
        "kind": "APIVersions",
        "versions": [version for group in core for version, _ in group.versions],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def _group_list(groups: Sequence[_Group]) -> Json:
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_api_group(group) for group in groups]}


def _api_group(group: _Group) -> Json:
    versions = [{"groupVersion": f"{group.name}/{name}", "version": name} for name, _ in group.versions]
    return {"name": group.name, "versions": versions, "preferredVersion": versions[0]}


def _resource_list(group: str, version: str, kinds: Sequence[Kind]) -> Json:
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
        "verbs": kind.verbs,
        **_nicknames(kind),
    }
    if kind.storage_version_hash:
        entry["storageVersionHash"] = kind.storage_version_hash
    yield entry
    for part in kind.subresources:
        group, version = _home(kind, part)
        elsewhere = {"group": group, "version": version} if version else {}
        yield {
            "name": f"{kind.plural}/{part.name}",
            "singularName": "",
            "namespaced": kind.namespaced,
            **elsewhere,
            "kind": part.kind,
            "verbs": part.verbs,
        }


def _aggregated(groups: Sequence[_Group]) -> _Aggregated:
    items = [_group_discovery(group) for group in groups]
    head = {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}}
    body = _encoded({**head, "items": items})
    return _Aggregated(body, f'"{hashlib.sha512(body).hexdigest().upper()}"')


def _group_discovery(group: _Group) -> Json:
    return {
        "metadata": {"name": group.name} if group.name else {},
        "versions": [
            {"version": version, "resources": [_resource_discovery(kind) for kind in kinds], "freshness": "Current"}
            for version, kinds in group.versions
        ],
    }


def _resource_discovery(kind: Kind) -> Json:
    # Custom resources name their group and version; built-in ones leave both empty, which means the same.
    custom = kind.group not in GROUP_PRIORITIES
    group, version = (kind.group, kind.version) if custom else ("", "")
    entry: Json = {
        "resource": kind.plural,
        "responseKind": {"group": group, "version": version, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.singular,
        "verbs": kind.verbs,
        **_nicknames(kind),
    }
    if kind.subresources:
        entry["subresources"] = [_subresource_discovery(kind, part) for part in kind.subresources]
    return entry


def _subresource_discovery(kind: Kind, part: Subresource) -> Json:
    group, version = _home(kind, part)
    return {
        "subresource": part.name,
        "responseKind": {"group": group, "version": version, "kind": part.kind},
        "verbs": part.verbs,
    }


def _nicknames(kind: Kind) -> Json:
    named: Json = {}
    if kind.short_names:
        named["shortNames"] = kind.short_names
    if kind.categories:
        named["categories"] = kind.categories
    return named


def _home(kind: Kind, part: Subresource) -> tuple[str, str]:
    """Group and version of a subresource's body; both empty if they are its parent's."""
    if not part.version or (part.group, part.version) == (kind.group, kind.version):
        return "", ""
    return part.group, part.version


def _encoded(body: Json) -> bytes:
    return orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)
