"""One OpenAPI v3 document for each group and version, put together from its kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from hardpoint.apiserver.openapi import operations, schemas
from hardpoint.apiserver.openapi.custom import REFERRED, custom
from hardpoint.apiserver.openapi.names import group_words, meta_name
from hardpoint.apiserver.openapi.paths import paths
from hardpoint.apiserver.version import GIT_VERSION
from hardpoint.machinery import shapes
from hardpoint.machinery.kinds import Kind

Json = dict[str, Any]

TITLE = "Kubernetes"
BEARER = {"type": "apiKey", "in": "header", "name": "authorization", "description": "A bearer token."}


def is_custom(kind: Kind) -> bool:
    return shapes.find(kind.api_version, kind.kind) is None


def document(group: str, version: str, kinds: Sequence[Kind], declared: Mapping[str, Json | bytes]) -> Json:
    """The document of a group and version. `declared` holds the schemas of custom resources, by plural."""
    words = group_words(group)
    base = f"/apis/{group}/{version}/" if group else f"/api/{version}/"
    served = _getter(base, f"{words}{version.capitalize()}APIResources", f"{words}_{version}", "APIResourceList")
    own: dict[str, Json] = {}
    for kind in kinds:
        served.update(paths(kind, custom=is_custom(kind)))
        if is_custom(kind):
            said = declared.get(kind.plural)
            own.update(custom(kind, orjson.loads(said) if isinstance(said, bytes) else said))
    return _complete(served, own, group, version)


def core_versions() -> Json:
    """The document of `/api`."""
    return _complete(_getter("/api/", "CoreAPIVersions", "core", "APIVersions"), {})


def groups() -> Json:
    """The document of `/apis`."""
    return _complete(_getter("/apis/", "APIVersions", "apis", "APIGroupList"), {})


def group_versions(group: str) -> Json:
    """The document of `/apis/<group>`."""
    words = group_words(group)
    return _complete(_getter(f"/apis/{group}/", f"{words}APIGroup", words, "APIGroup"), {})


def _getter(path: str, identity: str, tag: str, kind: str) -> dict[str, Json]:
    """A path of discovery, which can only be read."""
    media = {one: {"schema": {"$ref": f"{schemas.PREFIX}{meta_name(kind)}"}} for one in operations.ANSWERS}
    operation = {
        "description": f"Read the {kind} of {path}",
        "operationId": f"get{identity}",
        "tags": [tag[:1].lower() + tag[1:]],
        "responses": {"200": {"description": "OK", "content": media}, "401": {"description": "Unauthorized"}},
    }
    return {path: {"get": operation}}


def _complete(served: dict[str, Json], own: dict[str, Json], group: str = "", version: str = "") -> Json:
    """A document with these paths and schemas and all the built-in schemas they refer to."""
    named = _referred(served) | (REFERRED if own else set())
    built_in = schemas.built_in((name for name in named if name not in own), group, version)
    return {
        "openapi": "3.0.0",
        "info": {"title": TITLE, "version": GIT_VERSION},
        "paths": dict(sorted(served.items())),
        "components": {"schemas": {**built_in, **own}, "securitySchemes": {"BearerToken": BEARER}},
    }


def _referred(part: Any) -> set[str]:
    """The names of all schemas that anything in `part` refers to. For what we wrote: strangers' references may lie."""
    found: set[str] = set()
    waiting = [part]
    while waiting:
        now = waiting.pop()
        if isinstance(now, dict):
            if isinstance(now.get("$ref"), str):
                found.add(now["$ref"].removeprefix(schemas.PREFIX))
            waiting += now.values()
        elif isinstance(now, list):
            waiting += now
    return found
