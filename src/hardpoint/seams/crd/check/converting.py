"""A webhook that converts loses nothing on the way there and back, and leaves alone what is not its business."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any
from uuid import uuid4

import orjson

from hardpoint.runtime.promises import Broken, NotAsked, Promises, expect
from hardpoint.seams.crd.check.subject import Subject, Version, expect_none, versions_of
from hardpoint.seams.crd.contract import BadAnswer, asked, converted

Json = dict[str, Any]

METADATA: Json = {
    "uid": "7e3a0d6c-0000-4000-8000-000000000001",
    "resourceVersion": "7",
    "generation": 3,
    "creationTimestamp": "2026-01-02T03:04:05Z",
    "finalizers": ["example.com/kept"],
    "labels": {"kept": "yes"},
    "annotations": {"kept": "yes"},
}

promises: Promises[Subject] = Promises()


def _ways(subject: Subject) -> Iterator[tuple[Version, Version, list[Json]]]:
    """From every version to every other, and objects to send that way."""
    pairs = [pair for definition in subject.definitions for pair in permutations(versions_of(definition), 2)]
    if subject.webhook is None or not pairs:
        raise NotAsked("no webhook converts between versions here")
    for source, target in pairs:
        yield source, target, [_whole(source, each) for each in source.samples(subject.seed)]


def _whole(version: Version, obj: Json) -> Json:
    """The object as it would be stored: complete, and with all the metadata that a server gives it."""
    whole: Json = orjson.loads(orjson.dumps(obj))
    version.structure.complete(whole)
    whole["metadata"] |= METADATA
    return whole


async def _convert(subject: Subject, objects: Sequence[Json], target: Version) -> list[Json]:
    """What the webhook makes of these objects, as it says it. Raises Broken if a server would not take that."""
    assert subject.webhook is not None, "there is a way to send objects"
    uid = str(uuid4())
    answer = await subject.webhook.ask(asked("v1", uid, objects, target.api_version))
    try:
        converted(answer, "v1", uid, objects, target.api_version)
    except BadAnswer as wrong:
        raise Broken(f"to {target}: it {wrong}") from wrong
    found: list[Json] = answer["response"].get("convertedObjects") or []
    return found


@promises("there and back again an object is what it was")
async def _round_trip(subject: Subject) -> None:
    found: dict[str, str] = {}
    for source, target, objects in _ways(subject):
        back = await _convert(subject, await _convert(subject, objects, target), source)
        for before, after in zip(objects, back, strict=True):
            for path, was, now in _lost(before, after):
                words = f"{source} to {target.json['name']} and back: {path} was {was} and is {now}"
                found.setdefault(f"{source} {target} {path}", words)
    expect_none(list(found.values()))


def _lost(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, str, str]]:
    """What is not as it was. More annotations than before are no loss: some converters keep things there."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | (after.keys() if path != ".metadata.annotations" else set())):
            yield from _lost(before.get(name), after.get(name), f"{path}.{name}")
    elif before != after and not (before in (None, {}, []) and after in (None, {}, [])):
        yield path, _text(before), _text(after)


@promises("metadata stays as it is; labels and annotations may be added")
async def _metadata(subject: Subject) -> None:
    for source, target, objects in _ways(subject):
        for before, after in zip(objects, await _convert(subject, objects, target), strict=True):
            kept = _with_only(before["metadata"], after.get("metadata") or {})
            for path, was, now in _lost(before["metadata"], kept, ".metadata"):
                raise Broken(f"{source} to {target.json['name']}: {path} was {was} and is {now}")


def _with_only(before: Json, after: Json) -> Json:
    """The metadata without labels and annotations that were not there."""
    both = {
        field: {name: value for name, value in (after.get(field) or {}).items() if name in (before.get(field) or {})}
        for field in ("labels", "annotations")
    }
    return {**after, **both}


@promises("what comes out fits the schema of the version that was asked for")
async def _fits(subject: Subject) -> None:
    found: dict[str, str] = {}
    for source, target, objects in _ways(subject):
        validate = target.structure.rules["validation", "CREATE"]
        for after in await _convert(subject, objects, target):
            for wrong in validate(after)[:1]:
                found.setdefault(f"{source} {target} {wrong.field}", f"{source} to {target.json['name']}: {wrong}")
    expect_none(list(found.values()))


@promises("the objects of a batch come back in their order, as each comes back alone, and none from none")
async def _order(subject: Subject) -> None:
    for _, target, objects in _ways(subject):
        together = await _convert(subject, objects[:10], target)
        alone = [(await _convert(subject, [each], target))[0] for each in objects[:10]]
        expect(together == alone, f"to {target}: a batch became something else than its objects one by one")
        expect(await _convert(subject, [], target) == [], f"to {target}: made objects of none")


@promises("an object that has the version already stays as it is, and asking twice makes no difference")
async def _same(subject: Subject) -> None:
    for source, target, objects in _ways(subject):
        expect(await _convert(subject, objects, source) == objects, f"changed objects that were {source} already")
        once, twice = [await _convert(subject, objects, target) for _ in range(2)]
        expect(once == twice, f"to {target}: the same objects became different ones the second time")


def _text(value: Any) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= 120 else f"{text[:117]}..."
