"""A small OpenID Connect issuer: real HTTPS, real keys, real signatures, and every way of misbehaving."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jwt
import orjson
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from hardpoint.machinery.messages import Request, Response
from hardpoint.serving import serve
from hardpoint.serving.certificates import Pki, Wanted, ensure
from hardpoint.serving.tls import serving_context

Json = dict[str, Any]
Answer = Callable[[Request], Awaitable[Response]]

AUDIENCE = "hardpoint"


@dataclass
class SigningKey:
    """A key with its id. RSA keys take a moment to make: tests share one."""

    id: str
    private: Any
    algorithm: str

    @classmethod
    def elliptic(cls, id_: str) -> SigningKey:
        return cls(id_, ec.generate_private_key(ec.SECP256R1()), "ES256")

    @classmethod
    def rsa(cls, id_: str) -> SigningKey:
        return cls(id_, rsa.generate_private_key(65537, 2048), "RS256")

    def jwk(self) -> Json:
        form = ECAlgorithm if self.algorithm.startswith("E") else RSAAlgorithm
        told = form.to_jwk(self.private.public_key(), as_dict=True)
        return {**told, "kid": self.id, "use": "sig", "alg": self.algorithm}


@dataclass
class Issuer:
    """Issues tokens with its first key, publishes all of them, and counts who asks."""

    ca_pem: str
    keys: list[SigningKey]
    url: str = ""
    asked: list[str] = field(default_factory=list)
    answers: dict[str, Answer] = field(default_factory=dict)
    """What to answer on a path in place of the truth."""

    def token(self, *, key: SigningKey | None = None, headers: Json | None = None, **claims: Any) -> str:
        """A good token, unless the claims say otherwise; None leaves a claim out."""
        now = int(time.time())
        good = {"iss": self.url, "sub": "jane", "aud": AUDIENCE, "iat": now, "exp": now + 600}
        told = {name: value for name, value in {**good, **claims}.items() if value is not None}
        key = key or self.keys[0]
        return jwt.encode(told, key.private, key.algorithm, headers={"kid": key.id, **(headers or {})})

    def configuration(self, **more: Any) -> Json:
        """The part of an AuthenticationConfiguration that believes this issuer."""
        return {
            "issuer": {"url": self.url, "audiences": [AUDIENCE], "certificateAuthority": self.ca_pem},
            "claimMappings": {"username": {"claim": "sub", "prefix": "oidc:"}},
            **more,
        }

    async def _handle(self, request: Request) -> Response:
        self.asked.append(request.path)
        if request.path in self.answers:
            return await self.answers[request.path](request)
        if request.path == "/.well-known/openid-configuration":
            return Response(200, orjson.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys"}))
        if request.path == "/keys":
            return Response(200, orjson.dumps({"keys": [key.jwk() for key in self.keys]}))
        return Response(404)


@asynccontextmanager
async def running_issuer(folder: Path, *keys: SigningKey) -> AsyncIterator[Issuer]:
    """An issuer on a free port, with an authority of its own."""
    pki = _pki(folder)
    issuer = Issuer(pki.certificate("ca").read_text(), list(keys) or [SigningKey.elliptic("first")])
    context = serving_context(pki.certificate("issuer"), pki.key("issuer"), None)
    async with await serve(issuer._handle, ssl_context=context) as server:
        issuer.url = f"https://127.0.0.1:{server.port}"
        yield issuer


def _pki(folder: Path) -> Pki:
    wanted = (
        Wanted("ca", "ca", "issuers", "authority"),
        Wanted("issuer", "ca", "issuer", "server", names=("127.0.0.1", "localhost")),
    )
    return ensure(folder, wanted, datetime.now(UTC))


async def hang(request: Request) -> Response:
    await asyncio.Event().wait()
    raise AssertionError("nobody wakes it")
