"""OpenAPI: what every kind looks like and what can be done with it, for kubectl and for generated clients.

`/openapi/v3` lists a document for each group and version, `/openapi/v3/<path>` is one of them, and `/openapi/v2` is
everything at once for clients of old. Documents are built when somebody asks, in a thread, and kept compressed. A
document's hash is that of what it is made from, so the list can be written without building any; with a thousand
definitions even that takes a while, and so it is done in a thread too.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import orjson

from hardpoint import __version__
from hardpoint.apiserver import negotiation
from hardpoint.apiserver.registry import Registry
from hardpoint.machinery import errors, jsontext
from hardpoint.machinery.kinds import Kind
from hardpoint.machinery.messages import Request, Response

if TYPE_CHECKING:
    from hardpoint.apiserver.openapi.whole import Whole

Json = dict[str, Any]

SchemaOf = Callable[[Kind], Json | bytes | None]
"""The schema a custom resource was declared with, the same object until it changes; None if anything goes."""

JSON = "application/json"
PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_SPELLINGS: Mapping[str, str] = {
    JSON: JSON,
    "application/*": JSON,
    "*/*": JSON,
    PROTOBUF: PROTOBUF,
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf": PROTOBUF,
}
YEAR_SECONDS = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class _Source:
    """A document that can be made, what it is made from, and the hash of that."""

    path: str
    kinds: Sequence[Kind]
    declared: Mapping[str, Json | bytes]
    hash: str
    document: Callable[[], Json]
    own: Sequence[str] | None = None
    """The names of the schemas that only it has, if it is of custom kinds."""

    def is_made_from(self, kinds: Sequence[Kind], declared: Mapping[str, Json | bytes]) -> bool:
        """Whether nothing has changed. Schemas are told apart by identity: comparing them costs as much as hashing."""
        same = declared.keys() == self.declared.keys() and all(
            declared[name] is self.declared[name] for name in declared
        )
        return same and kinds == self.kinds


@dataclass(frozen=True, slots=True)
class _Built:
    hash: str
    compressed: bytes


class OpenApi:
    """Answers `/openapi/...` from the registry. `schema_of` knows what custom resources were declared with."""

    def __init__(self, registry: Registry, schema_of: SchemaOf = lambda kind: None) -> None:
        self._registry = registry
        self._schema_of = schema_of
        self._generation = 0
        self._sources: dict[str, _Source] = {}
        self._index = _Built("", b"")
        self._built: dict[str, _Built] = {}
        self._building = asyncio.Lock()
        self._hashing = asyncio.Lock()
        self._wholes: dict[str, Whole] = {}

    async def respond(self, request: Request) -> Response | None:
        """The answer, or None for a path that is not OpenAPI's. Raises 405 and 406."""
        root, _, path = request.path.removeprefix("/").partition("/")
        if root != "openapi" or path.endswith("/"):
            return None
        version, _, name = path.partition("/")
        if version == "v2" and not name:
            return await self._respond_v2(request)
        sources = await self._current()
        if version != "v3" or (name and name not in sources):
            return None
        _media(request, (JSON,))
        if not name:
            return await _revalidated(request, self._index, JSON)
        return await self._document(request, sources[name])

    def paths(self) -> list[str]:
        """Every path that is answered, for the index."""
        groups = dict.fromkeys(kind.group for kind in self._registry if kind.group)
        versions = dict.fromkeys(_path(kind.group, kind.version) for kind in self._registry)
        names = ("api", "apis", *(f"apis/{group}" for group in groups), *versions)
        return ["/openapi/v2", "/openapi/v3", *(f"/openapi/v3/{name}" for name in names)]

    async def _document(self, request: Request, source: _Source) -> Response:
        (asked, *_) = parse_qs(request.query).get("hash", [""])
        if asked and asked != source.hash:
            return Response(301, headers=(("Location", _url(source)),))
        built = await self._build(source.path, source.hash, lambda: _compressed(source))
        forever = (("Cache-Control", "public, immutable"), ("Expires", _http_date(time.time() + YEAR_SECONDS)))
        return await _revalidated(request, built, JSON, forever if asked else ())

    async def _respond_v2(self, request: Request) -> Response:
        media = _media(request, (JSON, PROTOBUF))
        sources = list((await self._current()).values())
        hashed = _digest("".join(source.hash for source in sources).encode())
        built = await self._build(media, hashed, lambda: self._whole(media).gzipped(sources))
        return await _revalidated(request, built, media)

    def _whole(self, media: str) -> Whole:
        from hardpoint.apiserver.openapi import whole  # For clients of old only.

        if media not in self._wholes:
            self._wholes[media] = whole.Whole(whole.AS_PROTOBUF if media == PROTOBUF else whole.AS_JSON)
        return self._wholes[media]

    async def _build(self, name: str, wanted: str, compressed: Callable[[], bytes]) -> _Built:
        """The document with that hash: the one at hand, or a new one made in a thread, one at a time."""
        async with self._building:
            built = self._built.get(name)
            if built is None or built.hash != wanted:
                built = self._built[name] = _Built(wanted, await asyncio.to_thread(compressed))
            return built

    async def _current(self) -> dict[str, _Source]:
        async with self._hashing:
            generation, kinds = self._registry.generation, list(self._registry)
            if self._generation != generation:
                self._sources, self._index = await asyncio.to_thread(self._hashed, kinds)
                self._generation = generation
                kept = self._sources.keys() | _SPELLINGS.keys()
                self._built = {name: built for name, built in self._built.items() if name in kept}
            return self._sources

    def _hashed(self, kinds: Sequence[Kind]) -> tuple[dict[str, _Source], _Built]:
        sources = {source.path: source for source in _sources(kinds, self._schema_of, self._sources)}
        return sources, _index(sources)


