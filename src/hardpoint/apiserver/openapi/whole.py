"""The OpenAPI v2 document, put together from parts that are kept until what they are made from changes.

All built-in documents are one part, and every document of custom resources is one: a definition that comes or goes
costs what its group costs, not what all groups cost. What every group adds to, because it is understood everywhere,
is written anew each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

import orjson

from hardpoint.apiserver.openapi import gnostic
from hardpoint.apiserver.openapi.pieces import Piece, gzipped, piece
from hardpoint.apiserver.openapi.schemas import IN_EVERY_GROUP
from hardpoint.apiserver.openapi.swagger import ABOUT, KINDS, SECURITY, frame, swagger

Json = dict[str, Any]


class Source(Protocol):
    """A document of v3 that can be made, with the names of the schemas that only it has if it is of custom kinds."""

    @property
    def path(self) -> str: ...
    @property
    def hash(self) -> str: ...
    @property
    def own(self) -> Sequence[str] | None: ...
    @property
    def document(self) -> Callable[[], Json]: ...


class _Part(NamedTuple):
    hash: str
    paths: Piece
    definitions: Piece
    everywhere: Mapping[str, Json]
    """The definitions that every group adds to, with what these documents say of them."""


class Form(NamedTuple):
    """A way to write the document."""

    paths: Callable[[Mapping[str, Json]], bytes]
    definitions: Callable[[Mapping[str, Json]], bytes]
    whole: Callable[[Sequence[Piece], Sequence[Piece]], Iterator[Piece]]
    """The document of what has been written of its paths and its definitions."""


class Whole:
    """The document in one form. It works for long, so it belongs into a thread, one at a time."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._parts: dict[str, _Part] = {}

    def gzipped(self, sources: Sequence[Source]) -> bytes:
        """The document of these sources as they are now."""
        named = {each.path: [each] for each in sources if each.own is not None}
        named[""] = [each for each in sources if each.own is None]
        self._parts = {path: self._part(path, members) for path, members in sorted(named.items())}
        parts = self._parts.values()
        paths = [part.paths for part in parts if part.paths.length]
        definitions = [part.definitions for part in parts if part.definitions.length]
        definitions.append(piece(self._form.definitions(_joined(part.everywhere for part in parts))))
        return gzipped(self._form.whole(paths, definitions))

    def _part(self, path: str, sources: Sequence[Source]) -> _Part:
        told = "".join(each.hash for each in sources)
        known = self._parts.get(path)
        if known is not None and known.hash == told:
            return known
        made = swagger(map(_without_shared, sources))
        definitions = made["definitions"]
        everywhere = {name: definitions.pop(name) for name in IN_EVERY_GROUP if name in definitions}
        paths = self._form.paths(made["paths"])
        return _Part(told, piece(paths), piece(self._form.definitions(definitions)), everywhere)


def _without_shared(source: Source) -> Json:
    """A document, of custom kinds without the schemas that the built-in documents have too."""
    document = source.document()
    if source.own is None:
        return document
    schemas = document["components"]["schemas"]
    kept = {name: schemas[name] for name in (*source.own, *IN_EVERY_GROUP) if name in schemas}
    return {**document, "components": {"schemas": kept}}


def _joined(said: Iterable[Mapping[str, Json]]) -> dict[str, Json]:
    """Definitions with the kinds of all groups."""
    found: dict[str, Json] = {}
    for each in said:
        for name, schema in each.items():
            known = found.setdefault(name, {**schema, KINDS: []})
            known[KINDS] += [kind for kind in schema[KINDS] if kind not in known[KINDS][:1]]
    return found


def _members(said: Mapping[str, Json]) -> bytes:
    """The members of a JSON object, without its braces."""
    return orjson.dumps(said)[1:-1]


def _as_json(paths: Sequence[Piece], definitions: Sequence[Piece]) -> Iterator[Piece]:
    before, between, after = frame()
    yield piece(before)
    yield from _listed(paths)
    yield piece(between)
    yield from _listed(definitions)
    yield piece(after)


def _listed(pieces: Sequence[Piece]) -> Iterator[Piece]:
    for index, each in enumerate(pieces):
        if index:
            yield _comma()
        yield each


@cache
def _comma() -> Piece:
    return piece(b",")


def _as_protobuf(paths: Sequence[Piece], definitions: Sequence[Piece]) -> Iterator[Piece]:
    lengths = [sum(each.length for each in pieces) for pieces in (paths, definitions)]
    before, between, after = gnostic.frame(ABOUT, lengths[0], lengths[1], SECURITY)
    yield piece(before)
    yield from paths
    yield piece(between)
    yield from definitions
    yield piece(after)


AS_JSON = Form(_members, _members, _as_json)
AS_PROTOBUF = Form(gnostic.path_entries, gnostic.definition_entries, _as_protobuf)
