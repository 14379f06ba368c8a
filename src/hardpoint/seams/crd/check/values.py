"""What becomes of objects: filled in once or twice they are the same, and nothing they may say is lost."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import orjson

from hardpoint.machinery.structural.unknown import fields as unknown_fields
from hardpoint.runtime.promises import NotAsked, Promises
from hardpoint.seams.crd.check.subject import Subject, Version, expect_none

Json = dict[str, Any]

promises: Promises[Subject] = Promises()


def _samples(subject: Subject) -> Iterator[tuple[Version, Json]]:
    some = False
    for version in subject.versions():
        for each in version.samples(subject.seed):
            some = True
            yield version, each
    if not some:
        raise NotAsked("no object was found that fits the schema")


@promises("defaults filled in twice are the same as once")
async def _idempotent(subject: Subject) -> None:
    found = []
    for version, each in _samples(subject):
        once = deepcopy(each)
        version.structure.complete(once)
        twice = deepcopy(once)
        version.structure.complete(twice)
        if once != twice:
            found.append(f"{version}: {_text(each)} becomes {_text(once)}, and that {_text(twice)}")
    expect_none(found)


@promises("what defaults fill in is as good as what was there: no object becomes invalid")
async def _valid(subject: Subject) -> None:
    found: dict[str, str] = {}
    for version, each in _samples(subject):
        complete = deepcopy(each)
        version.structure.complete(complete)
        for wrong in version.structure.rules["validation", "CREATE"](complete)[:1]:
            found.setdefault(f"{version} {wrong.field}", f"{version}: {wrong}, in {_text(each)}")
    expect_none(list(found.values()))


@promises("nothing that an object may say is pruned")
async def _kept(subject: Subject) -> None:
    found: dict[str, str] = {}
    for version, each in _samples(subject):
        for path in unknown_fields(version.schema, each):
            found.setdefault(f"{version} {path}", f"{version}: .{path} fits the schema and is dropped")
    expect_none(list(found.values()))


def _text(value: Json) -> str:
    shown = {key: field for key, field in value.items() if key not in ("apiVersion", "kind", "metadata")}
    text = orjson.dumps(shown).decode()
    return text if len(text) <= 200 else f"{text[:197]}..."
