"""What attackers try. Each is refused with the same 401 whatever is wrong, and no token is in any log."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import logging
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from hardpoint.apiserver.authentication.jwt.issuers import IssuerKeys
from hardpoint.apiserver.authentication.options import AuthenticationOptions
from hardpoint.client.transport import TransportError
from hardpoint.machinery import jwk, jws
from hardpoint.machinery.jwk import SigningKey
from hardpoint.machinery.messages import Peer, Request, Response
from hardpoint.seams.authentication.contract import RefusedCredential
from tests.apiserver.asking import Api
from tests.apiserver.authentication.accounts import ISSUER, make_account, make_pod, review, token_of, who
from tests.apiserver.authentication.conftest import serving, write_configuration
from tests.apiserver.authentication.issuer import Issuer, hang, running_issuer
from tests.apiserver.authentication.issuer import SigningKey as IssuerKey

Json = dict[str, Any]

UNAUTHORIZED = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "Unauthorized",
    "reason": "Unauthorized",
    "code": 401,
}


class Attacker:
    """Has a good token, the server's public key and, for some attacks, the server's private key too."""

    def __init__(self, token: str, key: SigningKey) -> None:
        self.token = token
        self.key = key
        self.header, self.payload, self.signature = token.split(".")

    @property
    def claims(self) -> Json:
        claims: Json = orjson.loads(base64.urlsafe_b64decode(self.payload + "=="))
        return claims

    def signed(self, claims: Json, **header: Any) -> str:
        """With the real key: only what the claims or the header say can be wrong."""
        told = orjson.dumps({"alg": "ES256", "kid": self.key.public.id, **header})
        content = f"{encoded(told)}.{encoded(orjson.dumps(claims))}"
        return f"{content}.{encoded(self.key.sign(content.encode()))}"

    def unsigned(self, header: Json, claims: Json | None = None, signature: str = "") -> str:
        return f"{encoded(orjson.dumps(header))}.{encoded(orjson.dumps(claims or self.claims))}.{signature}"

    def with_claims(self, **claims: Any) -> str:
        return self.signed({**self.claims, **claims})

    def by_another(self, **header: Any) -> str:
        """With a key of the attacker's own."""
        other = jwk.generate()
        told = orjson.dumps({"alg": "ES256", "kid": self.key.public.id, **header})
        content = f"{encoded(told)}.{self.payload}"
        return f"{content}.{encoded(other.sign(content.encode()))}"

    def symmetric(self) -> str:
        """The public key, which everybody knows, as a shared secret."""
        form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        secret = self.key.public.public.public_bytes(*form)
        content = f"{encoded(orjson.dumps({'alg': 'HS256', 'kid': self.key.public.id}))}.{self.payload}"
        return f"{content}.{encoded(hmac.digest(secret, content.encode(), hashlib.sha256))}"

    def twice(self) -> str:
        """One claim said twice, signed by the real key: who reads the first and who reads the last would differ."""
        text = orjson.dumps(self.claims)
        doubled = text[:-1] + b',"sub":"system:serviceaccount:kube-system:admin"}'
        content = f"{self.header}.{encoded(doubled)}"
        return f"{content}.{encoded(self.key.sign(content.encode()))}"


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def flipped(text: str, position: int) -> str:
    return text[:position] + ("A" if text[position] != "A" else "B") + text[position + 1 :]


