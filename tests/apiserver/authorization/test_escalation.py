"""Nobody gives rights away that they do not have, on whichever way they write. The words are kube-apiserver's."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.apiserver.hub import Hub
from hardpoint.machinery.messages import User
from tests.apiserver.asking import ADMIN, Api, Json
from tests.apiserver.authorization.roles import BOB, RBAC, allow, rule

# Which store roles come from makes no difference here.
pytestmark = pytest.mark.parametrize("api", ["memory"], indirect=True)

WRITE = "create update patch get delete"
KINDS = "roles clusterroles rolebindings clusterrolebindings"
MAKER = [rule(WRITE, KINDS, "rbac.authorization.k8s.io"), rule("get", "pods")]
MISSING = (
    'user "bob" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n'
)
APPLY = "application/apply-patch+yaml"


@pytest.fixture
async def bob(api: Api) -> Api:
    """Somebody who may write roles and bindings, and read pods."""
    await allow(api, "maker", *MAKER)
    return api.as_user(BOB)


def role(*rules: Json, name: str = "r", **more: Any) -> Json:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": list(rules),
        **more,
    }


def binding(name: str, kind: str = "ClusterRole", *, binds: str = "ClusterRoleBinding") -> Json:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
    subjects = [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "bob"}]
    identity = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": binds}
    return {**identity, "metadata": {"name": "b"}, "roleRef": reference, "subjects": subjects}


@pytest.mark.parametrize(
    ("method", "path", "body", "content_type"),
    [
        pytest.param("POST", "clusterroles", role(rule("delete", "pods")), "application/json", id="POST"),
        pytest.param("PUT", "clusterroles/r", role(rule("delete", "pods")), "application/json", id="PUT that creates"),
        pytest.param("PATCH", "clusterroles/r?fieldManager=x", role(rule("delete", "pods")), APPLY, id="apply"),
        pytest.param(
            "PUT", "clusterroles/mine", role(rule("delete", "pods"), name="mine"), "application/json", id="PUT"
        ),
        pytest.param(
            "PATCH",
            "clusterroles/mine?fieldManager=x&force=true",
            role(rule("delete", "pods"), name="mine"),
            APPLY,
            id="apply to what is there",
        ),
        pytest.param(
            "PATCH",
            "clusterroles/mine",
            [{"op": "add", "path": "/rules/0/verbs/-", "value": "delete"}],
            "application/json-patch+json",
            id="JSON patch",
        ),
        pytest.param(
            "PATCH",
            "clusterroles/mine",
            {"rules": [rule("get delete", "pods")]},
            "application/merge-patch+json",
            id="merge patch",
        ),
        pytest.param(
            "PATCH",
            "clusterroles/mine",
            {"rules": [rule("delete", "pods")]},
            "application/strategic-merge-patch+json",
            id="strategic patch",
        ),
        pytest.param("POST", "clusterroles?dryRun=All", role(rule("delete", "pods")), "application/json", id="dry run"),
        pytest.param(
            "POST",
            "namespaces/default/roles",
            role(rule("delete", "pods"), kind="Role"),
            "application/json",
            id="in a namespace",
        ),
    ],
)
async def test_a_role_cannot_hold_more_than_its_writer(
    api: Api, bob: Api, method: str, path: str, body: Any, content_type: str
) -> None:
    await api.ok("POST", f"{RBAC}/clusterroles", role(rule("get", "pods"), name="mine"))
    status, refused = await bob.ask(method, f"{RBAC}/{path}", body, content_type=content_type)
    lacking = '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}'
    plural = "roles" if "namespaces" in path else "clusterroles"
    name = "mine" if "mine" in path else "r"
    told = f'{plural}.rbac.authorization.k8s.io "{name}" is forbidden: {MISSING}{lacking}'
    assert (status, refused["message"]) == (403, told)
    assert refused["details"] == {"name": name, "group": "rbac.authorization.k8s.io", "kind": plural}


@pytest.mark.parametrize(
    ("given", "status"),
    [
        pytest.param(rule("get", "pods"), 201, id="what one has"),
        pytest.param(rule("get", "pods", resourceNames=["a"]), 201, id="a part of it"),
        pytest.param(rule("get", "pods/log"), 403, id="not its subresources"),
        pytest.param(rule("get", "pods/*"), 403, id="nor with a star"),
        pytest.param(rule("get", "*/log"), 403, id="nor everybody's"),
        pytest.param(rule("*", "pods"), 403, id="not every verb"),
        pytest.param(rule("get", "*"), 403, id="not every resource"),
        pytest.param(rule("get", "pods", "*"), 403, id="not every group"),
        pytest.param(rule("escalate", "clusterroles", "rbac.authorization.k8s.io"), 403, id="nor the right to"),
        pytest.param(rule("bind", "clusterroles", "rbac.authorization.k8s.io"), 403, id="nor the right to bind"),
        pytest.param(rule("impersonate", "users"), 403, id="nor to be others"),
        pytest.param({"verbs": ["get"], "nonResourceURLs": ["*"]}, 403, id="nor paths"),
        pytest.param({"verbs": ["get"], "nonResourceURLs": ["/api/*"]}, 201, id="but those that all have"),
    ],
)
async def test_what_may_be_given(bob: Api, given: Json, status: int) -> None:
    assert (await bob.send("POST", f"{RBAC}/clusterroles", role(given))).status == status


async def test_what_one_has_in_a_namespace_stays_there(api: Api, bob: Api) -> None:
    await allow(api, "here", rule("delete", "pods"), namespace="default")
    local = {**role(rule("delete", "pods")), "kind": "Role"}
    assert (await bob.send("POST", f"{RBAC}/namespaces/default/roles", local)).status == 201
    assert (await bob.send("POST", f"{RBAC}/namespaces/kube-system/roles", local)).status == 403
    assert (await bob.send("POST", f"{RBAC}/clusterroles", role(rule("delete", "pods")))).status == 403


async def test_who_may_escalate_may(api: Api, bob: Api) -> None:
    await allow(api, "e", rule("escalate", "clusterroles", "rbac.authorization.k8s.io", resourceNames=["r"]))
    await api.ok("POST", f"{RBAC}/clusterroles", role(name="r"))
    await api.ok("POST", f"{RBAC}/clusterroles", role(name="other"))
    everything = [rule("*", "*", "*")]
    assert (await bob.send("PUT", f"{RBAC}/clusterroles/r", role(*everything))).status == 200
    assert (await bob.send("PUT", f"{RBAC}/clusterroles/other", role(*everything, name="other"))).status == 403
    assert (await bob.send("POST", f"{RBAC}/clusterroles", role(*everything, name="new"))).status == 403


async def test_gathering_takes_every_right(api: Api, bob: Api) -> None:
    gathers = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}}
    why = "must have cluster-admin privileges to use the aggregationRule"
    told = f'clusterroles.rbac.authorization.k8s.io "{{}}" is forbidden: {why}'
    status, refused = await bob.ask("POST", f"{RBAC}/clusterroles", role(**gathers))
    assert (status, refused["message"]) == (403, told.format("r"))
    await api.ok("POST", f"{RBAC}/clusterroles", role(name="gathering", **gathers))
    status, refused = await bob.ask("PUT", f"{RBAC}/clusterroles/gathering", role(name="gathering"))
    assert (status, refused["message"]) == (403, told.format("gathering"))
    await allow(api, "all", rule("*", "*", "*"), {"verbs": ["*"], "nonResourceURLs": ["*"]})
    assert (await bob.send("POST", f"{RBAC}/clusterroles", role(**gathers))).status == 201


async def test_a_label_does_not_smuggle_rights_into_a_gathering_role(bob: Api) -> None:
    labels = {"rbac.authorization.k8s.io/aggregate-to-view": "true"}
    smuggled = {**role(rule("delete", "nodes")), "metadata": {"name": "r", "labels": labels}}
    assert (await bob.send("POST", f"{RBAC}/clusterroles", smuggled)).status == 403


@pytest.mark.parametrize(
    ("path", "body", "status", "told"),
    [
        pytest.param(
            "clusterrolebindings",
            binding("cluster-admin"),
            403,
            f'clusterrolebindings.rbac.authorization.k8s.io "b" is forbidden: {MISSING}'
            '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}',
            id="to everything",
        ),
        pytest.param(
            "clusterrolebindings",
            binding("missing"),
            404,
            'clusterrolebindings.rbac.authorization.k8s.io "missing" not found',
            id="to what is not there",
        ),
        pytest.param(
            "namespaces/default/rolebindings",
            binding("missing", "Role", binds="RoleBinding"),
            404,
            'rolebindings.rbac.authorization.k8s.io "missing" not found',
            id="to a role that is not there",
        ),
        pytest.param("clusterrolebindings", binding("maker"), 201, "", id="to what one has"),
        pytest.param(
            "namespaces/default/rolebindings", binding("maker", binds="RoleBinding"), 201, "", id="in a namespace"
        ),
    ],
)
async def test_a_role_can_be_bound_by_who_has_it(bob: Api, path: str, body: Json, status: int, told: str) -> None:
    code, answer = await bob.ask("POST", f"{RBAC}/{path}", body)
    assert code == status
    if told:
        assert answer["message"] == told


async def test_a_role_of_no_kind_is_refused_to_all(api: Api, bob: Api) -> None:
    for user in (api, bob):
        assert (await user.send("POST", f"{RBAC}/clusterrolebindings", binding("x", "Wish"))).status == 422


@pytest.mark.parametrize(
    ("method", "path", "content_type"),
    [
        ("PUT", "clusterrolebindings/b", "application/json"),
        ("PATCH", "clusterrolebindings/b?fieldManager=x", APPLY),
        ("POST", "clusterrolebindings", "application/json"),
    ],
)
async def test_who_may_bind_may(api: Api, bob: Api, method: str, path: str, content_type: str) -> None:
    named = rule("bind", "clusterroles", "rbac.authorization.k8s.io", resourceNames=["view"])
    await allow(api, "binder", named)
    assert (await bob.ask(method, f"{RBAC}/{path}", binding("edit"), content_type=content_type))[0] == 403
    assert (await bob.ask(method, f"{RBAC}/{path}", binding("view"), content_type=content_type))[0] == 201


async def test_binding_in_a_namespace_is_not_binding_everywhere(api: Api, bob: Api) -> None:
    await allow(api, "binder", rule("bind", "clusterroles", "rbac.authorization.k8s.io"), namespace="default")
    local = binding("edit", binds="RoleBinding")
    assert (await bob.ask("POST", f"{RBAC}/namespaces/default/rolebindings", local))[0] == 201
    assert (await bob.ask("POST", f"{RBAC}/namespaces/kube-system/rolebindings", local))[0] == 403
    assert (await bob.ask("POST", f"{RBAC}/clusterrolebindings", binding("edit")))[0] == 403


@pytest.mark.parametrize(
    ("patch", "status"),
    [
        pytest.param({"metadata": {"finalizers": ["example.com/x"]}}, 200, id="a finalizer"),
        pytest.param({"metadata": {"ownerReferences": None}}, 200, id="an owner"),
        pytest.param({}, 200, id="nothing"),
        pytest.param({"metadata": {"labels": {"a": "b"}}}, 403, id="a label"),
        pytest.param({"rules": []}, 200, id="fewer rights"),
    ],
)
async def test_what_gives_nobody_anything_is_allowed(bob: Api, patch: Json, status: int) -> None:
    path = f"{RBAC}/clusterroles/cluster-admin"
    assert (await bob.ask("PATCH", path, patch, content_type="application/merge-patch+json"))[0] == status


async def test_somebody_else_cannot_be_added_to_a_binding(api: Api, bob: Api) -> None:
    await api.ok("POST", f"{RBAC}/clusterrolebindings", binding("cluster-admin"))
    # Bob has every right now, and could; so take the binding of another user.
    eve = api.as_user(User("eve"))
    await allow(api, "eves", *MAKER, subjects=[{"kind": "User", "name": "eve"}])
    add = [{"op": "add", "path": "/subjects/-", "value": {"kind": "User", "name": "eve"}}]
    path = f"{RBAC}/clusterrolebindings/b"
    assert (await eve.ask("PATCH", path, add, content_type="application/json-patch+json"))[0] == 403
    assert (await bob.ask("PATCH", path, add, content_type="application/json-patch+json"))[0] == 200


async def test_masters_need_nothing(api: Api) -> None:
    assert (await api.ask("POST", f"{RBAC}/clusterroles", role(rule("*", "*", "*"))))[0] == 201
    assert ADMIN.groups == ("system:masters",)


async def test_rights_that_went_a_moment_ago_do_not_count(api: Api, bob: Api) -> None:
    await allow(api, "soon-gone", rule("delete", "pods"))
    assert (await bob.send("POST", f"{RBAC}/clusterroles?dryRun=All", role(rule("delete", "pods")))).status == 201
    await api.ok("DELETE", f"{RBAC}/clusterrolebindings/soon-gone")
    assert (await bob.send("POST", f"{RBAC}/clusterroles", role(rule("delete", "pods")))).status == 403


async def test_bindings_of_nothing_are_told(api: Api, bob: Api) -> None:
    await allow(api, "ghost", rule("get", "nodes"))
    await api.ok("DELETE", f"{RBAC}/clusterroles/ghost")
    _, refused = await bob.ask("POST", f"{RBAC}/clusterroles", role(rule("delete", "pods")))
    told = 'resolution errors: [clusterroles.rbac.authorization.k8s.io "ghost" not found]'
    assert refused["message"].endswith(f'Verbs:["delete"]}}; {told}')


async def test_who_cannot_be_known_to_have_a_right_gives_none(
    api: Api, bob: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def lags(_: Hub, revision: int, *, seconds: float) -> bool:
        return False

    monkeypatch.setattr(Hub, "wait_until_reached", lags)
    status, refused = await bob.ask("POST", f"{RBAC}/clusterroles", role(rule("get", "pods")))
    assert (status, refused["reason"]) == (504, "Timeout")
