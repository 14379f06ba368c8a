"""The OpenAPI v2 document, for clients that know no other: all v3 documents in one, in the older words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from hardpoint.apiserver.openapi.documents import BEARER, TITLE
from hardpoint.apiserver.openapi.schemas import PREFIX
from hardpoint.apiserver.version import GIT_VERSION

Json = dict[str, Any]

DEFINITIONS = "#/definitions/"

# v2 has no words for these, and clients of its time stumble over defaults.
_UNSPEAKABLE = frozenset(("anyOf", "default", "not", "nullable", "oneOf"))
KINDS = "x-kubernetes-group-version-kind"
_KEPT = ("description", "operationId", "tags", "x-kubernetes-action", KINDS)


ABOUT: Json = {"swagger": "2.0", "info": {"title": TITLE, "version": GIT_VERSION}}
SECURITY: Json = {"securityDefinitions": {"BearerToken": BEARER}, "security": [{"BearerToken": []}]}


def swagger(documents: Iterable[Json]) -> Json:
    """One v2 document of many v3 ones."""
    paths: dict[str, Json] = {}
    definitions: dict[str, Json] = {}
    for document in documents:
        for path, item in document["paths"].items():
            paths[path] = _path_item(item)
        for name, schema in document["components"]["schemas"].items():
            definitions[name] = _joined(definitions.get(name), schema)
    return {**ABOUT, "paths": paths, "definitions": definitions, **SECURITY}


def frame() -> tuple[bytes, bytes, bytes]:
    """What stands in JSON before the members of paths, between them and those of definitions, and after those."""
    before = orjson.dumps(ABOUT)[:-1] + b',"paths":{'
    return before, b'},"definitions":{', b"}," + orjson.dumps(SECURITY)[1:]


def _joined(known: Json | None, schema: Json) -> Json:
    """A definition; kinds that several groups understand name them all."""
    if known is None:
        return _schema(schema)
    if KINDS in known:
        known[KINDS] = [*known[KINDS], *(kind for kind in schema[KINDS] if kind not in known[KINDS])]
    return known


def _schema(schema: Json) -> Json:
    """A schema in v2's words. Its parts are new; what cannot change is shared."""
    said = {key: value for key, value in schema.items() if key not in _UNSPEAKABLE}
    if "oneOf" in schema:
        # A number or a string: v2's readers take a string for both.
        said["type"] = "string"
    if "allOf" in said:
        for part in said.pop("allOf"):
            said.update(part)
    if "$ref" in said:
        said["$ref"] = said["$ref"].replace(PREFIX, DEFINITIONS)
        said.pop("type", None)
    if "properties" in said:
        said["properties"] = {name: _schema(one) for name, one in said["properties"].items()}
    for nested in ("items", "additionalProperties"):
        if isinstance(said.get(nested), dict):
            said[nested] = _schema(said[nested])
    return said


def _path_item(item: Json) -> Json:
    said: Json = {method: _operation(operation) for method, operation in item.items() if method != "parameters"}
    if "parameters" in item:
        said["parameters"] = [_parameter(one) for one in item["parameters"]]
    return said


def _operation(operation: Json) -> Json:
    said: Json = {key: operation[key] for key in _KEPT if key in operation}
    listed = [_parameter(one) for one in operation.get("parameters", ())]
    body = operation.get("requestBody")
    if body:
        said["consumes"] = list(body["content"])
        (schema, *_) = (one["schema"] for one in body["content"].values())
        listed.append(
            {"name": "body", "in": "body", "required": body.get("required", False), "schema": _schema(schema)}
        )
    if listed:
        said["parameters"] = listed
    said["produces"] = list(operation["responses"]["200"]["content"])
    said["responses"] = {code: _response(answer) for code, answer in operation["responses"].items()}
    said["schemes"] = ["https"]
    return said


def _parameter(parameter: Json) -> Json:
    said = {key: value for key, value in parameter.items() if key != "schema"}
    return {**said, **parameter["schema"]}


def _response(answer: Json) -> Json:
    said: Json = {"description": answer["description"]}
    if "content" in answer:
        (first, *_) = answer["content"].values()
        said["schema"] = _schema(first["schema"])
    return said
