"""The index says what reading all roles and bindings would say, however they came, changed and went."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardpoint.apiserver.authorization.contract import Question
from hardpoint.apiserver.authorization.rbac import permissions
from hardpoint.apiserver.authorization.rbac.authorizer import Rbac
from hardpoint.apiserver.authorization.rbac.permissions import COMBINATIONS_FREE, Action, Permissions
from hardpoint.apiserver.hub import Hub
from hardpoint.apiserver.target import Target
from hardpoint.machinery.messages import User
from hardpoint.store.memory import MemoryStore

Json = dict[str, Any]


def some(*words: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(words), min_size=1, max_size=3)


RULES = st.one_of(
    st.fixed_dictionaries(
        {
            "verbs": some("get", "list", "*"),
            "apiGroups": some("", "apps", "*"),
            "resources": some("p", "p/s", "*/s", "*"),
        },
        optional={"resourceNames": some("a", "b", "")},
    ),
    st.fixed_dictionaries({"verbs": some("get", "*"), "nonResourceURLs": some("/x", "/x/*", "*", "/x**")}),
)
SUBJECTS = st.one_of(
    st.builds(lambda name: {"kind": "User", "name": name}, st.sampled_from("uv")),
    st.builds(lambda name: {"kind": "Group", "name": name}, st.sampled_from("gh")),
    st.builds(lambda name: {"kind": "ServiceAccount", "name": name}, st.sampled_from("s")),
)
PLACES = st.sampled_from(["", "n", "m"])
ROLES = st.tuples(PLACES, st.sampled_from("12"), st.none() | st.lists(RULES, max_size=3))
BINDINGS = st.tuples(
    PLACES,
    st.sampled_from("12"),
    st.none()
    | st.tuples(st.sampled_from(["Role", "ClusterRole"]), st.sampled_from("123"), st.lists(SUBJECTS, max_size=3)),
)
QUESTIONS = st.tuples(
    st.builds(
        User, st.sampled_from(["u", "v", "system:serviceaccount:n:s"]), st.sampled_from([(), ("g",), ("g", "h")])
    ),
    st.sampled_from(["get", "list", "put"]),
    st.one_of(
        st.builds(
            Target,
            st.just(""),
            st.sampled_from(["", "apps", "x"]),
            st.just("v1"),
            st.sampled_from(["p", "q"]),
            PLACES,
            st.sampled_from(["", "a", "c"]),
            st.sampled_from(["", "s", "t"]),
        ),
        st.builds(Target, st.sampled_from(["/x", "/x/y", "/xy", "/"])),
    ),
)


class Model:
    """All roles and bindings, read anew for every question."""

    def __init__(self) -> None:
        self.roles: dict[tuple[str, str], list[Json]] = {}
        self.bindings: dict[tuple[str, str], tuple[str, str, list[Json]]] = {}

    def allows(self, question: Question) -> bool:
        return any(allows(rule, question) for rule in self._rules(question))

    def _rules(self, question: Question) -> list[Json]:
        namespace = question.target.namespace
        return [
            rule
            for (place, _), (kind, role, subjects) in self.bindings.items()
            if place in ("", namespace) and any(is_about(subject, place, question.user) for subject in subjects)
            for rule in self.roles.get((place if kind == "Role" else "", role), [])
        ]


def is_about(subject: Json, place: str, user: User) -> bool:
    if subject["kind"] == "Group":
        return subject["name"] in user.groups
    if subject["kind"] == "ServiceAccount":
        return bool(place) and user.name == f"system:serviceaccount:{place}:{subject['name']}"
    return bool(subject["name"] == user.name)


def allows(rule: Json, question: Question) -> bool:
    if not {question.verb, "*"} & set(rule["verbs"]):
        return False
    target = question.target
    if not question.is_about_resource:
        paths = rule.get("nonResourceURLs") or ()
        return any(
            path == target.path or (path.endswith("*") and target.path.startswith(path.rstrip("*"))) for path in paths
        )
    names = {f"{target.resource}/{target.subresource}" if target.subresource else target.resource, "*"}
    if target.subresource:
        names.add(f"*/{target.subresource}")
    wanted = rule.get("resourceNames")
    return bool(
        {target.group, "*"} & set(rule.get("apiGroups") or ())
        and names & set(rule.get("resources") or ())
        and (not wanted or target.name in wanted)
    )


@pytest.mark.parametrize("free", [COMBINATIONS_FREE, -1000], ids=["by look-ups", "one by one"])
@settings(deadline=None)
@given(
    steps=st.lists(st.one_of(ROLES.map(("role",).__add__), BINDINGS.map(("binding",).__add__))),
    asked=st.lists(QUESTIONS, min_size=1, max_size=8),
)
async def test_the_index_agrees_with_reading_everything(free: int, steps: list[Any], asked: list[Any]) -> None:
    store = MemoryStore()
    hub = Hub(store)
    rbac, model = Rbac(hub, store), Model()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(permissions, "COMBINATIONS_FREE", free)
        for what, place, name, new in steps:
            happens(rbac, model, what, (place, name), new)
        async with hub.running():
            for user, verb, target in asked:
                question = Question(user, verb, target)
                assert (await rbac.authorize(question)).is_allowed is model.allows(question)


def happens(rbac: Rbac, model: Model, what: str, key: tuple[str, str], new: Any) -> None:
    """A role or binding comes, changes or goes."""
    if what == "role":
        rbac.saw_role(*key, None if new is None else {"rules": new})
        model.roles.pop(key, None)
        if new is not None:
            model.roles[key] = new
        return
    model.bindings.pop(key, None)
    if new is None:
        rbac.saw_binding(*key, None)
        return
    kind, role, subjects = model.bindings[key] = new
    rbac.saw_binding(*key, {"roleRef": {"kind": kind, "name": role}, "subjects": subjects})


@given(st.lists(st.lists(RULES, max_size=3), max_size=4))
def test_a_role_that_is_gone_leaves_nothing(roles: list[list[Json]]) -> None:
    index = Permissions()
    for number, rules in enumerate(roles):
        index.put(("", str(number)), rules)
    for number in range(len(roles)):
        index.put(("", str(number)), None)
    assert vars(index) == vars(Permissions())


def test_a_rule_of_millions_of_combinations_costs_what_it_is_long() -> None:
    words = [f"w{number}" for number in range(500)]
    index = Permissions()
    index.put(("", "huge"), [{"verbs": words, "apiGroups": words, "resources": words}])
    assert not list(index.allowing(Action("w1", "w2", "w3", "", "x")))
    assert index.allowing_widely([("", "huge")], Action("w1", "w2", "w3", "", "x")) == ("", "huge")
    assert index.allowing_widely([("", "huge")], Action("w1", "w2", "other", "", "x")) is None
    assert index.allowing_widely([("", "other")], Action("w1", "w2", "w3", "", "x")) is None
