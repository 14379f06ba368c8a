"""Which flow a request belongs to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver import target
from hardpoint.apiserver.flow.schemas import Schema, deal, in_order
from hardpoint.machinery.messages import User

Json = dict[str, Any]
JANE = User("jane", ("devs", "system:authenticated"))
BOT = User("system:serviceaccount:ci:bot", ("system:serviceaccounts",))
PODS = "/api/v1/namespaces/default/pods"
ANY_RESOURCE = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"], "clusterScope": True}
ANY_PATH = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def schema(name: str = "s", precedence: int = 1, level: str = "l", **rule: Any) -> Json:
    spec: Json = {
        "matchingPrecedence": precedence,
        "priorityLevelConfiguration": {"name": level},
        "rules": [{"subjects": [{"kind": "Group", "group": {"name": "*"}}], **rule}],
    }
    return {"metadata": {"name": name, "uid": f"uid-{name}"}, "spec": spec}


@pytest.mark.parametrize(
    ("subject", "user", "matches"),
    [
        ({"kind": "User", "user": {"name": "jane"}}, JANE, True),
        ({"kind": "User", "user": {"name": "*"}}, JANE, True),
        ({"kind": "User", "user": {"name": "joe"}}, JANE, False),
        ({"kind": "User"}, JANE, False),
        ({"kind": "Group", "group": {"name": "devs"}}, JANE, True),
        ({"kind": "Group", "group": {"name": "ops"}}, JANE, False),
        ({"kind": "ServiceAccount", "serviceAccount": {"namespace": "ci", "name": "bot"}}, BOT, True),
        ({"kind": "ServiceAccount", "serviceAccount": {"namespace": "ci", "name": "*"}}, BOT, True),
        ({"kind": "ServiceAccount", "serviceAccount": {"namespace": "c", "name": "*"}}, BOT, False),
        ({"kind": "ServiceAccount", "serviceAccount": {"namespace": "ci", "name": "bo"}}, BOT, False),
        ({"kind": "ServiceAccount", "serviceAccount": {"namespace": "ci", "name": "*"}}, JANE, False),
        ({"kind": "Robot"}, JANE, False),
    ],
)
def test_subjects(subject: Json, user: User, matches: bool) -> None:
    made = Schema.of(schema(subjects=[subject], resourceRules=[ANY_RESOURCE]))
    assert made.matches(user, "list", target.parse(PODS)) is matches


@pytest.mark.parametrize(
    ("change", "verb", "path", "matches"),
    [
        ({}, "list", PODS, True),
        ({"verbs": ["get", "list"]}, "list", PODS, True),
        ({"verbs": ["get"]}, "list", PODS, False),
        ({"apiGroups": [""]}, "list", PODS, True),
        ({"apiGroups": ["apps"]}, "list", PODS, False),
        ({"resources": ["pods"]}, "get", f"{PODS}/p", True),
        ({"resources": ["pods"]}, "get", f"{PODS}/p/log", False),
        ({"resources": ["pods/log"]}, "get", f"{PODS}/p/log", True),
        ({"namespaces": ["default"]}, "list", PODS, True),
        ({"namespaces": ["other"]}, "list", PODS, False),
        ({"namespaces": ["default"], "clusterScope": False}, "list", "/api/v1/nodes", False),
        ({"namespaces": []}, "list", "/api/v1/nodes", True),
        ({}, "get", "/healthz", False),
    ],
)
def test_resource_rules(change: Json, verb: str, path: str, matches: bool) -> None:
    made = Schema.of(schema(resourceRules=[ANY_RESOURCE | change]))
    assert made.matches(JANE, verb, target.parse(path)) is matches


@pytest.mark.parametrize(
    ("urls", "path", "matches"),
    [
        (["/healthz"], "/healthz", True),
        (["/healthz"], "/healthz/etcd", True),
        (["/healthz/*"], "/healthz/etcd", True),
        (["/healthz"], "/healthzz", False),
        (["*"], "/anything", True),
        (["*"], PODS, False),
    ],
)
def test_path_rules(urls: list[str], path: str, matches: bool) -> None:
    made = Schema.of(schema(nonResourceRules=[ANY_PATH | {"nonResourceURLs": urls}]))
    assert made.matches(JANE, "get", target.parse(path)) is matches


def test_the_order_is_by_precedence_then_by_name() -> None:
    stored = [schema("b", 5), schema("a", 5), schema("z", 2)]
    assert [each.name for each in in_order(stored)] == ["exempt", "z", "a", "b", "catch-all"]


@pytest.mark.parametrize(("kind", "flow"), [("ByUser", "jane"), ("ByNamespace", "default"), ("", "")])
def test_what_tells_flows_apart(kind: str, flow: str) -> None:
    obj = schema()
    obj["spec"]["distinguisherMethod"] = {"type": kind} if kind else None
    assert Schema.of(obj).flow_of(JANE, target.parse(PODS)) == flow


@given(st.text(max_size=5), st.text(max_size=5), st.integers(1, 200), st.integers(1, 12))
def test_a_hand_is_of_different_queues_and_always_the_same(name: str, flow: str, queues: int, size: int) -> None:
    hand = deal(name, flow, queues, size)
    assert hand == deal(name, flow, queues, size)
    assert len(set(hand)) == min(size, queues)
    assert all(0 <= card < queues for card in hand)


def test_two_flows_hardly_ever_share_all_their_queues() -> None:
    hands = [frozenset(deal("global-default", f"user-{number}", 128, 6)) for number in range(1000)]
    assert len(set(hands)) == 1000
