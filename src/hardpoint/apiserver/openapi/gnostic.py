"""An OpenAPI v2 document as protobuf: the form kubectl and client-go ask for when they ask for v2.

Message and field numbers are those of gnostic's `openapi.v2`. Only what our documents contain can be written. Values
of any type (extensions, enums) travel as YAML text, of which JSON is a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

Json = dict[str, Any]
Writer = Callable[[Any], bytes]
Fields = Mapping[str, tuple[int, Writer]]
"""The number and the writer of each key; a writer with the number 0 writes its own tags."""

_LENGTH_DELIMITED = 2


def encode(document: Json) -> bytes:
    """The `openapi.v2.Document` message of a document."""
    return _message(_DOCUMENT, document)


def path_entries(paths: Mapping[str, Json]) -> bytes:
    """What paths are in the document's field of them."""
    return _PATHS(paths)


def definition_entries(definitions: Mapping[str, Json]) -> bytes:
    """What definitions are in the document's field of them."""
    return _DEFINITIONS(definitions)


def frame(about: Json, paths_length: int, definitions_length: int, security: Json) -> tuple[bytes, bytes, bytes]:
    """What stands before the entries of paths, between them and those of definitions, and after those."""
    before = _message(_DOCUMENT, about) + _head(_DOCUMENT["paths"][0], paths_length)
    return before, _head(_DOCUMENT["definitions"][0], definitions_length), _message(_DOCUMENT, security)


def _message(fields: Fields, value: Json, extensions: int = 0) -> bytes:
    """A message whose fields are keys of a JSON object; keys with `x-` go to the field `extensions`."""
    parts = []
    for key, part in value.items():
        if key in fields:
            number, write = fields[key]
            parts.append(write(part) if number == 0 else _field(number, write(part)))
        elif extensions and key.startswith("x-"):
            parts.append(_field(extensions, _named(key, _any(part))))
    return b"".join(parts)


def _field(number: int, content: bytes) -> bytes:
    return _head(number, len(content)) + content


def _head(number: int, length: int) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(length)


def _varint(number: int) -> bytes:
    if number < 0x80:
        return bytes((number,))
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def _text(value: str) -> bytes:
    return value.encode()


def _any(value: Any) -> bytes:
    return _field(2, orjson.dumps(value))


def _named(name: str, content: bytes) -> bytes:
    """A pair, which is how this format writes maps."""
    return _field(1, name.encode()) + _field(2, content)


def _repeated(number: int, write: Writer) -> tuple[int, Writer]:
    """A field that occurs once for each item of a list."""
    return 0, lambda items: b"".join(_field(number, write(item)) for item in items)


def _flag(number: int) -> tuple[int, Writer]:
    return 0, lambda value: _varint(number << 3) + bytes((int(value),))


def _map(number: int, write: Writer) -> Writer:
    return lambda value: b"".join(_field(number, _named(name, write(part))) for name, part in value.items())


def _schema(schema: Json) -> bytes:
    return _message(_SCHEMA, schema, 31)


def _additional(value: Any) -> bytes:
    return _field(1, _schema(value)) if isinstance(value, dict) else _flag(2)[1](value)


def _operation(operation: Json) -> bytes:
    return _message(_OPERATION, operation, 13)


def _parameter(parameter: Json) -> bytes:
    """A ParametersItem that holds a parameter: of the body, of the query or of the path."""
    if parameter["in"] == "body":
        return _field(1, _field(1, _message(_BODY, parameter)))
    number, fields = (4, _PATH_PARAMETER) if parameter["in"] == "path" else (3, _QUERY_PARAMETER)
    return _field(1, _field(2, _field(number, _message(fields, parameter))))


def _response(answer: Json) -> bytes:
    return _field(1, _message(_RESPONSE, answer))


def _requirement(requirement: Mapping[str, Iterable[str]]) -> bytes:
    return _map(1, lambda scopes: b"".join(_field(1, scope.encode()) for scope in scopes))(requirement)


_SCHEMA: Fields = {
    "$ref": (1, _text),
    "format": (2, _text),
    "description": (4, _text),
    "pattern": (13, _text),
    "required": _repeated(19, _text),
    "enum": _repeated(20, _any),
    "additionalProperties": (21, _additional),
    "type": (22, lambda name: _field(1, name.encode())),
    "items": (23, lambda one: _field(1, _schema(one))),
    "properties": (25, _map(1, _schema)),
}
_BODY: Fields = {"name": (2, _text), "in": (3, _text), "required": _flag(4), "schema": (5, _schema)}
_QUERY_PARAMETER: Fields = {
    "required": _flag(1),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (6, _text),
    "uniqueItems": _flag(20),
}
_PATH_PARAMETER: Fields = {
    "required": _flag(1),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (5, _text),
    "uniqueItems": _flag(19),
}
_OPERATION: Fields = {
    "tags": _repeated(1, _text),
    "description": (3, _text),
    "operationId": (5, _text),
    "produces": _repeated(6, _text),
    "consumes": _repeated(7, _text),
    "parameters": _repeated(8, _parameter),
    "responses": (9, _map(1, _response)),
    "schemes": _repeated(10, _text),
}
_PATH_ITEM: Fields = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "options": (6, _operation),
    "head": (7, _operation),
    "patch": (8, _operation),
    "parameters": _repeated(9, _parameter),
}
_RESPONSE: Fields = {"description": (1, _text), "schema": (2, lambda one: _field(1, _schema(one)))}
_API_KEY: Fields = {"type": (1, _text), "name": (2, _text), "in": (3, _text), "description": (4, _text)}
_PATHS = _map(2, lambda item: _message(_PATH_ITEM, item))
_DEFINITIONS = _map(1, _schema)
_DOCUMENT: Fields = {
    "swagger": (1, _text),
    "info": (2, lambda info: _message({"title": (1, _text), "version": (2, _text)}, info)),
    "paths": (8, _PATHS),
    "definitions": (9, _DEFINITIONS),
    "security": _repeated(12, _requirement),
    "securityDefinitions": (13, _map(1, lambda one: _field(2, _message(_API_KEY, one)))),
}
