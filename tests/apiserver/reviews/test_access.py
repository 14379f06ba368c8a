"""Questions about access and their answers, as kube-apiserver words them."""

from __future__ import annotations

import pytest

from hardpoint.machinery.messages import User
from tests.apiserver.asking import Api, Json
from tests.apiserver.authorization.roles import BOB, RBAC, allow, rule

REVIEWS = "/apis/authorization.k8s.io/v1"
GET_PODS: Json = {"verb": "get", "resource": "pods"}


async def status(api: Api, kind: str, spec: Json) -> Json:
    answer: Json = (await api.ok("POST", f"{REVIEWS}/{kind}", {"spec": spec}))["status"]
    return answer


@pytest.mark.parametrize(
    ("selectors", "told"),
    [
        ({"fieldSelector": {"rawSelector": "a=b"}, "labelSelector": {"rawSelector": "a in (b)"}}, None),
        ({"fieldSelector": {"rawSelector": "a"}}, ["fieldSelector ignored"]),
        ({"labelSelector": {"rawSelector": "a in ("}}, ["labelSelector ignored"]),
        (
            {
                "fieldSelector": {"requirements": [{"key": "x", "operator": "Exists"}]},
                "labelSelector": {
                    "requirements": [
                        {"key": "a", "operator": "Later"},
                        {"key": "b", "operator": "In", "values": ["c"]},
                    ]
                },
            },
            ["fieldSelector ignored", "labelSelector partially ignored"],
        ),
        ({"fieldSelector": {"requirements": [{"key": "x", "operator": "In", "values": ["a,b"]}]}}, None),
    ],
)
async def test_selectors_that_mean_nothing_are_told(api: Api, selectors: Json, told: list[str] | None) -> None:
    answer = await status(api, "subjectaccessreviews", {"user": "ann", "resourceAttributes": {**GET_PODS, **selectors}})
    problems = [f"spec.resourceAttributes.{text} due to parse error" for text in told or ()]
    assert answer == {"allowed": False, **({"evaluationError": "; ".join(problems)} if told else {})}


@pytest.mark.parametrize(
    ("path", "spec", "code"),
    [
        ("subjectaccessreviews", {"user": "ann", "resourceAttributes": {}}, 201),
        ("subjectaccessreviews", {"user": "ann"}, 422),
        ("subjectaccessreviews", {"resourceAttributes": GET_PODS}, 422),
        ("selfsubjectaccessreviews", {}, 422),
        ("selfsubjectaccessreviews", {"resourceAttributes": GET_PODS, "nonResourceAttributes": {"path": "/"}}, 422),
        (
            "namespaces/default/localsubjectaccessreviews",
            {"user": "ann", "resourceAttributes": {**GET_PODS, "namespace": "default"}},
            201,
        ),
        ("namespaces/default/localsubjectaccessreviews", {"user": "ann", "resourceAttributes": GET_PODS}, 422),
        (
            "namespaces/default/localsubjectaccessreviews",
            {"user": "ann", "nonResourceAttributes": {"path": "/", "verb": "get"}},
            422,
        ),
        ("selfsubjectrulesreviews", {}, 400),
    ],
)
async def test_questions_must_make_sense(api: Api, path: str, spec: Json, code: int) -> None:
    assert (await api.send("POST", f"{REVIEWS}/{path}", {"spec": spec})).status == code


async def test_everybody_may_ask_about_themselves_and_few_about_others(api: Api) -> None:
    await allow(api, "r", rule("get", "pods"))
    bob = api.as_user(BOB)
    assert (await status(bob, "selfsubjectaccessreviews", {"resourceAttributes": GET_PODS}))["allowed"]
    spec = {"user": "bob", "resourceAttributes": GET_PODS}
    assert (await bob.send("POST", f"{REVIEWS}/subjectaccessreviews", {"spec": spec})).status == 403


async def test_a_resource_without_a_name_is_not_a_path(api: Api) -> None:
    await allow(api, "paths", {"verbs": ["*"], "nonResourceURLs": ["*"]})
    assert not (await status(api, "subjectaccessreviews", {"user": "bob", "resourceAttributes": {"verb": "get"}}))[
        "allowed"
    ]
    await allow(api, "resources", rule("*", "*", "*"))
    assert (await status(api, "subjectaccessreviews", {"user": "bob", "resourceAttributes": {"verb": "get"}}))[
        "allowed"
    ]


async def test_what_i_may_do(api: Api) -> None:
    await allow(api, "everywhere", rule("get", "nodes"), {"verbs": ["get"], "nonResourceURLs": ["/logs"]})
    await allow(api, "here", rule("get list", "pods", resourceNames=["a"]), namespace="default")
    await allow(api, "gone", rule("get", "secrets"), namespace="default")
    await api.ok("DELETE", f"{RBAC}/namespaces/default/roles/gone")
    stranger = api.as_user(User("bob"))
    answer = await status(stranger, "selfsubjectrulesreviews", {"namespace": "default"})
    assert answer["resourceRules"] == [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["nodes"]},
        {
            "verbs": ["create"],
            "apiGroups": ["authorization.k8s.io"],
            "resources": ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        },
        {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]},
        {"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"]},
    ]
    assert answer["nonResourceRules"][0] == {"verbs": ["get"], "nonResourceURLs": ["/logs"]}
    assert answer["incomplete"] is False
    assert answer["evaluationError"] == 'role.rbac.authorization.k8s.io "gone" not found'
    elsewhere = await status(stranger, "selfsubjectrulesreviews", {"namespace": "kube-system"})
    assert {"get"} == {verb for each in elsewhere["resourceRules"][:1] for verb in each["verbs"]}
    assert "evaluationError" not in elsewhere
