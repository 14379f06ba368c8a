"""Which requests are audited: every selector, the order of rules, and what no policy can open."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.apiserver import target
from hardpoint.apiserver.audit.policy import LEVELS, WRITES_ONLY, GroupResources, Policy, Rule, Verdict
from hardpoint.machinery.messages import User
from tests.apiserver.audit.auditing import policy

JANE = User("jane", ("devs", "system:authenticated"))
PODS = "/api/v1/namespaces/default/pods"


@pytest.mark.parametrize(
    ("rule", "verb", "path", "matches"),
    [
        pytest.param("", "get", PODS, True, id="a rule without selectors is for all"),
        pytest.param("users: [jane]", "get", PODS, True, id="user"),
        pytest.param("users: [joe]", "get", PODS, False, id="other user"),
        pytest.param("userGroups: [ops, devs]", "get", PODS, True, id="one of the groups"),
        pytest.param("userGroups: [ops]", "get", PODS, False, id="other group"),
        pytest.param("verbs: [list]", "list", PODS, True, id="verb"),
        pytest.param("verbs: [list]", "get", PODS, False, id="other verb"),
        pytest.param("namespaces: [default]", "list", PODS, True, id="namespace"),
        pytest.param("namespaces: [other]", "list", PODS, False, id="other namespace"),
        pytest.param('namespaces: [""]', "list", "/api/v1/nodes", True, id="no namespace is the empty one"),
        pytest.param("namespaces: [default]", "get", "/healthz", False, id="a path has no namespace"),
        pytest.param("resources: [{group: '', resources: [pods]}]", "list", PODS, True, id="resource"),
        pytest.param("resources: [{resources: [pods]}]", "list", PODS, True, id="no group is the core"),
        pytest.param("resources: [{group: apps}]", "list", PODS, False, id="other group of resources"),
        pytest.param("resources: [{group: apps}]", "list", "/apis/apps/v1/deployments", True, id="all of a group"),
        pytest.param("resources: [{group: '*', resources: [pods]}]", "list", PODS, True, id="any group"),
        pytest.param("resources: [{resources: [pods]}]", "get", f"{PODS}/p/log", False, id="not its subresources"),
        pytest.param("resources: [{resources: [pods/log]}]", "get", f"{PODS}/p/log", True, id="subresource"),
        pytest.param("resources: [{resources: ['pods/*']}]", "get", f"{PODS}/p/log", True, id="all subresources"),
        pytest.param("resources: [{resources: ['pods/*']}]", "get", f"{PODS}/p", True, id="and the resource itself"),
        pytest.param("resources: [{resources: ['*/log']}]", "get", f"{PODS}/p/log", True, id="one subresource of all"),
        pytest.param("resources: [{resources: ['*/log']}]", "get", f"{PODS}/p", False, id="but not the resource"),
        pytest.param("resources: [{resources: ['*']}]", "get", f"{PODS}/p/log", True, id="everything"),
        pytest.param("resources: [{resources: [pods], resourceNames: [p]}]", "get", f"{PODS}/p", True, id="name"),
        pytest.param("resources: [{resources: [pods], resourceNames: [q]}]", "get", f"{PODS}/p", False, id="another"),
        pytest.param("nonResourceURLs: [/healthz]", "get", "/healthz", True, id="path"),
        pytest.param("nonResourceURLs: ['/healthz*']", "get", "/healthz/etcd", True, id="path below"),
        pytest.param("nonResourceURLs: ['/healthz*']", "get", "/livez", False, id="other path"),
        pytest.param("nonResourceURLs: ['*']", "get", "/livez", True, id="any path"),
        pytest.param("nonResourceURLs: ['*']", "get", PODS, False, id="but no resource"),
        pytest.param("resources: [{group: '*'}]", "get", "/livez", False, id="no path is a resource"),
        pytest.param("users: [jane], verbs: [create]", "get", PODS, False, id="every selector must match"),
    ],
)
def test_a_rule_matches(rule: str, verb: str, path: str, matches: bool) -> None:
    asked = policy(f"level: Metadata, {rule}" if rule else "level: Metadata")
    for _ in range(2):  # The second answer comes from memory.
        verdict = asked.evaluate(JANE, verb, target.parse(path))
        assert verdict.level == ("Metadata" if matches else "None")


def test_nobody_matches_no_user() -> None:
    asked = policy("level: Request, users: [jane]", "level: Metadata, userGroups: [devs]")
    assert asked.evaluate(None, "get", target.parse(PODS)).level == "None"


def test_the_first_rule_counts() -> None:
    asked = policy("level: None, users: [jane]", "level: Request, verbs: [get]", "level: Metadata")
    where = target.parse(PODS)
    assert [asked.evaluate(user, verb, where).level for user, verb in [
        (JANE, "get"), (User("joe"), "get"), (User("joe"), "list"),
    ]] == ["None", "Request", "Metadata"]  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/namespaces/default/secrets/s",
        "/api/v1/secrets",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        "/api/v1/namespaces/default/serviceaccounts/default/token",
    ],
)
@pytest.mark.parametrize("level", ["Request", "RequestResponse"])
def test_secrets_are_told_by_their_metadata_whatever_the_policy_says(path: str, level: str) -> None:
    asked = policy(f"level: {level}, resources: [{{group: '*'}}]", f"level: {level}")
    assert asked.evaluate(JANE, "get", target.parse(path)).level == "Metadata"
    assert asked.evaluate(JANE, "get", target.parse(PODS)).level == level


def test_stages_and_managed_fields_of_the_policy_and_of_the_rule() -> None:
    asked = policy(
        "level: Metadata, verbs: [get], omitStages: [Panic], omitManagedFields: false",
        "level: Metadata",
        head="omitStages: [RequestReceived]\nomitManagedFields: true\n",
    )
    where = target.parse(PODS)
    assert asked.evaluate(JANE, "get", where) == Verdict("Metadata", frozenset(("RequestReceived", "Panic")), False)
    assert asked.evaluate(JANE, "list", where) == Verdict("Metadata", frozenset(("RequestReceived",)), True)


@pytest.mark.parametrize(
    ("verb", "path", "level"),
    [("create", PODS, "Metadata"), ("patch", f"{PODS}/p", "Metadata"), ("get", PODS, "None"), ("watch", PODS, "None")],
)
def test_unless_told_otherwise_writes_are_audited(verb: str, path: str, level: str) -> None:
    assert WRITES_ONLY.evaluate(JANE, verb, target.parse(path)).level == level


PATHS = ["/healthz", "/api", PODS, f"{PODS}/p", f"{PODS}/p/log", "/api/v1/nodes/n", "/apis/apps/v1/deployments"]
QUESTIONS = list(product([None, JANE, User("joe", ("ops",))], ["get", "list"], [target.parse(path) for path in PATHS]))
some = st.sampled_from
resources = st.builds(
    GroupResources,
    some(["", "*", "apps"]),
    st.lists(some(["pods", "pods/log", "*", "nodes", "pods/*", "*/log"]), max_size=2).map(tuple),
    st.lists(some(["p", "n"]), max_size=1).map(tuple),
)
rules = st.builds(
    Rule,
    st.builds(Verdict, some(LEVELS)),
    users=some([(), ("jane",), ("joe",)]),
    groups=some([(), ("devs",), ("ops",)]),
    verbs=some([(), ("get",), ("list",)]),
    resources=st.lists(resources, max_size=2).map(tuple),
    namespaces=some([(), ("default",), ("",)]),
    paths=some([(), ("/healthz",), ("/api*",)]),
)


@given(st.lists(rules, max_size=4))
def test_what_is_remembered_is_what_would_be_decided(made: list[Rule]) -> None:
    remembering = Policy(made)
    for _ in range(2):
        for user, verb, where in QUESTIONS:
            assert remembering.evaluate(user, verb, where) == Policy(made).evaluate(user, verb, where)
