"""Tokens of OpenID Connect issuers: whose they are, whose they are not, and keys that come and go."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from hardpoint.apiserver.authentication.jwt.issuers import KEYS_SECONDS_MAX, IssuerKeys
from hardpoint.apiserver.authentication.options import AuthenticationOptions, OidcOptions
from hardpoint.machinery import jws
from hardpoint.machinery.messages import Request, Response
from tests.apiserver.asking import Api
from tests.apiserver.authentication.accounts import ISSUER, review, who
from tests.apiserver.authentication.conftest import serving, write_configuration
from tests.apiserver.authentication.issuer import AUDIENCE, Issuer, SigningKey, hang, running_issuer

Json = dict[str, Any]


async def test_a_token_of_the_issuer(trusting: Api, issuer: Issuer) -> None:
    token = issuer.token(jti="42")
    assert await who(trusting, token) == (
        201,
        {
            "username": "oidc:jane",
            "groups": ["system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": ["JTI=42"]},
        },
    )
    assert (await review(trusting, token))["audiences"] == [ISSUER]
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256", "ES256"])
async def test_algorithms(trusting: Api, issuer: Issuer, algorithm: str) -> None:
    key = SigningKey.elliptic("k") if algorithm.startswith("E") else SigningKey.rsa("k")
    key.algorithm = algorithm
    issuer.keys = [key]
    assert (await who(trusting, issuer.token()))[0] == 201


async def test_a_new_key_is_found_when_it_is_first_used(trusting: Api, issuer: Issuer) -> None:
    old = issuer.token()
    assert (await who(trusting, old))[0] == 201
    issuer.keys.insert(0, SigningKey.elliptic("second"))
    assert (await who(trusting, issuer.token(sub="joe")))[1]["username"] == "oidc:joe"
    assert (await who(trusting, old))[0] == 201
    assert issuer.asked.count("/keys") == 2


@pytest.mark.parametrize("name", ["first", ""])
async def test_a_new_key_may_bear_the_old_ones_name_or_none(trusting: Api, issuer: Issuer, name: str) -> None:
    issuer.keys = [SigningKey.elliptic(name)]
    assert (await who(trusting, issuer.token()))[0] == 201
    issuer.keys = [SigningKey.elliptic(name)]
    assert (await who(trusting, issuer.token(sub="joe")))[0] == 201


async def test_old_keys_serve_until_there_are_new_ones(tmp_path: Path) -> None:
    """An hour later the keys are fetched again, and nobody waits for that: the issuer may be away."""
    now = 0.0
    async with running_issuer(tmp_path / "issuer") as issuer:
        keys = IssuerKeys(issuer.url, ca_pem=issuer.ca_pem.encode(), clock=lambda: now)
        await keys.verify(jws.parse(issuer.token()))
        now = KEYS_SECONDS_MAX + 1
        issuer.answers["/keys"] = hang
        await keys.verify(jws.parse(issuer.token()))
        await keys.close()
        del issuer.answers["/keys"]
        await keys.verify(jws.parse(issuer.token()))
        await keys.fetch()
        assert issuer.asked.count("/keys") == 2


async def test_strangers_cannot_make_us_fetch_without_end(trusting: Api, issuer: Issuer) -> None:
    for number in range(50):
        token = issuer.token(headers={"kid": f"nobody-{number}"})
        assert (await who(trusting, token))[0] == 401
    assert issuer.asked.count("/keys") <= 11


@pytest.mark.parametrize(
    ("mappings", "claims", "expected"),
    [
        pytest.param(
            {"username": {"claim": "email", "prefix": ""}, "groups": {"claim": "roles", "prefix": "g:"}},
            {"email": "j@example.com", "email_verified": True, "roles": ["a", "b"]},
            {"username": "j@example.com", "groups": ["g:a", "g:b", "system:authenticated"]},
            id="claims and prefixes",
        ),
        pytest.param(
            {"username": {"claim": "sub", "prefix": ""}, "groups": {"claim": "role", "prefix": ""}},
            {"role": "admin"},
            {"username": "jane", "groups": ["admin", "system:authenticated"]},
            id="one group as a text",
        ),
        pytest.param(
            {"username": {"claim": "sub", "prefix": ""}, "uid": {"claim": "oid"}},
            {"oid": "7"},
            {"username": "jane", "uid": "7", "groups": ["system:authenticated"]},
            id="uid",
        ),
        pytest.param(
            {
                "username": {"expression": "'x:' + claims.sub"},
                "groups": {"expression": "claims.teams.filter(t, t != 'root')"},
                "uid": {"expression": "claims.nested.id"},
                "extra": [
                    {"key": "example.com/teams", "valueExpression": "claims.teams"},
                    {"key": "example.com/none", "valueExpression": "''"},
                ],
            },
            {"teams": ["a", "root"], "nested": {"id": "u1"}},
            {
                "username": "x:jane",
                "uid": "u1",
                "groups": ["a", "system:authenticated"],
                "extra": {"example.com/teams": ["a", "root"]},
            },
            id="expressions",
        ),
    ],
)
async def test_mappings(tmp_path: Path, issuer: Issuer, mappings: Json, claims: Json, expected: Json) -> None:
    file = tmp_path / "config"
    write_configuration(file, issuer.configuration(claimMappings=mappings))
    async with serving(AuthenticationOptions(config_file=file)) as api:
        assert await who(api, issuer.token(**claims)) == (201, expected)


@pytest.mark.parametrize(
    ("more", "claims", "error"),
    [
        pytest.param(
            {"claimMappings": {"username": {"claim": "email", "prefix": ""}}},
            {"email": "j@example.com", "email_verified": False},
            "oidc: email not verified",
            id="an address that nobody verified",
        ),
        pytest.param(
            {"claimMappings": {"username": {"claim": "email", "prefix": ""}}},
            {"email": "j@example.com", "email_verified": "true"},
            "oidc: email not verified",
            id="a text that says so",
        ),
        pytest.param(
            {"claimMappings": {"username": {"claim": "nick", "prefix": ""}}},
            {},
            "oidc: claim 'nick' not present",
            id="no name",
        ),
        pytest.param(
            {"claimMappings": {"username": {"claim": "nick", "prefix": ""}}},
            {"nick": 7},
            "oidc: username claim 'nick' must be a text",
            id="a number as a name",
        ),
        pytest.param(
            {"claimMappings": {"username": {"expression": "claims.nick"}}},
            {"nick": ""},
            "oidc: empty username via CEL expression is not allowed",
            id="an empty name",
        ),
        pytest.param(
            {"claimValidationRules": [{"claim": "hd", "requiredValue": "example.com"}]},
            {"hd": "example.org"},
            "oidc: required claim hd is not in the token, or has another value",
            id="a claim with another value",
        ),
        pytest.param(
            {"claimValidationRules": [{"expression": "claims.exp - claims.iat < 60", "message": "too long"}]},
            {},
            "oidc: error evaluating claim validation expression: validation expression "
            "'claims.exp - claims.iat < 60' failed: too long",
            id="a rule about claims",
        ),
        pytest.param(
            {"userValidationRules": [{"expression": "!user.username.startsWith('oidc:j')", "message": "no js"}]},
            {},
            "oidc: error evaluating user info validation rule: validation expression "
            "'!user.username.startsWith('oidc:j')' failed: no js",
            id="a rule about the user",
        ),
    ],
)
async def test_tokens_that_are_refused(tmp_path: Path, issuer: Issuer, more: Json, claims: Json, error: str) -> None:
    file = tmp_path / "config"
    write_configuration(file, issuer.configuration(**more))
    async with serving(AuthenticationOptions(config_file=file)) as api:
        token = issuer.token(**claims)
        assert (await who(api, token))[0] == 401
        assert (await review(api, token))["error"] == f"[invalid bearer token, {error}]"


async def test_several_audiences(tmp_path: Path, issuer: Issuer) -> None:
    configuration = issuer.configuration()
    configuration["issuer"] |= {"audiences": ["a", "b"], "audienceMatchPolicy": "MatchAny"}
    file = tmp_path / "config"
    write_configuration(file, configuration)
    async with serving(AuthenticationOptions(config_file=file)) as api:
        assert (await who(api, issuer.token(aud=["x", "b"])))[0] == 201
        assert (await who(api, issuer.token(aud="x")))[0] == 401


async def test_discovery_elsewhere(tmp_path: Path, issuer: Issuer) -> None:
    """The issuer's name is one thing, where it is found another."""
    where, issuer.url = issuer.url, "https://issuer.example.com"

    async def document(_: Request) -> Response:
        return Response(200, orjson.dumps({"issuer": issuer.url, "jwks_uri": f"{where}/keys"}))

    issuer.answers["/here"] = document
    configuration = issuer.configuration()
    configuration["issuer"]["discoveryURL"] = f"{where}/here"
    file = tmp_path / "config"
    write_configuration(file, configuration)
    async with serving(AuthenticationOptions(config_file=file)) as api:
        assert (await who(api, issuer.token()))[0] == 201
    assert issuer.asked == ["/here", "/keys"]