ATTACKS: dict[str, Callable[[Attacker], str]] = {
    "expired": lambda a: a.with_claims(exp=int(time.time()) - 61),
    "without an end": lambda a: a.signed({k: v for k, v in a.claims.items() if k != "exp"}),
    "an end that is a text": lambda a: a.with_claims(exp="9999999999"),
    "an end that is true": lambda a: a.with_claims(exp=True),
    "not yet valid": lambda a: a.with_claims(nbf=int(time.time()) + 120),
    "issued in the future": lambda a: a.with_claims(iat=int(time.time()) + 120),
    "another audience": lambda a: a.with_claims(aud=["vault"]),
    "audiences that are numbers": lambda a: a.with_claims(aud=[7]),
    "an audience that is an object": lambda a: a.with_claims(aud={"x": ISSUER}),
    "another issuer": lambda a: a.with_claims(iss="https://evil.example.com"),
    "an issuer that is a list": lambda a: a.with_claims(iss=[ISSUER]),
    "alg none": lambda a: a.unsigned({"alg": "none"}),
    "alg None with a signature": lambda a: a.unsigned({"alg": "None"}, signature=a.signature),
    "no alg": lambda a: a.unsigned({"kid": a.key.public.id}, signature=a.signature),
    "an alg that is a list": lambda a: a.unsigned({"alg": ["ES256"]}, signature=a.signature),
    "HS256 with the public key": Attacker.symmetric,
    "an algorithm of other keys": lambda a: a.signed(a.claims, alg="RS256"),
    "a kid that is a path": lambda a: a.by_another(kid="../../../../dev/null"),
    "a kid that is a query": lambda a: a.by_another(kid="x' UNION SELECT 'key"),
    "a kid that is a number": lambda a: a.by_another(kid=7),
    "no kid": lambda a: a.by_another(kid=""),
    "jku": lambda a: a.by_another(jku="https://evil.example.com/keys"),
    "x5u": lambda a: a.by_another(x5u="https://evil.example.com/cert"),
    "jwk": lambda a: a.by_another(jwk=jwk.generate().public.jwk()),
    "crit": lambda a: a.signed(a.claims, crit=["b64"], b64=False),
    "a tampered header": lambda a: f"{flipped(a.header, 5)}.{a.payload}.{a.signature}",
    "tampered claims": lambda a: a.unsigned(
        {"alg": "ES256", "kid": a.key.public.id},
        {**a.claims, "sub": "system:serviceaccount:kube-system:admin"},
        a.signature,
    ),
    "a tampered signature": lambda a: f"{a.header}.{a.payload}.{flipped(a.signature, 10)}",
    "bits behind the signature's end": lambda a: f"{a.token[:-1]}{chr(ord(a.token[-1]) + 1)}",
    "half a signature": lambda a: a.token[:-43],
    "no signature": lambda a: f"{a.header}.{a.payload}.",
    "a signature of zeros": lambda a: f"{a.header}.{a.payload}.{encoded(bytes(64))}",
    "two parts": lambda a: f"{a.header}.{a.payload}",
    "four parts": lambda a: f"{a.token}.{a.signature}",
    "a claim said twice": Attacker.twice,
    "claims that are a list": lambda a: f"{a.header}.{encoded(b'[]')}.{a.signature}",
    "claims that are nothing": lambda a: f"{a.header}.{encoded(b'')}.{a.signature}",
    "claims too deep": lambda a: f"{a.header}.{encoded(b'[' * 20000)}.{a.signature}",
    "padded": lambda a: f"{a.header}==.{a.payload}.{a.signature}",
    "another alphabet": lambda a: f"{a.header}.{a.payload}.+/{a.signature[2:]}",
    "a stray character": lambda a: f"{a.header}.{a.payload}.!{a.signature}",
    "a name that is a path": lambda a: a.with_claims(
        **{"kubernetes.io": {**a.claims["kubernetes.io"], "serviceaccount": {"name": "../x", "uid": "u"}}}
    ),
    "no account": lambda a: a.with_claims(**{"kubernetes.io": {"namespace": "default"}}),
    "another account's uid": lambda a: a.with_claims(
        **{"kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "robot", "uid": "0"}}}
    ),
    "bound to a pod that is not there": lambda a: a.with_claims(
        **{"kubernetes.io": {**a.claims["kubernetes.io"], "pod": {"name": "gone", "uid": "0"}}}
    ),
    "a megabyte": lambda a: "a" * 900_000,
    "a megabyte of claims": lambda a: a.signed({**a.claims, "x": "y" * 600_000}),
    "another kind of token": lambda a: "abcdef.0123456789abcdef",
    "a secret with a null": lambda a: "a\x00b",
}


@pytest.fixture
async def attacker(api: Api) -> Attacker:
    await make_account(api)
    return Attacker(await token_of(api), api.server._account_keys.signer)


@pytest.mark.parametrize("attack", ATTACKS)
async def test_bad_tokens(api: Api, attacker: Attacker, attack: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    token = ATTACKS[attack](attacker)
    assert await who(api, token) == (401, UNAUTHORIZED)
    reviewed = await review(api, token)
    assert reviewed["user"] == {}
    assert reviewed["error"].startswith(("invalid bearer token", "[invalid bearer token"))
    pieces = [part for part in token.split(".") if len(part) > 16]
    written = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records) + reviewed["error"]
    assert not [piece for piece in pieces if piece in written]
    # And the good one is still good.
    assert (await who(api, attacker.token))[0] == 201


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"authorization": "Bearer {token}, Bearer {token}"}, id="twice, as the transport joins them"),
        pytest.param({"authorization": "Bearer nobody, Bearer {token}"}, id="a bad one first"),
        pytest.param({"authorization": "Bearer {token}\x00"}, id="and a null"),
    ],
)
async def test_a_token_is_shown_once(api: Api, attacker: Attacker, headers: dict[str, str]) -> None:
    told = {name: value.format(token=attacker.token) for name, value in headers.items()}
    assert (await api.as_user(None).send("GET", "/api", **told)).status == 401


