"""An API server takes the definitions as they are, and serves them; what they point to is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from hardpoint.client.client import Client
from hardpoint.client.inprocess import InProcessTransport
from hardpoint.client.transport import Answer
from hardpoint.machinery.messages import User
from hardpoint.machinery.structural.keywords import PRESERVE
from hardpoint.machinery.structural.tightening import RULES
from hardpoint.runtime.promises import NotAsked, Promises
from hardpoint.seams.crd.check.subject import Subject, Version, expect_none
from hardpoint.seams.crd.guest import paths

Json = dict[str, Any]

PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_ADMIN = User("hardpoint-check", ("system:masters",))
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WARNING = re.compile(r'299 - "((?:[^"\\]|\\.)*)"')
_BOUNDS = {"string": "maxLength", "array": "maxItems", "object": "maxProperties"}

promises: Promises[Subject] = Promises()


async def _created(subject: Subject) -> dict[str, Answer]:
    """What a server says to each definition, by its name."""
    async with subject.fresh_cluster() as handler:
        transport = InProcessTransport(handler, _ADMIN)
        client = Client(transport)
        answers = {}
        for each in subject.definitions:
            body, headers = orjson.dumps(each), {"content-type": "application/json"}
            name = str((each.get("metadata") or {}).get("name"))
            answers[name] = await client.raw(
                "POST", PATH, query={"fieldValidation": "Warn"}, headers=headers, body=body
            )
        return answers


@promises("an API server accepts the definition")
async def _accepted(subject: Subject) -> None:
    answers = await _created(subject)
    expect_none([_refusal(name, answer) for name, answer in answers.items() if answer.status >= 300])


def _refusal(name: str, answer: Answer) -> str:
    return str(orjson.loads(answer.body).get("message") or f"{name}: {answer.status}")


@promises("an API server accepts it without a warning")
async def _without_warning(subject: Subject) -> None:
    answers = await _created(subject)
    if any(answer.status >= 300 for answer in answers.values()):
        raise NotAsked("it is not accepted at all")
    expect_none([f"{name}: {text}" for name, answer in answers.items() for text in _warnings(answer)])


def _warnings(answer: Answer) -> list[str]:
    return [found.replace('\\"', '"') for found in _WARNING.findall(answer.headers.get("warning", ""))]


@promises("every field that is required is declared")
async def _required(subject: Subject) -> None:
    expect_none([f"{version}: {path}" for version in subject.versions() for path in _undeclared(version.schema)])


def _undeclared(schema: Json, path: str = "") -> Iterator[str]:
    properties = schema.get("properties") or {}
    if not schema.get(PRESERVE) and not schema.get("additionalProperties"):
        for name in schema.get("required") or ():
            if name not in properties and not (not path and name in ("apiVersion", "kind", "metadata")):
                yield f"{path}.{name} is required and not among the properties: no object can have it"
    for below, child in _children(schema, path):
        yield from _undeclared(child, below)


@promises("the paths of columns, selectable fields and scale are in the schema")
async def _paths(subject: Subject) -> None:
    expect_none([f"{version}: {told}" for version in subject.versions() for told in _lost(version)])


def _lost(version: Version) -> Iterator[str]:
    for what, path in _pointers(version.json):
        if path.startswith((".metadata", ".kind", ".apiVersion")):
            continue
        try:
            paths.find(version.schema, path)
        except paths.UnknownPath as unknown:
            yield f"{what} {path}: {unknown}"


def _pointers(version: Json) -> Iterator[tuple[str, str]]:
    for column in version.get("additionalPrinterColumns") or ():
        yield f"column {column.get('name')!r}", column.get("jsonPath", "")
    for field in version.get("selectableFields") or ():
        yield "selectable field", field.get("jsonPath", "")
    scale = (version.get("subresources") or {}).get("scale") or {}
    for name in ("specReplicasPath", "statusReplicasPath", "labelSelectorPath"):
        if scale.get(name):
            yield f"scale's {name}", scale[name]


@promises("what rules look at is bounded")
async def _bounded(subject: Subject) -> str:
    """Rules that a server accepts may still cost too much once a neighbour grows; so this is a remark."""
    found = [f"{version}: {path}" for version in subject.versions() for path in _unbounded(version.schema)]
    return f"give limits to {', '.join(found[:5])}" if found else ""


def _unbounded(schema: Json, path: str = "") -> Iterator[str]:
    words = {word for rule in schema.get(RULES) or () for word in _WORD.findall(rule.get("rule", ""))}
    if words:
        yield from (f"{below} ({bound})" for below, bound in _without_limit(schema, path, words))
    for below, child in _children(schema, path):
        yield from _unbounded(child, below)


def _without_limit(schema: Json, path: str, words: set[str]) -> Iterator[tuple[str, str]]:
    """What a rule that uses these words may look at, and what limit it lacks."""
    bound = _BOUNDS.get(schema.get("type", ""), "")
    is_map = isinstance(schema.get("additionalProperties"), dict)
    is_open = schema.get("type") in ("string", "array") or is_map
    if bound and is_open and bound not in schema and not schema.get("enum") and not schema.get("format"):
        yield path or ".", bound
    for name, child in (schema.get("properties") or {}).items():
        if name in words:
            yield from _without_limit(child, f"{path}.{name}", words)
    items = schema.get("items")
    if isinstance(items, dict):
        yield from _without_limit(items, f"{path}[*]", words)


def _children(schema: Json, path: str) -> Iterator[tuple[str, Json]]:
    for name, child in (schema.get("properties") or {}).items():
        yield f"{path}.{name}", child
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield f"{path}[*]", schema[name]
