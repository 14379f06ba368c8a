"""Rules compared: what is missing is what no held rule allows."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.policyrules import ATOMS_MAX, described, missing

Json = dict[str, Any]


def rule(verbs: str, resources: str = "", groups: str = "core", names: str = "", paths: str = "") -> Json:
    """A rule from words with spaces between them; `core` is the group without a name."""
    return {
        "verbs": verbs.split(),
        "apiGroups": [group.replace("core", "") for group in groups.split()] if resources else [],
        "resources": resources.split(),
        "resourceNames": names.split(),
        "nonResourceURLs": paths.split(),
    }


@pytest.mark.parametrize(
    ("held", "wanted", "is_held"),
    [
        pytest.param(rule("get", "pods"), rule("get", "pods"), True, id="the same"),
        pytest.param(rule("get list", "pods nodes"), rule("list", "nodes"), True, id="a part"),
        pytest.param(rule("get", "pods"), rule("get list", "pods"), False, id="more verbs"),
        pytest.param(rule("get", "pods"), rule("*", "pods"), False, id="every verb"),
        pytest.param(rule("get list watch create update", "pods"), rule("*", "pods"), False, id="many are not every"),
        pytest.param(rule("get", "*"), rule("get", "pods/log"), True, id="a star has subresources"),
        pytest.param(rule("get", "pods"), rule("get", "pods/log"), False, id="a resource has none"),
        pytest.param(rule("get", "*/log"), rule("get", "pods/log"), True, id="a subresource of all"),
        pytest.param(rule("get", "*/log"), rule("get", "*/log"), True, id="is itself"),
        pytest.param(rule("get", "pods/log"), rule("get", "*/log"), False, id="of one is not of all"),
        pytest.param(rule("get", "pods/*"), rule("get", "pods/log"), False, id="no such star"),
        pytest.param(rule("get", "pods", "*"), rule("get", "pods", "apps"), True, id="every group"),
        pytest.param(rule("get", "pods", "apps"), rule("get", "pods", "*"), False, id="one group is not every"),
        pytest.param(rule("get", "pods"), rule("get", "pods", names="a"), True, id="all objects, one of them"),
        pytest.param(rule("get", "pods", names="a"), rule("get", "pods"), False, id="one object, all of them"),
        pytest.param(rule("get", "pods", names="a b"), rule("get", "pods", names="b"), True, id="one of two"),
        pytest.param(rule("get", "pods", names="a"), rule("get", "pods", names="a b"), False, id="two of one"),
        pytest.param(rule("get", paths="/a/*"), rule("get", paths="/a/b"), True, id="a path below"),
        pytest.param(rule("get", paths="/a/*"), rule("get", paths="/a/b/*"), True, id="paths below"),
        pytest.param(rule("get", paths="/a/*"), rule("get", paths="/a"), False, id="not the path itself"),
        pytest.param(rule("get", paths="*"), rule("get", paths="/a*"), True, id="every path"),
        pytest.param(rule("get", "*", "*"), rule("get", paths="/a"), False, id="resources are not paths"),
        pytest.param(rule("get", paths="*"), rule("get", "pods"), False, id="paths are not resources"),
    ],
)
def test_what_a_rule_covers(held: Json, wanted: Json, is_held: bool) -> None:
    assert (not missing([held], [wanted])) is is_held


WORDS = st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=3, unique=True)
RESOURCES = st.lists(st.sampled_from(["p", "p/s", "*/s", "*", "q"]), min_size=1, max_size=3, unique=True)
RULES = st.builds(
    lambda verbs, groups, resources, names: {
        "verbs": verbs,
        "apiGroups": groups,
        "resources": resources,
        "resourceNames": names,
    },
    WORDS,
    WORDS,
    RESOURCES,
    st.lists(st.sampled_from(["x", "y"]), max_size=2, unique=True),
)


def allows(rules: list[Json], verb: str, group: str, resource: str, name: str) -> bool:
    """What RBAC says of a request, in the plainest words."""
    _, _, part = resource.partition("/")
    return any(
        {verb, "*"} & set(rule["verbs"])
        and {group, "*"} & set(rule["apiGroups"])
        and {resource, "*", *([f"*/{part}"] if part else [])} & set(rule["resources"])
        and (not rule["resourceNames"] or name in rule["resourceNames"])
        for rule in rules
    )


@given(st.lists(RULES, max_size=3), st.lists(RULES, max_size=2))
def test_who_misses_nothing_can_do_everything(held: list[Json], wanted: list[Json]) -> None:
    if missing(held, wanted):
        return
    for asked in product(("a", "b", "z"), ("a", "b", "z"), ("p", "q", "z", "p/s", "z/s", "p/z"), ("", "x", "y", "z")):
        assert allows(held, *asked) or not allows(wanted, *asked)


@given(st.lists(RULES, max_size=3), st.lists(RULES, max_size=2))
def test_what_is_missing_can_be_added(held: list[Json], wanted: list[Json]) -> None:
    absent = missing(held, wanted)
    assert not missing([*held, *absent], wanted)
    assert not missing(held, held)


def test_missing_rights_are_told_by_resource() -> None:
    wanted = [
        rule("get list", "pods secrets", "core apps"),
        rule("get post", paths="/x"),
        rule("get list", "configmaps", names="a b"),
    ]
    assert described(missing([rule("get", "pods")], wanted)) == [
        '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["a"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["configmaps"], ResourceNames:["b"], Verbs:["get" "list"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["list"]}',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}',
        '{APIGroups:["apps"], Resources:["secrets"], Verbs:["get" "list"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
        '{NonResourceURLs:["/x"], Verbs:["post"]}',
    ]


def test_a_rule_too_big_to_break_down_is_told_whole() -> None:
    words = [f"w{number}" for number in range(50)]
    huge = {"verbs": words, "apiGroups": words, "resources": words, "resourceNames": []}
    assert len(words) ** 3 > ATOMS_MAX
    assert missing([rule("get", "pods")], [huge]) == [huge]
    assert missing([rule("*", "*", "*")], [huge]) == []
