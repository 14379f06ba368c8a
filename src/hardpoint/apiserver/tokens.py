"""Continue tokens: where a list goes on, opaque to clients.

The form is kube-apiserver's with one number more, and so are the words for tokens that nobody was given.
"""

from __future__ import annotations

import posixpath
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, NamedTuple

import orjson

from hardpoint.apiserver.options import ListOptions
from hardpoint.machinery import errors, jsontext
from hardpoint.machinery.shapes.refusals import json_type

NEWEST = -1
_VERSION = "meta.k8s.io/v1"
_NO_BASE64 = re.compile(rb"[^A-Za-z0-9_-]")
_FIELDS = {"v": str, "rv": int, "start": str, "n": int}
_GO_TYPES = {str: "string", int: "int64"}


class Token(NamedTuple):
    """Where a list goes on."""

    revision: int
    """The revision of the list, or -1 for the newest."""
    start: str
    """The first key of the next page, relative to the prefix."""
    remaining: int
    """How many keys follow, as far as known; -1 if not."""


class _BadToken(ValueError):
    """A text that is no token; the message says why."""


def write_token(token: Token) -> str:
    body = {"v": _VERSION, "rv": token.revision, "start": token.start}
    if token.remaining >= 0:
        body["n"] = token.remaining
    return urlsafe_b64encode(orjson.dumps(body)).decode().rstrip("=")


def read_token(text: str, options: ListOptions) -> Token:
    """What `write_token` wrote. Raises 400."""
    try:
        token = _checked(_fields(_decoded(text.encode("utf-8", "surrogatepass"))))
    except (_BadToken, jsontext.BadJson) as wrong:
        raise errors.bad_request(f"invalid continue token: continue key is not valid: {wrong}") from wrong
    if options.resource_version not in ("", "0"):
        raise errors.bad_request("specifying resource version is not allowed when using continue")
    return token


def _decoded(text: bytes) -> bytes:
    """The bytes behind Base64 without padding."""
    illegal = _NO_BASE64.search(text)
    if illegal is not None or len(text) % 4 == 1:
        position = illegal.start() if illegal is not None else len(text) - 1
        raise _BadToken(f"illegal base64 data at input byte {position}")
    return urlsafe_b64decode(text + b"=" * (-len(text) % 4))


def _fields(data: bytes) -> dict[str, Any]:
    body = jsontext.parse(data).value
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise _BadToken(f"json: cannot unmarshal {json_type(body)} into Go value of type storage.continueToken")
    for name, type_ in _FIELDS.items():
        if type(body.get(name, type_())) is not type_:
            into = f"field continueToken.{name} of type {_GO_TYPES[type_]}"
            raise _BadToken(f"json: cannot unmarshal {json_type(body[name])} into Go struct {into}")
    return body


def _checked(body: dict[str, Any]) -> Token:
    version, revision, start = body.get("v", ""), body.get("rv", 0), body.get("start", "")
    if version != _VERSION:
        raise _BadToken(f"server does not recognize this encoded version {version}")
    if revision == 0:
        raise _BadToken(f"incorrect encoded start resourceVersion (version {version})")
    if not start:
        raise _BadToken(f"encoded start key empty (version {version})")
    key = start if start.startswith("/") else f"/{start}"
    # Two slashes at the start are one to Go, and two to POSIX.
    if key.startswith("//") or posixpath.normpath(key) != key:
        raise _BadToken(start)
    return Token(max(revision, NEWEST), key[1:], body.get("n", -1))
