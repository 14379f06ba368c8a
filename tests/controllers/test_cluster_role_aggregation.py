"""Roles that gather others have their rules, all of them and no others."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hardpoint.controllers.cluster_role_aggregation import CLUSTER_ROLES, gathered
from hardpoint.machinery.standardobjects import standard_objects
from tests.controllers.world import World

Json = dict[str, Any]
ROLE = "rbac.authorization.k8s.io/v1 ClusterRole"


def rule(*resources: str) -> Json:
    return {"verbs": ["get"], "apiGroups": [""], "resources": list(resources)}


def gathering(**labels: str) -> Json:
    return {"clusterRoleSelectors": [{"matchLabels": labels}]}


async def rules_of(world: World, name: str) -> list[Json]:
    rules: list[Json] = (await world.client.get(CLUSTER_ROLES, name)).get("rules") or []
    return rules


async def until_rules(world: World, name: str, *rules: Json) -> None:
    async def are_so() -> bool:
        return await rules_of(world, name) == list(rules)

    await world.until(are_so)


async def test_a_role_has_the_rules_of_those_it_gathers(world: World) -> None:
    await world.make("all", kind=ROLE, aggregationRule=gathering(team="a"), rules=[rule("own")])
    await until_rules(world, "all", rule("own"))
    await world.make("b", kind=ROLE, metadata={"labels": {"team": "a"}}, rules=[rule("pods"), rule("nodes")])
    first = await world.make("a", kind=ROLE, metadata={"labels": {"team": "a"}}, rules=[rule("pods")])
    await world.make("other", kind=ROLE, metadata={"labels": {"team": "b"}}, rules=[rule("secrets")])
    await until_rules(world, "all", rule("pods"), rule("nodes"))
    await world.client.update({**first, "rules": [rule("jobs")]})
    await until_rules(world, "all", rule("jobs"), rule("pods"), rule("nodes"))
    await world.delete(first)
    await until_rules(world, "all", rule("pods"), rule("nodes"))


async def test_what_is_gathered_is_gathered_further(world: World) -> None:
    await world.make(
        "mine",
        kind=ROLE,
        metadata={"labels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}},
        rules=[rule("crontabs")],
    )
    for name in ("view", "edit", "admin"):

        async def has_mine(name: str = name) -> bool:
            return rule("crontabs") in await rules_of(world, name)

        await world.until(has_mine)


async def test_default_roles_are_whole_from_the_start(bare: World) -> None:
    before = {name: await rules_of(bare, name) for name in ("admin", "edit", "view")}
    async with bare.controlled() as manager:
        await manager.cluster_roles.queue.wait_until_idle()
    assert {name: await rules_of(bare, name) for name in before} == before
    roles = [each.object for each in standard_objects() if each.kind.kind == "ClusterRole"]
    for role in roles:
        if "aggregationRule" in role:
            assert gathered(role, roles) == role["rules"]


LABELS = st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2)
ROLES = st.lists(
    st.builds(
        lambda name, labels, resources: {
            "metadata": {"name": name, "labels": labels},
            "rules": [rule(resource) for resource in resources],
        },
        st.sampled_from("pqrst"),
        LABELS,
        st.lists(st.sampled_from("123"), max_size=3),
    ),
    unique_by=lambda role: role["metadata"]["name"],
)


@given(ROLES, LABELS)
def test_exactly_what_matches_is_gathered(roles: list[Json], labels: Json) -> None:
    role = {"metadata": {"name": "p"}, "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": labels}]}}
    found = gathered(role, roles)
    assert found is not None
    matching = [
        each
        for each in roles
        if each["metadata"]["name"] != "p" and labels.items() <= each["metadata"]["labels"].items()
    ]
    assert {each["resources"][0] for each in found} == {each["resources"][0] for r in matching for each in r["rules"]}
    assert len(found) == len({each["resources"][0] for each in found})


def test_a_selector_that_cannot_be_read_gathers_nothing() -> None:
    broken = {"matchExpressions": [{"key": "a", "operator": "Like"}]}
    role = {"metadata": {"name": "p"}, "aggregationRule": {"clusterRoleSelectors": [broken]}}
    assert gathered(role, []) is None