async def test_a_token_that_was_seen_goes_no_further(api: Api, attacker: Attacker) -> None:
    """Whoever a request is passed on to would otherwise have it too."""
    protocols = f"{SUBPROTOCOL}{encoded(attacker.token.encode())}, v5.channel.k8s.io"
    shown = {"upgrade": "websocket", "sec-websocket-protocol": protocols, "authorization": f"Bearer {attacker.token}"}
    request = Request("GET", "/api", "", shown, b"", Peer("127.0.0.1:1"))
    assert (await api.server.handle(request)).status == 200
    assert request.headers == {"upgrade": "websocket", "sec-websocket-protocol": "v5.channel.k8s.io"}


@pytest.mark.parametrize(
    "authorization", ["Basic {token}", "bearer", "Bearer ", "Bearer  {token}", "{token}", "Token {token}", ""]
)
async def test_what_is_no_bearer_token_is_no_credential(api: Api, attacker: Attacker, authorization: str) -> None:
    said = authorization.format(token=attacker.token)
    status, refused = await api.as_user(None).ask("GET", "/api", authorization=said)
    assert (status, refused["message"]) == (403, 'forbidden: User "system:anonymous" cannot get path "/api"')


SUBPROTOCOL = "base64url.bearer.authorization.k8s.io."


@pytest.mark.parametrize(
    ("protocols", "status"),
    [
        pytest.param("{good}, v5.channel.k8s.io", 200, id="with another"),
        pytest.param("v5.channel.k8s.io,{good}", 200, id="in any order"),
        pytest.param("{good}", 401, id="alone"),
        pytest.param("{good}, {good}, x", 401, id="twice"),
        pytest.param(SUBPROTOCOL + "!!!, x", 401, id="no Base64"),
        pytest.param(SUBPROTOCOL + "_w, x", 401, id="no text"),
        pytest.param(SUBPROTOCOL + "bm9ib2R5, x", 401, id="nobody's"),
        pytest.param("x", 403, id="none"),
    ],
)
async def test_websockets_bring_tokens_among_their_protocols(
    api: Api, attacker: Attacker, protocols: str, status: int
) -> None:
    asked = protocols.format(good=SUBPROTOCOL + encoded(attacker.token.encode()))
    headers = {"connection": "Upgrade", "upgrade": "websocket", "sec_websocket_protocol": asked}
    assert (await api.as_user(None).send("GET", "/api", **headers)).status == status
    del headers["upgrade"]
    assert (await api.as_user(None).send("GET", "/api", **headers)).status == 403


async def test_a_token_of_a_recreated_pod_is_dead(api: Api) -> None:
    await make_account(api)
    await make_pod(api)
    token = await token_of(api, boundObjectRef={"apiVersion": "v1", "kind": "Pod", "name": "web"})
    await api.ok("DELETE", "/api/v1/namespaces/default/pods/web?gracePeriodSeconds=0")
    await make_pod(api)
    assert await who(api, token) == (401, UNAUTHORIZED)
    assert "UID" in (await review(api, token))["error"]


@pytest.fixture
async def doubting(tmp_path: Path, issuer: Issuer) -> AsyncIterator[tuple[Api, Issuer]]:
    file = tmp_path / "config"
    write_configuration(file, issuer.configuration())
    async with serving(AuthenticationOptions(config_file=file)) as api:
        yield api, issuer


OIDC_ATTACKS: dict[str, Callable[[Issuer], str]] = {
    "another's key": lambda i: i.token(key=IssuerKey.elliptic("first")),
    "another's key, not named": lambda i: i.token(key=IssuerKey.elliptic("first"), headers={"kid": ""}),
    "another issuer": lambda i: i.token(iss="https://127.0.0.1:1"),
    "the issuer with a slash": lambda i: i.token(iss=i.url + "/"),
    "another audience": lambda i: i.token(aud=["x", "y"]),
    "no audience": lambda i: i.token(aud=None),
    "expired": lambda i: i.token(exp=int(time.time()) - 1),
    "never expires": lambda i: i.token(exp=None),
    "a subject that is an object": lambda i: i.token(sub=None, x=1),
    "a service account's issuer": lambda i: i.token(iss=ISSUER),
}


