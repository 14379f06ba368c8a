"""What roles allow to those who hold them, asked of a running server."""

from __future__ import annotations

import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api, Json
from tests.apiserver.authorization.roles import BOB, RBAC, allow, review, rule


@pytest.mark.parametrize(
    ("given", "asked", "allowed"),
    [
        pytest.param(rule("get", "pods"), {"verb": "get", "resource": "pods"}, True, id="as it says"),
        pytest.param(rule("get", "pods"), {"verb": "list", "resource": "pods"}, False, id="another verb"),
        pytest.param(rule("get", "pods"), {"verb": "get", "resource": "secrets"}, False, id="another resource"),
        pytest.param(
            rule("get", "pods"), {"verb": "get", "resource": "pods", "group": "apps"}, False, id="another group"
        ),
        pytest.param(rule("*", "pods"), {"verb": "dance", "resource": "pods"}, True, id="every verb"),
        pytest.param(
            rule("get", "pods", "*"), {"verb": "get", "resource": "pods", "group": "x"}, True, id="all groups"
        ),
        pytest.param(rule("get", "*"), {"verb": "get", "resource": "secrets"}, True, id="every resource"),
        pytest.param(
            rule("get", "*"), {"verb": "get", "resource": "pods", "subresource": "log"}, True, id="and what is in it"
        ),
        pytest.param(
            rule("get", "pods"), {"verb": "get", "resource": "pods", "subresource": "log"}, False, id="not its parts"
        ),
        pytest.param(
            rule("get", "pods/log"), {"verb": "get", "resource": "pods", "subresource": "log"}, True, id="a part"
        ),
        pytest.param(rule("get", "pods/log"), {"verb": "get", "resource": "pods"}, False, id="a part is not the whole"),
        pytest.param(
            rule("get", "*/scale"), {"verb": "get", "resource": "x", "subresource": "scale"}, True, id="parts of a name"
        ),
        pytest.param(
            rule("get", "pods/*"), {"verb": "get", "resource": "pods", "subresource": "log"}, False, id="no such star"
        ),
        pytest.param(
            rule("get", "*/*"), {"verb": "get", "resource": "pods", "subresource": "log"}, False, id="nor such stars"
        ),
        pytest.param(
            rule("get", "pods", resourceNames=["a"]),
            {"verb": "get", "resource": "pods", "name": "a"},
            True,
            id="a name",
        ),
        pytest.param(
            rule("get", "pods", resourceNames=["a"]),
            {"verb": "get", "resource": "pods", "name": "b"},
            False,
            id="other",
        ),
        pytest.param(
            rule("list", "pods", resourceNames=["a"]), {"verb": "list", "resource": "pods"}, False, id="no name at all"
        ),
        pytest.param(
            {"verbs": ["get"], "nonResourceURLs": ["/logs"]}, {"verb": "get", "path": "/logs"}, True, id="a path"
        ),
        pytest.param(
            {"verbs": ["get"], "nonResourceURLs": ["/logs"]}, {"verb": "get", "path": "/logs/x"}, False, id="below it"
        ),
        pytest.param(
            {"verbs": ["get"], "nonResourceURLs": ["/logs/*"]},
            {"verb": "get", "path": "/logs/a/b"},
            True,
            id="all below",
        ),
        pytest.param(
            {"verbs": ["get"], "nonResourceURLs": ["/logs/*"]}, {"verb": "get", "path": "/logs"}, False, id="not itself"
        ),
        pytest.param(
            {"verbs": ["get"], "nonResourceURLs": ["*"]}, {"verb": "get", "path": "anything"}, True, id="every path"
        ),
        pytest.param(rule("get", "*", "*"), {"verb": "get", "path": "/logs"}, False, id="resources are not paths"),
    ],
)
async def test_what_a_rule_allows(api: Api, given: Json, asked: dict[str, str], allowed: bool) -> None:
    await allow(api, "r", given)
    status = await review(api, User("bob"), **asked)
    reason = 'RBAC: allowed by ClusterRoleBinding "r" of ClusterRole "r" to User "bob"'
    assert status == ({"allowed": True, "reason": reason} if allowed else {"allowed": False})


