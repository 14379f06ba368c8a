"""Which resources a server has, asked once and remembered: aggregated discovery v2, else one list per group version."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from typing import Any

from hardpoint.client.answers import decoded
from hardpoint.client.resources import Wanted, readings
from hardpoint.client.transport import Answer, BadAnswer, Transport
from hardpoint.machinery.errors import ApiError
from hardpoint.machinery.kinds import Kind, Subresource

Json = dict[str, Any]

log = logging.getLogger(__name__)

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ACCEPT = {"accept": f"{AGGREGATED},application/json"}
LEGACY_AT_ONCE = 16


class Discovery:
    """The kinds a server serves. What is not found is looked for once more on the server before it is missing."""

    failed: tuple[str, ...]
    """The group versions that the server has but could not describe when it was asked last."""

    def __init__(self, transport: Transport) -> None:
        self.failed = ()
        self._transport = transport
        self._fetching = asyncio.Lock()
        self._kinds: tuple[Kind, ...] | None = None
        self._names: dict[str, list[Kind]] = {}
        self._found: dict[str, Kind] = {}
        """What was meant by the names that were asked for."""
        self._generation = 0

    async def kinds(self) -> tuple[Kind, ...]:
        """All of them: the server's favourite groups first, and of a group its preferred version first."""
        if self._kinds is None:
            await self._refresh(self._generation)
        assert self._kinds is not None
        return self._kinds

    async def refresh(self) -> tuple[Kind, ...]:
        """All of them, asked of the server now. If it does not answer, what was known stays known."""
        await self._refresh(self._generation)
        assert self._kinds is not None
        return self._kinds

    async def find(self, name: str) -> Kind:
        """The kind somebody calls `name`. Raises a NotFound if the server has none."""
        known = self._found.get(name)
        if known is not None:
            return known
        wanted = readings(name)
        generation = self._generation
        found = self._find(wanted)
        if found is None:
            await self._refresh(generation)
            found = self._find(wanted)
        if found is None:
            raise ApiError(404, "NotFound", f'the server doesn\'t have a resource type "{name}"')
        self._found[name] = found
        return found

    def forget(self) -> None:
        """Ask the server again at the next question."""
        self._kinds, self._names, self._found = None, {}, {}

    def _find(self, wanted: list[Wanted]) -> Kind | None:
        fitting = (kind for one in wanted for kind in self._names.get(one.name, ()) if _fits(kind, one))
        return next(fitting, None)

    async def _refresh(self, seen: int) -> None:
        """Ask the server, unless somebody has since generation `seen`."""
        async with self._fetching:
            if self._generation != seen:
                return
            try:
                kinds, failed = await self._fetch()
            except (KeyError, TypeError, AttributeError) as cause:
                raise BadAnswer("discovery", "the server describes its resources in an unknown form") from cause
            self._kinds, self._names, self.failed = tuple(kinds), _index(kinds), tuple(failed)
            self._found = {}
            self._generation += 1

    async def _fetch(self) -> tuple[list[Kind], list[str]]:
        """The kinds, and the group versions whose kinds could not be had."""
        core, groups = await asyncio.gather(
            self._transport.request("GET", "/api", "", ACCEPT), self._transport.request("GET", "/apis", "", ACCEPT)
        )
        answers = [answer for answer, path in ((core, "/api"), (groups, "/apis")) if not _is_absent(answer, path)]
        documents = [decoded(answer, "discovery") for answer in answers]
        if all(_is_aggregated(answer) for answer in answers):
            stale = [version for document in documents for version in _stale(document)]
            return [kind for document in documents for kind in _from_aggregated(document)], stale
        return await self._fetch_each([version for document in documents for version in _group_versions(document)])

    async def _fetch_each(self, group_versions: list[str]) -> tuple[list[Kind], list[str]]:
        failed: list[str] = []
        turns = asyncio.Semaphore(LEGACY_AT_ONCE)

        async def fetch(group_version: str) -> list[Kind]:
            path = f"/apis/{group_version}" if "/" in group_version else f"/api/{group_version}"
            async with turns:
                answer = await self._transport.request("GET", path)
            try:
                return list(_from_legacy(group_version, decoded(answer, path)))
            except ApiError as refused:
                # An API server behind this one may be away; what the others serve is still there.
                log.warning("group is not discoverable", extra={"group": group_version, "error": refused.message})
                failed.append(group_version)
                return []

        found = await asyncio.gather(*(fetch(group_version) for group_version in group_versions))
        return [kind for kinds in found for kind in kinds], failed


def _is_absent(answer: Answer, path: str) -> bool:
    """API servers that only extend another one have no core group."""
    return path == "/api" and answer.status == 404


