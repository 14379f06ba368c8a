"""Tokens of service accounts: asked for, shown, reviewed, and refused when what they rest on is gone."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from tests.apiserver.asking import Api
from tests.apiserver.authentication.accounts import (
    CORE,
    ISSUER,
    make_account,
    make_pod,
    request_token,
    review,
    token_of,
    who,
)

Json = dict[str, Any]

TOKEN = f"{CORE}/serviceaccounts/robot/token"


def parts(token: str) -> tuple[Json, Json]:
    header, claims, _ = token.split(".")
    return tuple(orjson.loads(base64.urlsafe_b64decode(part + "==")) for part in (header, claims))  # type: ignore[return-value]


async def test_a_token_is_asked_for_and_shown(api: Api) -> None:
    account = await make_account(api)
    uid = account["metadata"]["uid"]
    answer = await request_token(api)
    assert answer["metadata"].items() >= {"name": "robot", "namespace": "default", "uid": uid}.items()
    assert answer["spec"] == {"audiences": [ISSUER], "expirationSeconds": 3600, "boundObjectRef": None}
    header, claims = parts(answer["status"]["token"])
    assert header["alg"] == "ES256"
    assert list(claims) == ["aud", "exp", "iat", "iss", "jti", "kubernetes.io", "nbf", "sub"]
    assert (claims["iss"], claims["aud"]) == (ISSUER, [ISSUER])
    assert claims["exp"] - claims["iat"] == 3600
    assert claims["nbf"] == claims["iat"]
    assert claims["sub"] == "system:serviceaccount:default:robot"
    assert claims["kubernetes.io"] == {"namespace": "default", "serviceaccount": {"name": "robot", "uid": uid}}
    assert await who(api, answer["status"]["token"]) == (
        201,
        {
            "username": "system:serviceaccount:default:robot",
            "uid": uid,
            "groups": ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"],
            "extra": {"authentication.kubernetes.io/credential-id": [f"JTI={claims['jti']}"]},
        },
    )


async def test_a_pods_token_says_where_the_pod_is(api: Api) -> None:
    await make_account(api)
    node = await api.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    pod = await make_pod(api, node="n1")
    token = await token_of(api, boundObjectRef={"apiVersion": "v1", "kind": "Pod", "name": "web"})
    _, claims = parts(token)
    assert claims["kubernetes.io"]["pod"] == {"name": "web", "uid": pod["metadata"]["uid"]}
    assert claims["kubernetes.io"]["node"] == {"name": "n1", "uid": node["metadata"]["uid"]}
    _, user = await who(api, token)
    extra = {name.removeprefix("authentication.kubernetes.io/"): value for name, value in user["extra"].items()}
    assert extra["pod-name"] == ["web"]
    assert extra["pod-uid"] == [pod["metadata"]["uid"]]
    assert extra["node-name"] == ["n1"]
    assert extra["node-uid"] == [node["metadata"]["uid"]]
    assert list(user["extra"]) == sorted(user["extra"])


@pytest.mark.parametrize(
    ("seconds", "audiences", "lives", "warns"),
    [
        (3607, [], 365 * 24 * 3600, True),
        (3607, ["somebody-else"], 3607, False),
        (3600, [], 3600, False),
    ],
)
async def test_the_token_that_every_pod_gets_is_called_stale_before_it_ends(
    api: Api, seconds: int, audiences: list[str], lives: int, warns: bool
) -> None:
    await make_account(api)
    await make_pod(api)
    bound = {"apiVersion": "v1", "kind": "Pod", "name": "web"}
    answer = await request_token(api, boundObjectRef=bound, expirationSeconds=seconds, audiences=audiences)
    _, claims = parts(answer["status"]["token"])
    assert claims["exp"] - claims["iat"] == lives
    assert claims["kubernetes.io"].get("warnafter") == (claims["iat"] + 3607 if warns else None)
    assert answer["spec"]["expirationSeconds"] == seconds


@pytest.mark.parametrize(
    ("request_", "code", "message"),
    [
        pytest.param(
            {"spec": {"expirationSeconds": 599}},
            422,
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: '
            "may not specify a duration less than 10 minutes",
            id="too short",
        ),
        pytest.param(
            {"spec": {"expirationSeconds": 2**32 + 1}},
            422,
            'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: '
            "may not specify a duration larger than 2^32 seconds",
            id="too long",
        ),
        pytest.param(
            {"metadata": {"name": "x"}},
            422,
            'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "x": '
            "must match the service account name if specified",
            id="another account",
        ),
        pytest.param(
            {"metadata": {"namespace": "x"}},
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
            id="another namespace",
        ),
        pytest.param(
            {"metadata": {"uid": "abc"}},
            409,
            'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": '
            "the UID in the token request (abc) does not match the UID of the service account (UID)",
            id="another uid",
        ),
        *(
            pytest.param(
                {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": kind, "name": "nobody"}}},
                404,
                f'{plural} "nobody" not found',
                id=f"a {kind} that does not exist",
            )
            for kind, plural in (("Pod", "pods"), ("Secret", "secrets"), ("Node", "nodes"))
        ),
        pytest.param(
            {"spec": {"boundObjectRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}}},
            400,
            "cannot bind token to object of type apps/v1, Kind=Deployment",
            id="what tokens are not bound to",
        ),
        pytest.param(
            {"spec": {"boundObjectRef": {}}}, 400, "cannot bind token to object of type /, Kind=", id="nothing"
        ),
        pytest.param(
            {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "../kube-system/x"}}},
            404,
            'secrets "../kube-system/x" not found',
            id="a path",
        ),
        pytest.param(
            {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "w"}}},
            409,
            'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (w) does not match '
            "the UID in record. The object might have been deleted and then recreated",
            id="an older Secret",
        ),
        pytest.param(
            {"spec": {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": "others"}}},
            400,
            'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
            id="somebody else's pod",
        ),
        pytest.param(
            {"spec": {"attestations": {"x": ["y"]}}},
            422,
            'TokenRequest.authentication.k8s.io "" is invalid: spec.attestations: Invalid value: {"x":["y"]}: '
            "attestations may only be specified with a webhook bound object reference",
            id="attestations",
        ),
    ],
)
async def test_requests_that_are_refused(api: Api, request_: Json, code: int, message: str) -> None:
    account = await make_account(api)
    await make_account(api, "other")
    await make_pod(api, "others", account="other")
    await api.ok("POST", f"{CORE}/secrets", {"metadata": {"name": "s"}})
    status, answer = await api.ask("POST", TOKEN, request_)
    assert (status, answer["message"].replace(account["metadata"]["uid"], "UID")) == (code, message)


async def test_there_is_no_token_without_an_account(api: Api) -> None:
    status, answer = await api.ask("POST", f"{CORE}/serviceaccounts/nobody/token", {})
    assert (status, answer["message"]) == (404, 'serviceaccounts "nobody" not found')


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
async def test_tokens_are_only_asked_for(api: Api, method: str) -> None:
    await make_account(api)
    assert (await api.ask(method, TOKEN, {} if method != "GET" else None))[0] == 405


async def test_audiences(api: Api) -> None:
    await make_account(api)
    ours, theirs = await token_of(api), await token_of(api, audiences=["vault", "db"])
    assert (await who(api, theirs))[0] == 401
    assert (await review(api, ours))["audiences"] == [ISSUER]
    assert (await review(api, theirs, "db", "x"))["audiences"] == ["db"]
    why = f'token audiences ["vault" "db"] is invalid for the target audiences ["{ISSUER}"]'
    assert await review(api, theirs) == {"user": {}, "error": f"[invalid bearer token, {why}]"}


async def test_a_review_tells_whose_token_it_is(api: Api) -> None:
    await make_account(api)
    token = await token_of(api)
    status, user = await who(api, token)
    assert status == 201
    assert await review(api, token) == {"authenticated": True, "user": user, "audiences": [ISSUER]}
    assert await review(api, "nonsense") == {"user": {}, "error": "invalid bearer token"}
    status, answer = await api.ask("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {}})
    assert (status, answer["message"]) == (400, "token is required for TokenReview in authentication")


@pytest.mark.parametrize("gone", ["serviceaccounts/robot", "pods/web", "secrets/key", "nodes/n1"])
async def test_a_token_ends_with_what_it_is_bound_to(api: Api, gone: str) -> None:
    """At once, although the token was just seen and is remembered; and the next of the same name is another."""
    plural, _, name = gone.partition("/")
    await make_account(api)
    made: dict[str, Any] = {
        "pods": lambda: make_pod(api),
        "secrets": lambda: api.ok("POST", f"{CORE}/secrets", {"metadata": {"name": "key"}}),
        "nodes": lambda: api.ok("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}}),
        "serviceaccounts": lambda: make_account(api),
    }
    kinds = {"pods": "Pod", "secrets": "Secret", "nodes": "Node"}
    spec: Json = {}
    if plural in kinds:
        await made[plural]()
        spec = {"boundObjectRef": {"apiVersion": "v1", "kind": kinds[plural], "name": name}}
    token = await token_of(api, **spec)
    assert (await who(api, token))[0] == 201
    path = f"/api/v1/nodes/{name}" if plural == "nodes" else f"{CORE}/{gone}"
    await api.ok("DELETE", f"{path}?gracePeriodSeconds=0")
    revision = await api.server.hub._store.revision()
    assert await api.server.hub.wait_until_reached(revision, seconds=5)
    assert (await who(api, token))[0] == 401
    await made[plural]()
    assert (await who(api, token))[0] == 401


async def test_discovery(api: Api) -> None:
    response = await api.send("GET", "/.well-known/openid-configuration")
    assert dict(response.headers)["Cache-Control"] == "public, max-age=3600"
    assert response.content_type == "application/json"
    found = orjson.loads(response.body)
    assert found == {
        "issuer": ISSUER,
        "jwks_uri": "https://127.0.0.1:6443/openid/v1/jwks",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    }
    response = await api.send("GET", "/openid/v1/jwks")
    assert response.content_type == "application/jwk-set+json"
    [key] = orjson.loads(response.body)["keys"]
    assert list(key) == ["use", "kty", "kid", "crv", "alg", "x", "y"]
    await make_account(api)
    header, _ = parts(await token_of(api))
    assert header["kid"] == key["kid"]


async def test_others_verify_our_tokens(api: Api) -> None:
    """With PyJWT alone, as a stranger would."""
    import jwt

    await make_account(api)
    token = await token_of(api, audiences=["vault"])
    [key] = (await api.ok("GET", "/openid/v1/jwks"))["keys"]
    claims = jwt.decode(token, jwt.PyJWK(key), algorithms=["ES256"], audience="vault", issuer=ISSUER)
    assert claims["sub"] == "system:serviceaccount:default:robot"


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/openid/v1/jwks"])
async def test_discovery_is_not_for_everybody(api: Api, path: str) -> None:
    assert (await api.as_user(None).send("GET", path)).status == 403
    assert (await api.send("POST", path, {})).status == 405


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/openid/v1/jwks"])
async def test_service_accounts_may_read_who_issues_their_tokens(api: Api, path: str) -> None:
    await make_account(api)
    token = await token_of(api)
    assert (await api.as_user(None).send("GET", path, authorization=f"Bearer {token}")).status == 200


async def test_the_keys_have_a_media_type_of_their_own(api: Api) -> None:
    status, answer = await api.ask("GET", "/openid/v1/jwks", accept="application/json")
    assert (status, answer["message"]) == (
        406,
        "406: Not Acceptable\n\nAvailable representations: application/jwk-set+json",
    )
