"""Signed tokens in compact form: three parts of Base64, a header that says how it was signed, claims, a signature.

The envelope is read strictly here: no padding, no stray characters, no claim twice, no header that a reader must
understand and we do not. The mathematics is PyJWT's and cryptography's. Only asymmetric algorithms exist here, so no
public key can be mistaken for a shared secret; where keys come from is never taken from the token itself.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from hardpoint.machinery import jsontext
from hardpoint.machinery.jwk import Key, SigningKey

Json = dict[str, Any]

TOKEN_LENGTH_MAX = 64 * 1024
"""Ten times what the largest sensible one has; everything longer is refused unread."""

_COMPACT = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)")


class BadToken(ValueError):
    """A text that is no signed token, or one that nobody we know signed. The message holds nothing of it."""


class Signed(NamedTuple):
    """A token taken apart. Until `verify` returns nobody knows who wrote it."""

    header: Json
    claims: Json
    content: bytes
    """What was signed."""
    signature: bytes

    @property
    def key_id(self) -> str:
        told = self.header.get("kid", "")
        return told if isinstance(told, str) else ""

    @property
    def issuer(self) -> str:
        told = self.claims.get("iss", "")
        return told if isinstance(told, str) else ""


def parse(token: str) -> Signed:
    """Take a token apart. Raises BadToken."""
    if len(token) > TOKEN_LENGTH_MAX:
        raise BadToken(f"the token has more than {TOKEN_LENGTH_MAX} characters")
    parts = _COMPACT.fullmatch(token)
    if parts is None:
        raise BadToken("the token is not three parts of unpadded Base64")
    header, claims, signature = (_decoded(part) for part in parts.groups())
    signed = Signed(_object(header, "header"), _object(claims, "claims"), token[: parts.end(2)].encode(), signature)
    if "crit" in signed.header:
        raise BadToken("the token's header has extensions that must be understood, and none are")
    return signed


def verify(signed: Signed, keys: Iterable[Key]) -> None:
    """Return if one of the keys signed it, with an algorithm that is the key's own; else BadToken."""
    algorithm = signed.header.get("alg")
    if not isinstance(algorithm, str):
        raise BadToken("the token does not say how it was signed")
    if not any(key.verifies(algorithm, signed.content, signed.signature) for key in keys):
        raise BadToken("the token's signature is not valid")


def sign(claims: Mapping[str, Any], key: SigningKey) -> str:
    """A token in compact form. Claims are sorted, as Kubernetes writes them."""
    header = _encoded(orjson.dumps({"alg": key.algorithm, "kid": key.public.id}))
    content = b"%b.%b" % (header, _encoded(orjson.dumps(claims, option=orjson.OPT_SORT_KEYS)))
    return (content + b"." + _encoded(key.sign(content))).decode()


def _decoded(part: str) -> bytes:
    decoded = urlsafe_b64decode(part + "=" * (-len(part) % 4)) if len(part) % 4 != 1 else b""
    if _encoded(decoded) != part.encode():
        # Cut off, or with bits set behind the end: there is one way to write a token, and others are not it.
        raise BadToken("the token is not three parts of unpadded Base64")
    return decoded


def _encoded(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def _object(data: bytes, what: str) -> Json:
    try:
        value, duplicates = jsontext.parse(data)
    except jsontext.BadJson as wrong:
        raise BadToken(f"the token's {what} is not JSON") from wrong
    if not isinstance(value, dict):
        raise BadToken(f"the token's {what} is not an object")
    if duplicates:
        raise BadToken(f"the token's {what} says something twice")
    return value
