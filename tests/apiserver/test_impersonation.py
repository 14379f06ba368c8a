"""Acting as somebody else, which must never mean acting as oneself."""

from __future__ import annotations

import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api, Json

REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


async def who_am_i(api: Api, **headers: str) -> Json:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    user: Json = (await api.ok("POST", REVIEWS, body, **headers))["status"]["userInfo"]
    return user


async def test_a_lesser_user_has_lesser_rights(api: Api) -> None:
    status, refused = await api.ask("GET", "/api/v1/pods", impersonate_user="bob")
    assert status == 403
    assert 'User "bob" cannot list resource "pods"' in refused["message"]


@pytest.mark.parametrize(
    ("headers", "user"),
    [
        (
            {"impersonate_user": "bob", "impersonate_group": "system:masters"},
            {"username": "bob", "groups": ["system:masters", "system:authenticated"]},
        ),
        (
            {"impersonate_user": "bob", "impersonate_group": "a,b\nsystem:masters", "impersonate_uid": "7"},
            {"username": "bob", "uid": "7", "groups": ["a,b", "system:masters", "system:authenticated"]},
        ),
        (
            {
                "impersonate_user": "bob",
                "impersonate_group": "system:masters",
                "impersonate_extra_example.com%2fscopes": "x\ny",
            },
            {
                "username": "bob",
                "groups": ["system:masters", "system:authenticated"],
                "extra": {"example.com/scopes": ["x", "y"]},
            },
        ),
    ],
)
async def test_everything_about_a_user_can_be_borrowed(api: Api, headers: dict[str, str], user: Json) -> None:
    assert await who_am_i(api, **headers) == user


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("system:serviceaccount:shop:clerk", "system:serviceaccounts:shop"),
        ("system:anonymous", "system:unauthenticated"),
        ("bob", "system:authenticated"),
    ],
)
def test_groups_that_come_with_a_name(name: str, group: str) -> None:
    from hardpoint.apiserver.impersonation import acting_as

    assert group in acting_as(User("me", ("system:masters",)), {"impersonate-user": name}).groups


@pytest.mark.parametrize("header", ["impersonate_group", "impersonate_uid", "impersonate_extra_x"])
async def test_nobody_in_particular_cannot_be_impersonated(api: Api, header: str) -> None:
    status, refused = await api.ask("GET", "/api", **{header: "system:masters"})
    assert (status, refused["reason"]) == (400, "BadRequest")
    assert "without impersonating a user" in refused["message"]


@pytest.mark.parametrize("user", [None, User("mallory")])
async def test_only_masters_may(api: Api, user: User | None) -> None:
    asked = {"impersonate_user": "admin", "impersonate_group": "system:masters"}
    status, refused = await api.as_user(user).ask("GET", "/api/v1/pods", **asked)
    assert status == 403
    assert 'cannot impersonate resource "users" in API group "" at the cluster scope' in refused["message"]
