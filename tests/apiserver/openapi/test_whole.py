"""The v2 document that is kept in parts is the one that is written at once."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.openapi import documents as making
from hardpoint.apiserver.openapi import gnostic
from hardpoint.apiserver.openapi.custom import names
from hardpoint.apiserver.openapi.swagger import swagger
from hardpoint.apiserver.openapi.whole import AS_JSON, AS_PROTOBUF, Form, Whole
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]

SCHEMA: Json = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": {"type": "string"}}}}}


@dataclass(frozen=True)
class Source:
    path: str
    hash: str
    document: Callable[[], Json]
    own: Sequence[str] | None = None


def kind(group: str) -> Kind:
    return Kind(group, "v1", "Thing", "things", "thing", namespaced=True, verbs=("create", "delete", "get", "list"))


def custom(group: str, made: list[str], schema: Json = SCHEMA, mark: str = "") -> Source:
    def document() -> Json:
        made.append(group)
        return making.document(group, "v1", [kind(group)], {"things": schema})

    return Source(f"apis/{group}/v1", group + mark, document, names(kind(group)))


@pytest.fixture
def built_in(documents: dict[str, Json]) -> list[Source]:
    chosen = ("api/v1", "apis/apps/v1")
    return [Source(path, path, lambda path=path: documents[path]) for path in chosen]  # type: ignore[misc]


def _as_text(form: Form, document: Json) -> bytes:
    return gnostic.encode(document) if form is AS_PROTOBUF else orjson.dumps(document)


@pytest.mark.parametrize("form", [AS_JSON, AS_PROTOBUF], ids=["JSON", "protobuf"])
def test_the_same_as_written_at_once(form: Form, built_in: list[Source]) -> None:
    sources = [*built_in, custom("a.example.com", []), custom("b.example.com", [])]
    written = gzip.decompress(Whole(form).gzipped(sources))
    expected = swagger(source.document() for source in sources)
    assert len(written) == len(_as_text(form, expected))
    if form is AS_JSON:
        assert orjson.loads(written) == expected


@pytest.mark.parametrize("form", [AS_JSON, AS_PROTOBUF], ids=["JSON", "protobuf"])
def test_only_what_changed_is_made_again(form: Form, built_in: list[Source]) -> None:
    made: list[str] = []
    whole = Whole(form)
    whole.gzipped([*built_in, custom("a.example.com", made), custom("b.example.com", made)])
    assert made == ["a.example.com", "b.example.com"]
    made.clear()
    changed = {"type": "object", "properties": {"spec": {"type": "string"}}}
    sources = [*built_in, custom("b.example.com", made, changed, "2"), custom("c.example.com", made)]
    written = gzip.decompress(whole.gzipped(sources))
    assert made == ["b.example.com", "c.example.com"]
    assert len(written) == len(_as_text(form, swagger(source.document() for source in sources)))
    assert b"a.example.com" not in written
