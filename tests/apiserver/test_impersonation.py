"""Acting as somebody else, which must never mean acting as oneself."""

from __future__ import annotations

import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api, Json
from tests.apiserver.authorization.roles import BOB, allow, rule

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
    ("name", "groups"),
    [
        (
            "system:serviceaccount:shop:clerk",
            ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
        ),
        ("system:serviceaccount:shop", ["system:authenticated"]),
        ("system:node:n1", ["system:nodes", "system:authenticated"]),
        ("bob", ["system:authenticated"]),
    ],
)
async def test_groups_that_come_with_a_name(api: Api, name: str, groups: list[str]) -> None:
    assert (await who_am_i(api, impersonate_user=name))["groups"] == groups


async def test_nobody_has_the_rights_of_nobody(api: Api) -> None:
    for headers in ({"impersonate_user": "system:anonymous"}, {"impersonate_group": "system:unauthenticated"}):
        asked = {"impersonate_user": "bob", **headers}
        assert (await api.send("GET", "/version", **asked)).status == 200
        assert (await api.send("GET", "/api", **asked)).status == 403


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"impersonate_group": "a"}, 'UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)'),
        ({"impersonate_uid": "7"}, 'UID:"7", Groups:[]string(nil), Extra:map[string][]string(nil)'),
        (
            {"impersonate_extra_x": "1\n2"},
            'UID:"", Groups:[]string(nil), Extra:map[string][]string{"x":[]string{"1", "2"}}',
        ),
        ({"impersonate_user": ""}, 'UID:"", Groups:[]string(nil), Extra:map[string][]string(nil)'),
    ],
)
async def test_nobody_in_particular_cannot_be_impersonated(api: Api, headers: dict[str, str], told: str) -> None:
    status, refused = await api.ask("GET", "/api", **headers)
    assert (status, refused["reason"]) == (400, "BadRequest")
    assert refused["message"] == f'requested &user.DefaultInfo{{Name:"", {told}}} without impersonating a user name'


ON_PODS = (
    'pods is forbidden: User "{}" cannot impersonate-on:{}:list resource "pods" in API group "" at the cluster scope'
)


@pytest.mark.parametrize("user", [None, User("mallory")])
@pytest.mark.parametrize(
    ("wanted", "mode"),
    [
        ({"impersonate_user": "admin"}, "user-info"),
        ({"impersonate_user": "admin", "impersonate_group": "system:masters"}, "user-info"),
        ({"impersonate_user": "system:serviceaccount:kube-system:x"}, "serviceaccount"),
        ({"impersonate_user": "system:node:n1"}, "arbitrary-node"),
    ],
)
async def test_who_was_given_nothing_may_not(api: Api, user: User | None, wanted: dict[str, str], mode: str) -> None:
    status, refused = await api.as_user(user).ask("GET", "/api/v1/pods", **wanted)
    name = user.name if user else "system:anonymous"
    assert (status, refused["message"]) == (403, ON_PODS.format(name, mode))


PLAIN = [
    rule("impersonate", "users", resourceNames=["bob"]),
    rule("impersonate", "groups", resourceNames=["devs"]),
    rule("impersonate", "serviceaccounts", resourceNames=["robot"]),
    rule("impersonate", "uids", "authentication.k8s.io", resourceNames=["7"]),
    rule("impersonate", "userextras/scopes", "authentication.k8s.io", resourceNames=["x"]),
]