def _compressed(source: _Source) -> bytes:
    return gzip.compress(orjson.dumps(source.document()), 6, mtime=0)


def _index(sources: Mapping[str, _Source]) -> _Built:
    listed = {name: {"serverRelativeURL": _url(source)} for name, source in sorted(sources.items())}
    body = orjson.dumps({"paths": listed})
    return _Built(_digest(body), gzip.compress(body, mtime=0))


def _sources(every: Sequence[Kind], schema_of: SchemaOf, known: Mapping[str, _Source]) -> Iterator[_Source]:
    """Every document there can be now. Those that are known and have not changed are not hashed again."""
    from hardpoint.apiserver.openapi import documents  # A server starts unasked; the first who asks loads it.
    from hardpoint.apiserver.openapi.custom import names

    found = sorted(every, key=lambda kind: (kind.group, kind.version, kind.plural))
    yield _source("api", (), {}, documents.core_versions)
    yield _source("apis", (), {}, documents.groups)
    for group, members in groupby(found, key=lambda kind: kind.group):
        if group:
            own = () if all(map(documents.is_custom, members)) else None
            yield _source(f"apis/{group}", (), {}, partial(documents.group_versions, group), own)
    for (group, version), members in groupby(found, key=lambda kind: (kind.group, kind.version)):
        kinds = tuple(members)
        declared = {kind.plural: schema for kind in kinds if (schema := schema_of(kind)) is not None}
        path = _path(group, version)
        before = known.get(path)
        if before is not None and before.is_made_from(kinds, declared):
            yield before
        else:
            is_custom = all(map(documents.is_custom, kinds))
            named = [name for kind in kinds for name in names(kind)] if is_custom else None
            yield _source(path, kinds, declared, partial(documents.document, group, version, kinds, declared), named)


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _source(
    path: str,
    kinds: Sequence[Kind],
    declared: Mapping[str, Json | bytes],
    document: Callable[[], Json],
    own: Sequence[str] | None = None,
) -> _Source:
    # What a kind's structure says is in the schemas.
    told = orjson.dumps(kinds, default=lambda structure: None)
    schemas = (each if isinstance(each, bytes) else jsontext.encode(each) for each in declared.values())
    parts = (_makers().encode(), path.encode(), told, *schemas)
    return _Source(path, kinds, declared, _digest(b"\n".join(parts)), document, own)


@cache
def _makers() -> str:
    """Who writes documents; with another release of either they may differ."""
    from importlib import metadata  # Slow to load, and not needed to start.

    return f"hardpoint {__version__}, lightkube-models {metadata.version('lightkube-models')}"


def _url(source: _Source) -> str:
    return f"/openapi/v3/{source.path}?hash={source.hash}"


def _digest(content: bytes) -> str:
    return hashlib.sha512(content).hexdigest().upper()


def _media(request: Request, offered: Sequence[str]) -> str:
    """The media type to answer in. Raises 405 and 406."""
    if request.method not in ("GET", "HEAD"):
        raise errors.method_not_allowed()
    accept = request.headers.get("accept", "") or JSON
    for media, _ in negotiation.clauses(accept):
        chosen = _SPELLINGS.get(media)
        if chosen in offered:
            return str(chosen)
    raise errors.not_acceptable(offered)


async def _revalidated(request: Request, built: _Built, media: str, extra: Sequence[tuple[str, str]] = ()) -> Response:
    etag = f'"{built.hash}"'
    headers = [("ETag", etag), ("Vary", "Accept, Accept-Encoding"), *extra]
    if request.headers.get("if-none-match") == etag:
        return Response(304, content_type=media, headers=headers)
    if _takes_gzip(request.headers.get("accept-encoding", "")):
        return Response(200, built.compressed, media, [*headers, ("Content-Encoding", "gzip")])
    return Response(200, await asyncio.to_thread(gzip.decompress, built.compressed), media, headers)


def _takes_gzip(accept_encoding: str) -> bool:
    codings = (coding.replace(" ", "") for coding in accept_encoding.split(","))
    return any(coding.startswith("gzip") and not coding.endswith(";q=0") for coding in codings)


def _http_date(seconds: float) -> str:
    return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(seconds))
