"""The graph of owners, without a server: who has to be looked at when something changes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.client.resources import Resource
from hardpoint.controllers.ownership import Graph, Node, Reference, node_of

MAPS = Resource("v1", "configmaps", "ConfigMap")
ROLES = Resource("rbac.authorization.k8s.io/v1", "clusterroles", "ClusterRole", namespaced=False)


def node(uid: str, *owners: str, namespace: str = "a", blocks: bool = True, waits: bool = False) -> Node:
    """An object whose name is its uid."""
    refers = tuple(Reference(owner, "v1", "ConfigMap", owner, blocks) for owner in owners)
    return Node(MAPS, namespace, uid, uid, refers, is_going=waits, is_orphaning=False, is_waiting=waits)


def graph_of(*nodes: Node) -> Graph:
    graph = Graph()
    for each in nodes:
        graph.put(each)
    return graph


def test_metadata_becomes_a_node() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}
    metadata = {
        "name": "x",
        "namespace": "a",
        "uid": "2",
        "deletionTimestamp": "2026-01-02T03:04:05Z",
        "finalizers": ["foregroundDeletion"],
        "ownerReferences": [owner, {**owner, "uid": "3", "blockOwnerDeletion": True}],
    }
    found = node_of(MAPS, metadata)
    assert [(each.uid, each.group, each.blocks) for each in found.owners] == [("1", "apps", False), ("3", "apps", True)]
    assert (found.is_going, found.is_waiting, found.is_orphaning) == (True, True, False)
    assert str(found) == "ConfigMap a/x"
    del metadata["deletionTimestamp"]
    assert not node_of(MAPS, metadata).is_waiting, "a finalizer alone says nothing"


@pytest.mark.parametrize(
    ("before", "change", "looks"),
    [
        pytest.param([], node("x"), set(), id="no owners, no questions"),
        pytest.param([node("o")], node("x", "o"), set(), id="its owner has been seen"),
        pytest.param([], node("x", "o"), {"x"}, id="its owner has not been seen"),
        pytest.param([node("o", namespace="b")], node("x", "o"), {"x"}, id="its owner is elsewhere"),
        pytest.param([node("o", waits=True)], node("x", "o"), {"x"}, id="its owner is going"),
        pytest.param([node("x", "o")], node("o"), set(), id="an owner appears"),
        pytest.param([node("o"), node("x", "o")], node("o", waits=True), {"o", "x"}, id="an owner begins to go"),
        pytest.param([node("x", "o"), node("o", waits=True)], node("x"), {"o"}, id="a going owner is let go"),
        pytest.param(
            [node("x", "o"), node("o", waits=True)], node("x", "o", blocks=False), {"o", "x"}, id="or no longer blocked"
        ),
        pytest.param([node("x", "o"), node("o")], node("x", "o"), set(), id="nothing has changed"),
    ],
)
def test_who_is_looked_at(before: list[Node], change: Node, looks: set[str]) -> None:
    assert graph_of(*before).put(change) == looks


def test_an_owner_that_was_seen_is_the_one_that_is_meant() -> None:
    role = replace(node("r", namespace=""), resource=ROLES)
    graph = graph_of(node("o"), role)
    meant = Reference("o", "v1", "ConfigMap", "o", blocks=False)
    assert graph.has_owner(node("x"), meant)
    assert graph.has_owner(node("x"), Reference("r", ROLES.api_version, "ClusterRole", "r", blocks=False))
    for other in ({"name": "p"}, {"kind": "Secret"}, {"api_version": "g/v1"}, {"uid": "p"}):
        assert not graph.has_owner(node("x"), replace(meant, **other))  # type: ignore[arg-type] # Each fits.


def test_when_an_owner_goes_its_dependents_are_looked_at_and_who_waits_for_it() -> None:
    graph = graph_of(node("top", waits=True), node("o", "top"), node("x", "o"), node("y", "o"))
    assert graph.remove("o") == {"x", "y", "top"}
    assert graph.remove("o") == set()


def test_nobody_waits_for_himself() -> None:
    itself = node("x", "x", waits=True)
    assert not graph_of(itself).is_blocked(itself)
    assert graph_of(itself, node("y", "x")).is_blocked(itself)
    assert not graph_of(itself, node("y", "x", blocks=False)).is_blocked(itself)


def test_what_is_no_longer_followed_is_forgotten_without_consequences() -> None:
    graph = graph_of(node("o"), node("x", "o"), replace(node("r", "o", namespace=""), resource=ROLES))
    graph.forget(MAPS)
    assert len(graph) == 1
    assert [each.uid for each in graph.dependents("o")] == ["r"]


uids = st.sampled_from("abcde")
changes = st.lists(st.tuples(uids, st.none() | st.frozensets(uids, max_size=3)), max_size=30)


@given(changes)
def test_dependents_are_those_that_refer(story: list[tuple[str, frozenset[str] | None]]) -> None:
    """Whatever came and went, owners and dependents are two views of the same; nothing is kept of what is gone."""
    graph, owners = Graph(), dict[str, frozenset[str]]()
    for uid, now in story:
        if now is None:
            graph.remove(uid)
            owners.pop(uid, None)
        else:
            graph.put(node(uid, *sorted(now)))
            owners[uid] = now
    for uid in "abcde":
        assert {each.uid for each in graph.dependents(uid)} == {each for each, its in owners.items() if uid in its}
    assert set(graph._dependents) == {owner for its in owners.values() for owner in its}