@pytest.mark.parametrize(
    ("wanted", "refused"),
    [
        ({"impersonate_user": "bob"}, ""),
        ({"impersonate_user": "bob", "impersonate_group": "devs", "impersonate_uid": "7"}, ""),
        ({"impersonate_user": "bob", "impersonate_extra_scopes": "x"}, ""),
        ({"impersonate_user": "system:serviceaccount:default:robot"}, ""),
        ({"impersonate_user": "eve"}, 'users "eve"'),
        ({"impersonate_user": "bob", "impersonate_group": "devs\nsystem:masters"}, 'groups "system:masters"'),
        ({"impersonate_user": "bob", "impersonate_uid": "8"}, 'uids.authentication.k8s.io "8"'),
        ({"impersonate_user": "bob", "impersonate_extra_scopes": "x\ny"}, 'userextras.authentication.k8s.io "y"'),
        ({"impersonate_user": "bob", "impersonate_extra_a%2fb": "x"}, 'userextras.authentication.k8s.io "x"'),
        ({"impersonate_user": "system:serviceaccount:default:other"}, 'serviceaccounts "other"'),
    ],
)
async def test_the_plain_way_needs_every_part(api: Api, wanted: dict[str, str], refused: str) -> None:
    await allow(api, "plain", *PLAIN)
    bob = api.as_user(BOB)
    # The way that worked last is the one whose refusal is told.
    await who_am_i(bob, impersonate_user="bob")
    status, answer = await bob.ask("POST", REVIEWS, {}, **wanted)
    assert status == (403 if refused else 201)
    if refused:
        assert answer["message"].startswith(f'{refused} is forbidden: User "bob" cannot impersonate resource ')


CONSTRAINED = [
    rule("impersonate-on:user-info:list impersonate-on:serviceaccount:list", "pods"),
    rule("impersonate:user-info", "users groups", "authentication.k8s.io"),
    rule("impersonate:serviceaccount", "serviceaccounts", "authentication.k8s.io", resourceNames=["robot"]),
    rule("list", "pods secrets"),
]


@pytest.mark.parametrize(
    ("path", "wanted", "status"),
    [
        pytest.param("/api/v1/pods", {"impersonate_user": "lister"}, 200, id="this user, for this"),
        pytest.param("/api/v1/secrets", {"impersonate_user": "lister"}, 403, id="for nothing else"),
        pytest.param("/api/v1/pods", {"impersonate_user": "eve"}, 403, id="with the rights of that user"),
        pytest.param("/api/v1/pods", {"impersonate_user": "lister", "impersonate_uid": "7"}, 403, id="no uid"),
        pytest.param(
            "/api/v1/pods", {"impersonate_user": "eve", "impersonate_group": "system:masters"}, 403, id="never a master"
        ),
        pytest.param(
            "/api/v1/pods", {"impersonate_user": "lister", "impersonate_group": "a\nb\nc\nd\ne"}, 200, id="many groups"
        ),
        pytest.param(
            "/api/v1/pods", {"impersonate_user": "system:serviceaccount:default:robot"}, 200, id="this account"
        ),
        pytest.param(
            "/api/v1/pods", {"impersonate_user": "system:serviceaccount:default:other"}, 403, id="no other account"
        ),
        pytest.param("/api/v1/pods", {"impersonate_user": "system:node:n1"}, 403, id="no node"),
    ],
)
async def test_constrained_ways_are_for_one_thing(api: Api, path: str, wanted: dict[str, str], status: int) -> None:
    subjects = [
        {"kind": "User", "name": "bob"},
        {"kind": "User", "name": "lister"},
        {"kind": "ServiceAccount", "name": "robot", "namespace": "default"},
    ]
    await allow(api, "constrained", *CONSTRAINED, subjects=subjects)
    assert (await api.as_user(BOB).send("GET", path, **wanted)).status == status


@pytest.mark.parametrize(("runs_on", "status"), [("n1", 200), ("n2", 403)])
async def test_an_account_may_be_the_node_it_runs_on(api: Api, runs_on: str, status: int) -> None:
    agent = "system:serviceaccount:default:agent"
    subjects = [{"kind": "User", "name": agent}, {"kind": "Group", "name": "system:nodes"}]
    given = [
        rule("impersonate-on:associated-node:list list", "nodes"),
        rule("impersonate:associated-node", "nodes", "authentication.k8s.io"),
    ]
    await allow(api, "agents", *given, subjects=subjects)
    user = User(agent, extra={"authentication.kubernetes.io/node-name": (runs_on,)})
    answer = await api.as_user(user).send("GET", "/api/v1/nodes", impersonate_user="system:node:n1")
    assert answer.status == status
