"""Who may ask what, as long as nobody was given a role: masters everything, users what there is, strangers health."""

from __future__ import annotations

import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/version", "/version/"])
async def test_health_and_version_are_open(api: Api, path: str) -> None:
    assert (await api.as_user(None).send("GET", path)).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/v1",
        "/api/v1/pods",
        "/apis",
        "/apis/apps/v1",
        "/metrics",
        "/openapi/v2",
        "/openapi/v3",
        "/readyz/ping",
    ],
)
async def test_the_rest_is_closed_to_strangers(api: Api, path: str) -> None:
    assert (await api.as_user(None).send("GET", path)).status == 403


@pytest.mark.parametrize(
    ("path", "status"),
    [
        pytest.param("/api/v1", 200, id="what there is"),
        pytest.param("/apis/apps/v1", 200, id="in every group"),
        pytest.param("/openapi/v3", 200, id="and how it looks"),
        pytest.param("/", 403, id="not every path"),
        pytest.param("/metrics", 403, id="not the server's figures"),
        pytest.param("/api/v1/pods", 403, id="no objects"),
    ],
)
async def test_users_may_know_what_there_is(api: Api, path: str, status: int) -> None:
    assert (await api.as_user(User("mallory", ("dev",))).send("GET", path)).status == status


async def test_a_refusal_says_who_what_and_where(api: Api) -> None:
    status, refused = await api.as_user(User("bob")).ask("GET", "/apis/apps/v1/namespaces/x/deployments/web")
    assert status == 403
    assert refused["message"] == (
        'deployments.apps "web" is forbidden: User "bob" cannot get resource "deployments" '
        'in API group "apps" in the namespace "x"'
    )
    status, refused = await api.as_user(None).ask("GET", "/metrics")
    assert refused["message"] == 'forbidden: User "system:anonymous" cannot get path "/metrics"'


async def test_a_token_nobody_issued_is_not_a_stranger(api: Api) -> None:
    status, refused = await api.as_user(None).ask("GET", "/version", authorization="Bearer x")
    assert (status, refused["message"]) == (401, "Unauthorized")


async def test_headers_do_not_make_an_identity(api: Api) -> None:
    response = await api.as_user(None).send("GET", "/api", x_remote_user="admin", x_remote_group="system:masters")
    assert response.status == 403


async def test_who_am_i(api: Api) -> None:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = await api.ok("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body)
    user = answer["status"]["userInfo"]
    assert user == {"username": "admin", "groups": ["system:masters", "system:authenticated"]}


async def test_may_i(api: Api) -> None:
    reviews = "/apis/authorization.k8s.io/v1"
    attributes = {"verb": "get", "resource": "pods"}
    mine = await api.ok("POST", f"{reviews}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": attributes}})
    assert mine["status"] == {"allowed": True}
    spec = {"user": "bob", "resourceAttributes": attributes}
    theirs = await api.ok("POST", f"{reviews}/subjectaccessreviews", {"spec": spec})
    assert theirs["status"] == {"allowed": False}
    rules = await api.ok("POST", f"{reviews}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}})
    assert rules["status"]["resourceRules"][0] == {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