@pytest.mark.parametrize("attack", OIDC_ATTACKS)
async def test_bad_tokens_of_issuers(
    doubting: tuple[Api, Issuer], attack: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    api, issuer = doubting
    token = OIDC_ATTACKS[attack](issuer)
    assert await who(api, token) == (401, UNAUTHORIZED)
    written = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert not [part for part in token.split(".") if part in written]
    assert (await who(api, issuer.token()))[0] == 201


CANARY = "canary-in-the-answer"


async def redirect(request: Request) -> Response:
    return Response(302, CANARY.encode(), headers=(("Location", "https://127.0.0.1:1/elsewhere"),))


async def lie(request: Request) -> Response:
    return Response(200, orjson.dumps({"issuer": "https://evil.example.com", "jwks_uri": CANARY, "keys": CANARY}))


async def flood(request: Request) -> Response:
    return Response(200, b'{"keys":["' + b"x" * 5_000_000 + b'"]}')


async def babble(request: Request) -> Response:
    return Response(200, f"<html>{CANARY}</html>".encode(), "text/html")


async def fail(request: Request) -> Response:
    return Response(500, CANARY.encode())


async def drip(request: Request) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    return Response(200, stream=chunks())


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/keys"])
@pytest.mark.parametrize("answer", [hang, redirect, lie, flood, babble, fail, drip])
async def test_issuers_that_misbehave(tmp_path: Path, path: str, answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever it answers, within its time there are no keys; and what it sent is in no error and no log."""
    caplog.set_level(logging.DEBUG)
    async with running_issuer(tmp_path / "issuer") as issuer:
        issuer.answers[path] = answer
        keys = IssuerKeys(issuer.url, ca_pem=issuer.ca_pem.encode(), patience_seconds=0.3)
        started = time.monotonic()
        with pytest.raises(RefusedCredential) as refused:
            await keys.verify(jws.parse(issuer.token()))
        assert time.monotonic() - started < 3
        assert CANARY not in str(refused.value)
        assert CANARY not in "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)


async def test_keys_over_plain_http_are_not_fetched(tmp_path: Path) -> None:
    async with running_issuer(tmp_path / "issuer") as issuer:

        async def document(_: Request) -> Response:
            return Response(200, orjson.dumps({"issuer": issuer.url, "jwks_uri": "http://127.0.0.1:1/keys"}))

        issuer.answers["/.well-known/openid-configuration"] = document
        with pytest.raises(TransportError, match="must be https"):
            await IssuerKeys(issuer.url, ca_pem=issuer.ca_pem.encode()).fetch()


async def test_an_issuer_with_another_certificate_is_not_asked(tmp_path: Path) -> None:
    async with running_issuer(tmp_path / "one") as issuer, running_issuer(tmp_path / "two") as other:
        with pytest.raises(TransportError, match="not trusted"):
            await IssuerKeys(issuer.url, ca_pem=other.ca_pem.encode()).fetch()
        with pytest.raises(TransportError, match="not trusted"):
            await IssuerKeys(issuer.url).fetch()
        assert issuer.asked == []


async def refusal(keys: IssuerKeys, issuer: Issuer) -> None:
    with pytest.raises(RefusedCredential):
        await keys.verify(jws.parse(issuer.token(key=IssuerKey.elliptic("unknown"))))


async def test_many_tokens_of_an_unknown_key_are_one_fetch(tmp_path: Path) -> None:
    async with running_issuer(tmp_path / "issuer") as issuer:
        keys = IssuerKeys(issuer.url, ca_pem=issuer.ca_pem.encode())
        await asyncio.gather(*(keys.verify(jws.parse(issuer.token())) for _ in range(20)))
        assert issuer.asked.count("/keys") == 1
        await asyncio.wait_for(asyncio.gather(*(refusal(keys, issuer) for _ in range(20))), 10)
        assert issuer.asked.count("/keys") == 2


@pytest.mark.parametrize(
    "key",
    [
        {"kty": "oct", "k": "c2VjcmV0"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
        {"kty": "RSA"},
        {"kty": ["EC"]},
        {},
    ],
)
def test_keys_that_are_none(key: Json) -> None:
    with pytest.raises(jwk.BadKey):
        jwk.from_jwk(key)


def test_a_private_key_in_a_key_set_counts_as_its_public_half() -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    told = IssuerKey("x", private, "ES256").jwk()
    found = jwk.from_jwk({**told, "d": encoded(private.private_numbers().private_value.to_bytes(32))})
    assert not hasattr(found.public, "sign")


def test_a_key_says_nothing_of_itself() -> None:
    key = jwk.generate()
    assert "PRIVATE" not in repr(key)
    signed = jws.parse(jws.sign({"a": 1}, key))
    jws.verify(signed, [key.public])
    with pytest.raises(jws.BadToken):
        jws.verify(signed, [jwk.generate().public])
