"""Tokens that are nearly good: made from a good one, with or without the key that signed it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from collections.abc import Callable
from typing import Any

import jwt
import orjson
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

Json = dict[str, Any]


class Forger:
    """Has a good token, and the key that signed it: what is wrong with a forgery is only what its name says."""

    def __init__(self, token: str, key: ec.EllipticCurvePrivateKey) -> None:
        self.token = token
        self.header: Json = jwt.get_unverified_header(token)
        self.claims: Json = jwt.decode(token, options={"verify_signature": False})
        self._key = key

    def saying(self, **claims: Any) -> str:
        """Properly signed, with other claims; None leaves one out."""
        told = {name: value for name, value in {**self.claims, **claims}.items() if value is not None}
        return jwt.encode(told, self._key, "ES256", headers={"kid": self.header["kid"]})

    def by_a_stranger(self, **header: Any) -> str:
        stranger = ec.generate_private_key(ec.SECP256R1())
        return jwt.encode(self.claims, stranger, "ES256", headers={"kid": self.header["kid"], **header})

    def unsigned(self, algorithm: str) -> str:
        return f"{_encoded(orjson.dumps({**self.header, 'alg': algorithm}))}.{self.token.split('.')[1]}."

    def with_the_public_key_as_secret(self) -> str:
        form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        secret = self._key.public_key().public_bytes(*form)
        header = _encoded(orjson.dumps({**self.header, "alg": "HS256"}))
        content = f"{header}.{self.token.split('.')[1]}"
        return f"{content}.{_encoded(hmac.digest(secret, content.encode(), hashlib.sha256))}"

    def tampered(self, **claims: Any) -> str:
        """Another payload under the signature of the good one."""
        header, _, signature = self.token.split(".")
        return f"{header}.{_encoded(orjson.dumps({**self.claims, **claims}))}.{signature}"

    def cut(self) -> str:
        return self.token[:-8]


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


ROOT = "system:serviceaccount:kube-system:root"
LONG_AGO = int(time.time()) - 3600

FORGERIES: dict[str, Callable[[Forger], str]] = {
    "expired": lambda f: f.saying(exp=LONG_AGO, iat=LONG_AGO - 60, nbf=LONG_AGO - 60),
    "without an end": lambda f: f.saying(exp=None),
    "not yet valid": lambda f: f.saying(nbf=int(time.time()) + 3600),
    "for another audience": lambda f: f.saying(aud=["https://elsewhere.example.com"]),
    "of another issuer": lambda f: f.saying(iss="https://elsewhere.example.com"),
    "of the issuer, nearly": lambda f: f.saying(iss=f.claims["iss"] + "/"),
    "alg none": lambda f: f.unsigned("none"),
    "alg nOnE": lambda f: f.unsigned("nOnE"),
    "HS256 with the public key": lambda f: f.with_the_public_key_as_secret(),
    "another's key": lambda f: f.by_a_stranger(),
    "a key that it brings": lambda f: f.by_a_stranger(jwk={"kty": "EC"}, jku="https://127.0.0.1:1/keys"),
    "a key that is a path": lambda f: f.by_a_stranger(kid="../../../../dev/null"),
    "another subject under its signature": lambda f: f.tampered(sub=ROOT),
    "a longer life under its signature": lambda f: f.tampered(exp=int(time.time()) + 10**9),
    "without its end": lambda f: f.cut(),
}
