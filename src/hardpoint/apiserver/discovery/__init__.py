"""Which kinds there are, told to clients: `/api`, `/apis` and what is right below them.

Two languages are spoken. Legacy answers are one small object a path; the aggregated answer of `apidiscovery.k8s.io/v2`
carries everything below `/api` or `/apis` at once and can be revalidated by its ETag. Both are written anew when the
registry changes and are bytes in between; of groups that did not change, what was written before is used again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from hardpoint.apiserver import answers, negotiation
from hardpoint.apiserver.discovery import aggregated, legacy
from hardpoint.apiserver.discovery.order import Group, groups
from hardpoint.apiserver.registry import Registry
from hardpoint.machinery import errors
from hardpoint.machinery.messages import Request, Response

Json = dict[str, Any]


class _Tagged(NamedTuple):
    body: bytes
    etag: str


class _Answers(NamedTuple):
    """Every answer of one generation of the registry, by path without slashes around it."""

    generation: int
    legacy: Mapping[str, bytes]
    aggregated: Mapping[str, _Tagged]


class _Written(NamedTuple):
    """What is said of one group."""

    group: Group
    legacy: Mapping[str, bytes]
    """The answers at its own paths."""
    listed: orjson.Fragment
    """What the list of all groups says of it."""
    aggregated: orjson.Fragment


class Discovery:
    """Answers discovery from the registry. `address` is the `host:port` clients are told to use."""

    def __init__(self, registry: Registry, address: str) -> None:
        self._registry = registry
        self._address = address
        self._answers = _Answers(0, {}, {})
        self._groups: dict[str, _Written] = {}

    def respond(self, request: Request) -> Response | None:
        """The answer, or None for a path that is not discovery's. Raises 405 and 406."""
        path = request.path.removeprefix("/").removesuffix("/")
        current = self._current()
        plain = current.legacy.get(path)
        if plain is None:
            return None
        if request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        accept = request.headers.get("accept", "")
        if path in current.aggregated and _wants_aggregated(accept):
            return _revalidated(current.aggregated[path], request.headers.get("if-none-match", ""))
        return answers.plain(request, negotiation.choose(accept, transforms=False), plain)

    def paths(self) -> list[str]:
        """Every path that is answered, for the index."""
        return [f"/{path}" for path in self._current().legacy]

    def _current(self) -> _Answers:
        if self._answers.generation != self._registry.generation:
            every = (self._group(group) for group in groups(self._registry))
            self._groups = {written.group.name: written for written in every}
            self._answers = _together(self._registry.generation, list(self._groups.values()), self._address)
        return self._answers

    def _group(self, group: Group) -> _Written:
        known = self._groups.get(group.name)
        return known if known is not None and known.group.is_same(group) else _written(group)


def _wants_aggregated(accept: str) -> bool:
    """Whether the first clause that can be satisfied asks for the aggregated form."""
    if aggregated.PARAMETERS["as"] not in accept:
        return False
    for media, parameters in negotiation.clauses(accept):
        if media not in (negotiation.JSON, negotiation.YAML, "application/*", "*/*"):
            continue
        asked = {name: parameters[name] for name in aggregated.PARAMETERS if name in parameters}
        if not asked:
            return False
        if media == negotiation.JSON and asked == aggregated.PARAMETERS:
            return True
    return False


def _revalidated(answer: _Tagged, if_none_match: str) -> Response:
    headers = (("ETag", answer.etag), ("Vary", "Accept"), ("Cache-Control", "public"))
    if if_none_match == answer.etag:
        return Response(304, content_type=aggregated.MEDIA_TYPE, headers=headers)
    return Response(200, answer.body, aggregated.MEDIA_TYPE, headers)


def _together(generation: int, every: Sequence[_Written], address: str) -> _Answers:
    core = [each for each in every if not each.group.name]
    named = [each for each in every if each.group.name]
    plain = {
        "api": _encoded(legacy.api_versions([each.group for each in core], address)),
        "apis": _encoded(legacy.group_list([each.listed for each in named])),
    }
    for each in every:
        plain |= each.legacy
    return _Answers(generation, plain, {"api": _tagged(core), "apis": _tagged(named)})


def _written(group: Group) -> _Written:
    bodies: dict[str, Json] = {}
    listed = legacy.api_group(group)
    if group.name:
        bodies[f"apis/{group.name}"] = {"kind": "APIGroup", "apiVersion": "v1", **listed}
    for version, kinds in group.versions:
        base = f"apis/{group.name}/{version}" if group.name else f"api/{version}"
        bodies[base] = legacy.resource_list(group.name, version, kinds)
    told = orjson.dumps(aggregated.group_discovery(group))
    plain = {path: _encoded(body) for path, body in bodies.items()}
    return _Written(group, plain, orjson.Fragment(orjson.dumps(listed)), orjson.Fragment(told))


def _tagged(listed: Sequence[_Written]) -> _Tagged:
    body = _encoded(aggregated.group_discovery_list([each.aggregated for each in listed]))
    return _Tagged(body, f'"{hashlib.sha512(body).hexdigest().upper()}"')


def _encoded(body: Json) -> bytes:
    return orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)
