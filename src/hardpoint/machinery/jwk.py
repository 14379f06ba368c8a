"""Keys that sign and verify tokens: from PEM, from and to JWK, with the ids Kubernetes gives them.

RSA and the three NIST curves, as kube-apiserver has them. A key knows the algorithms it can be used with; a token does
not get to choose another. Importing this costs little: cryptography comes in when the first key is made or read.
"""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey
    PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

Json = dict[str, Any]

ALGORITHMS = ("ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")
"""Every algorithm there is here."""

RSA_BITS_MIN = 1024
"""What Go verifies with at all; a shorter key can be bought."""

_OF_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_OF_CURVE = {"secp256r1": ("ES256",), "secp384r1": ("ES384",), "secp521r1": ("ES512",)}
_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.+?-----END \1-----", re.DOTALL)


class BadKey(ValueError):
    """A text that holds no key we can use. The message holds nothing of it."""


@dataclass(frozen=True, slots=True, repr=False)
class Key:
    """A public key."""

    public: PublicKey
    id: str
    """What tokens name it by."""
    algorithms: tuple[str, ...]
    """Those it verifies with; the first is the one it is announced with."""

    def verifies(self, algorithm: str, content: bytes, signature: bytes) -> bool:
        """Whether this key made the signature, with an algorithm that is its own."""
        if algorithm not in self.algorithms:
            return False
        return bool(_algorithms()[algorithm].verify(content, self.public, signature))

    def jwk(self) -> Json:
        """As it stands in a key set, its members in the order Kubernetes writes them."""
        told = _algorithms()[self.algorithms[0]].to_jwk(self.public, as_dict=True)
        first = {"use": "sig", "kty": told["kty"], "kid": self.id}
        curve = {"crv": told["crv"]} if "crv" in told else {}
        rest = {name: told[name] for name in ("n", "e", "x", "y") if name in told}
        return {**first, **curve, "alg": self.algorithms[0], **rest}


@dataclass(frozen=True, slots=True, repr=False)
class SigningKey:
    """A private key."""

    private: PrivateKey
    public: Key

    @property
    def algorithm(self) -> str:
        return self.public.algorithms[0]

    def sign(self, content: bytes) -> bytes:
        return bytes(_algorithms()[self.algorithm].sign(content, self.private))

    def pem(self) -> bytes:
        """Everything there is to know about it: for a file that only its owner can read."""
        from cryptography.hazmat.primitives import serialization as form

        return self.private.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())


def generate() -> SigningKey:
    """A new ECDSA P-256 key."""
    from cryptography.hazmat.primitives.asymmetric import ec

    return _signing(ec.generate_private_key(ec.SECP256R1()))


def signing_key(pem: bytes) -> SigningKey:
    """The private key in a PEM text. Raises BadKey."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return _signing(load_pem_private_key(pem, password=None))
    except (ValueError, TypeError) as cause:
        # cryptography's own words may quote what it read.
        raise BadKey("is not an unencrypted private key in PEM form") from cause


def verifying_keys(pem: bytes) -> list[Key]:
    """The keys in a PEM text: public ones, those of private ones, those of certificates. Raises BadKey if none is."""
    blocks = [(match[1], match[0]) for match in _BLOCK.finditer(pem)]
    keys = [_verifying(_opened(label, block)) for label, block in blocks if label != b"EC PARAMETERS"]
    if not keys:
        raise BadKey("holds no keys in PEM form")
    return keys


def from_jwk(jwk: Json) -> Key:
    """A public key from a key set. Raises BadKey for what is none, or is of another kind."""
    kinds = {"EC": "ES256", "RSA": "RS256"}
    kind = jwk.get("kty")
    if not isinstance(kind, str) or kind not in kinds:
        raise BadKey("is neither an RSA nor an EC key")
    public_members = {name: value for name, value in jwk.items() if name in ("kty", "crv", "n", "e", "x", "y")}
    try:
        key = _verifying(_algorithms()[kinds[kind]].from_jwk(public_members))
    except Exception as cause:  # PyJWT and cryptography raise a dozen kinds for a key that is none.
        raise BadKey("is not a key") from cause
    told_id, told_algorithm = jwk.get("kid"), jwk.get("alg")
    algorithms = key.algorithms
    if isinstance(told_algorithm, str) and told_algorithm:
        algorithms = tuple(each for each in algorithms if each == told_algorithm)
    return Key(key.public, told_id if isinstance(told_id, str) else "", algorithms)


def _opened(label: bytes, block: bytes) -> Any:
    """The public key in one PEM block."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    try:
        if label == b"CERTIFICATE":
            return x509.load_pem_x509_certificate(block).public_key()
        if label in (b"PUBLIC KEY", b"RSA PUBLIC KEY"):
            return serialization.load_pem_public_key(block)
        return serialization.load_pem_private_key(block, password=None).public_key()
    except (ValueError, TypeError) as cause:
        raise BadKey("holds a key that cannot be read") from cause


def _signing(private: Any) -> SigningKey:
    return SigningKey(private, _verifying(private.public_key()))


def _verifying(public: Any) -> Key:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    if isinstance(public, rsa.RSAPublicKey) and public.key_size >= RSA_BITS_MIN:
        algorithms: tuple[str, ...] = _OF_RSA
    elif isinstance(public, ec.EllipticCurvePublicKey) and public.curve.name in _OF_CURVE:
        algorithms = _OF_CURVE[public.curve.name]
    else:
        raise BadKey("holds a key that is neither RSA nor on the curves P-256, P-384, P-521")
    encoded = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Key(public, urlsafe_b64encode(hashlib.sha256(encoded).digest()).rstrip(b"=").decode(), algorithms)


@cache
def _algorithms() -> dict[str, Any]:
    """What does the mathematics, by name: symmetric algorithms and `none` are left out."""
    from jwt.algorithms import get_default_algorithms

    return {name: algorithm for name, algorithm in get_default_algorithms().items() if name in ALGORITHMS}