@pytest.mark.parametrize(
    ("subject", "user", "told"),
    [
        ({"kind": "User", "name": "ann"}, User("ann"), 'User "ann"'),
        ({"kind": "User", "name": "ann"}, User("bob", ("ann",)), ""),
        ({"kind": "Group", "name": "devs"}, User("ann", ("x", "devs")), 'Group "devs"'),
        ({"kind": "Group", "name": "devs"}, User("devs"), ""),
        (
            {"kind": "ServiceAccount", "name": "robot", "namespace": "shop"},
            User("system:serviceaccount:shop:robot"),
            'ServiceAccount "robot/shop"',
        ),
        (
            {"kind": "ServiceAccount", "name": "robot", "namespace": "shop"},
            User("system:serviceaccount:other:robot"),
            "",
        ),
    ],
)
async def test_whom_a_binding_means(api: Api, subject: Json, user: User, told: str) -> None:
    await allow(api, "r", rule("get", "pods"), subjects=[subject], namespace="default")
    status = await review(api, user, verb="get", resource="pods", namespace="default")
    assert status["allowed"] is bool(told)
    if told:
        assert status["reason"] == f'RBAC: allowed by RoleBinding "r/default" of Role "r" to {told}'
    elsewhere = await review(api, user, verb="get", resource="pods", namespace="kube-system")
    assert elsewhere == {"allowed": False}


async def test_who_was_just_given_a_role_is_not_refused(api: Api) -> None:
    for number in range(20):
        user = User(f"user-{number}")
        await allow(api, f"r{number}", rule("list", "pods"), subjects=[{"kind": "User", "name": user.name}])
        assert (await api.as_user(user).send("GET", "/api/v1/pods")).status == 200


async def test_a_role_that_changes_or_goes_allows_something_else_or_nothing(api: Api) -> None:
    await allow(api, "r", rule("list", "pods"))
    bob = api.as_user(BOB)
    assert (await bob.send("GET", "/api/v1/pods")).status == 200
    role = {"metadata": {"name": "r"}, "rules": [rule("list", "secrets")]}
    await api.ok("PUT", f"{RBAC}/clusterroles/r", role)
    assert (await bob.send("GET", "/api/v1/secrets")).status == 200
    assert (await bob.send("GET", "/api/v1/pods")).status == 403
    gone = await api.ok("DELETE", f"{RBAC}/clusterroles/r")
    assert gone["status"] == "Success"
    # What was allowed may be allowed for as long as the news is on its way; a no makes sure that it has arrived.
    assert not (await review(api, BOB, verb="list", resource="nodes"))["allowed"]
    assert not (await review(api, BOB, verb="list", resource="secrets"))["allowed"]


async def test_roles_that_do_not_exist_are_told(api: Api) -> None:
    for name in ("b", "a"):
        await allow(api, name, rule("get", "pods"))
        await api.ok("DELETE", f"{RBAC}/clusterroles/{name}")
    status, refused = await api.as_user(BOB).ask("GET", "/api/v1/nodes")
    assert (status, refused["message"]) == (
        403,
        'nodes is forbidden: User "bob" cannot list resource "nodes" in API group "" at the cluster scope: rbac: RBAC: '
        '[clusterrole.rbac.authorization.k8s.io "a" not found, clusterrole.rbac.authorization.k8s.io "b" not found]',
    )


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("fieldSelector=metadata.name%3Dmine", 200),
        ("fieldSelector=metadata.name%3Dmine,metadata.namespace%3Ddefault", 200),
        ("fieldSelector=metadata.name%3Dother", 403),
        ("fieldSelector=metadata.name!%3Dmine", 403),
        ("fieldSelector=metadata.namespace%3Dmine", 403),
        ("labelSelector=metadata.name%3Dmine", 403),
        ("", 403),
    ],
)
async def test_listing_one_name_is_asking_for_it(api: Api, query: str, status: int) -> None:
    await allow(api, "r", rule("list watch", "configmaps", resourceNames=["mine"]))
    bob = api.as_user(BOB)
    assert (await bob.send("GET", f"/api/v1/namespaces/default/configmaps?{query}")).status == status