def _is_aggregated(answer: Answer) -> bool:
    parts = {part.strip() for part in answer.headers.get("content-type", "").split(";")}
    return parts >= set(AGGREGATED.split(";"))


def _fits(kind: Kind, wanted: Wanted) -> bool:
    return wanted.group in (None, kind.group) and wanted.version in (None, kind.version)


def _index(kinds: Iterable[Kind]) -> dict[str, list[Kind]]:
    """Names to kinds. A kind's short names give way to other kinds' full names."""
    names: dict[str, list[Kind]] = {}
    short: dict[str, list[Kind]] = {}
    for kind in kinds:
        for name in dict.fromkeys((kind.plural, kind.singular, kind.kind, kind.kind.lower())):
            names.setdefault(name, []).append(kind)
        for name in kind.short_names:
            short.setdefault(name, []).append(kind)
    for name, found in short.items():
        names.setdefault(name, []).extend(found)
    return names


def _from_aggregated(document: Json) -> Iterator[Kind]:
    for group in document.get("items") or ():
        name = (group.get("metadata") or {}).get("name", "")
        for version in group.get("versions") or ():
            for resource in version.get("resources") or ():
                yield _aggregated_kind(name, version["version"], resource)


def _stale(document: Json) -> Iterator[str]:
    """The group versions whose server did not answer when this one last asked it."""
    for group in document.get("items") or ():
        name = (group.get("metadata") or {}).get("name", "")
        for version in group.get("versions") or ():
            if version.get("freshness") == "Stale":
                yield f"{name}/{version['version']}" if name else version["version"]


def _aggregated_kind(group: str, version: str, resource: Json) -> Kind:
    said = resource.get("responseKind") or {}
    kind = said.get("kind", "")
    return Kind(
        group=group,
        version=version,
        kind=kind,
        plural=resource["resource"],
        singular=resource.get("singularResource") or kind.lower(),
        namespaced=resource.get("scope") == "Namespaced",
        verbs=tuple(resource.get("verbs") or ()),
        short_names=tuple(resource.get("shortNames") or ()),
        categories=tuple(resource.get("categories") or ()),
        subresources=tuple(_aggregated_subresource(group, version, sub) for sub in resource.get("subresources") or ()),
    )


def _aggregated_subresource(group: str, version: str, sub: Json) -> Subresource:
    said = sub.get("responseKind") or {}
    if said.get("version"):
        group, version = said.get("group", ""), said["version"]
    return Subresource(sub["subresource"], tuple(sub.get("verbs") or ()), group, version, said.get("kind", ""))


def _group_versions(document: Json) -> Iterator[str]:
    """What `/api` or `/apis` lists, either aggregated or not, preferred versions first."""
    yield from document.get("versions") or ()
    for group in document.get("groups") or ():
        listed = [version["groupVersion"] for version in group.get("versions") or ()]
        preferred = (group.get("preferredVersion") or {}).get("groupVersion")
        yield from sorted(listed, key=lambda version: version != preferred)
    for group in document.get("items") or ():
        name = (group.get("metadata") or {}).get("name", "")
        for version in group.get("versions") or ():
            yield f"{name}/{version['version']}" if name else version["version"]


def _from_legacy(group_version: str, document: Json) -> Iterator[Kind]:
    group, _, version = group_version.rpartition("/")
    resources = document.get("resources") or ()
    below: dict[str, list[Subresource]] = {}
    for resource in resources:
        plural, _, sub = resource["name"].partition("/")
        if sub:
            below.setdefault(plural, []).append(_legacy_subresource(group, version, sub, resource))
    for resource in resources:
        if "/" not in resource["name"]:
            yield _legacy_kind(group, version, resource, tuple(below.get(resource["name"], ())))


def _legacy_subresource(group: str, version: str, sub: str, resource: Json) -> Subresource:
    if resource.get("version"):
        group, version = resource.get("group", ""), resource["version"]
    return Subresource(sub, tuple(resource.get("verbs") or ()), group, version, resource.get("kind", ""))


def _legacy_kind(group: str, version: str, resource: Json, subresources: tuple[Subresource, ...]) -> Kind:
    return Kind(
        group=group,
        version=version,
        kind=resource["kind"],
        plural=resource["name"],
        singular=resource.get("singularName") or resource["kind"].lower(),
        namespaced=bool(resource.get("namespaced")),
        verbs=tuple(resource.get("verbs") or ()),
        short_names=tuple(resource.get("shortNames") or ()),
        categories=tuple(resource.get("categories") or ()),
        subresources=subresources,
    )