@pytest.mark.parametrize(
    ("options", "claims", "name"),
    [
        ({}, {}, "{url}#jane"),
        ({"username_prefix": "-"}, {}, "jane"),
        ({"username_prefix": "x:"}, {}, "x:jane"),
        ({"username_claim": "email"}, {"email": "j@example.com"}, "j@example.com"),
    ],
)
async def test_the_flags(tmp_path: Path, issuer: Issuer, options: Json, claims: Json, name: str) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_text(issuer.ca_pem)
    flags = OidcOptions(
        issuer.url,
        AUDIENCE,
        authority,
        groups_claim="teams",
        groups_prefix="t:",
        signing_algs=("ES256",),
        required_claims=(("hd", "example.com"),),
        **options,
    )
    async with serving(AuthenticationOptions(oidc=flags)) as api:
        status, user = await who(api, issuer.token(hd="example.com", teams=["a"], **claims))
        assert status == 201, user
        assert user["username"] == name.format(url=issuer.url)
        assert user["groups"] == ["t:a", "system:authenticated"]
        assert (await who(api, issuer.token(**claims)))[0] == 401
        issuer.keys.insert(0, SigningKey.rsa("r"))
        assert (await who(api, issuer.token(hd="example.com", **claims)))[0] == 401


@pytest.mark.parametrize(
    "claims", [{"exp": int(time.time()) - 1}, {"exp": None}, {"nbf": int(time.time()) + 400}, {"aud": "another"}]
)
async def test_not_now_or_not_for_us(trusting: Api, issuer: Issuer, claims: Json) -> None:
    assert (await who(trusting, issuer.token(**claims)))[0] == 401
