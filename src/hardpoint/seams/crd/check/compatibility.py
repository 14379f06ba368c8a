"""Objects outlive the definition they were written under: newer ones let in what older ones did.

Between the versions of one definition that holds as well, unless a webhook converts: objects are stored in one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import Any

from hardpoint.machinery.structural.tightening import tightenings
from hardpoint.runtime.promises import NotAsked, Promises
from hardpoint.seams.crd.check.subject import Subject, Version, expect_none, versions_of

Json = dict[str, Any]

FIXED = ("group", "scope")
NAMES = ("plural", "kind", "listKind", "singular")

promises: Promises[Subject] = Promises()


@promises("an object of each version is one of every other, too, unless a webhook converts it")
async def _between_versions(subject: Subject) -> None:
    several = [each for each in subject.definitions if len(each["spec"].get("versions") or ()) > 1]
    alone = [each for each in several if not _is_converted(each)]
    if not alone:
        raise NotAsked("a webhook converts" if several else "there is one version only")
    expect_none([told for each in alone for told in _differences(each)])


def _is_converted(definition: Json) -> bool:
    return (definition["spec"].get("conversion") or {}).get("strategy") == "Webhook"


def _differences(definition: Json) -> Iterator[str]:
    for source, target in permutations(versions_of(definition), 2):
        for change in tightenings(source.schema, target.schema):
            yield f"{source} to {target.json['name']}: {change}"


@promises("objects of the earlier release are objects of this one")
async def _against(subject: Subject) -> None:
    if not subject.older:
        raise NotAsked("name the definitions of the earlier release with --against")
    newer = {each["metadata"]["name"]: each for each in subject.definitions}
    found: list[str] = []
    for each in subject.older:
        name = each["metadata"]["name"]
        found += list(_changes(each, newer[name])) if name in newer else [f"{name} is gone, and its objects with it"]
    expect_none(found)


def _changes(older: Json, newer: Json) -> Iterator[str]:
    name, before, after = older["metadata"]["name"], older["spec"], newer["spec"]
    for field in FIXED:
        if before.get(field) != after.get(field):
            yield f"{name}: spec.{field} was {before.get(field)} and is {after.get(field)}"
    for field in NAMES:
        was, now = before["names"].get(field), after["names"].get(field)
        if was and now and was != now:
            yield f"{name}: spec.names.{field} was {was} and is {now}"
    there = {version.json["name"]: version for version in versions_of(newer)}
    for version in versions_of(older):
        yield from _version_changes(version, there.get(version.json["name"]))


def _version_changes(older: Version, newer: Version | None) -> Iterator[str]:
    if newer is None:
        yield f"{older} is gone: " + (
            "objects are stored in it" if older.json.get("storage") else "clients may still use it"
        )
        return
    if older.json.get("served") and not newer.json.get("served"):
        yield f"{older} is not served any more"
    for change in tightenings(older.schema, newer.schema):
        yield f"{newer}: {change}"
    for name in ("status", "scale"):
        if (name in (older.json.get("subresources") or {})) != (name in (newer.json.get("subresources") or {})):
            yield f"{newer}: the subresource {name} came or went"
