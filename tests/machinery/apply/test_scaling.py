"""The managers of replicas, lent to a Scale and given back."""

from __future__ import annotations

from hardpoint.machinery.apply.entries import APPLY, UPDATE, Entry, who
from hardpoint.machinery.apply.scaling import to_scale, to_workload

REPLICAS = {"f:spec": {"f:replicas": {}}}
BOTH = {"f:spec": {"f:paused": {}, "f:replicas": {}}}
PAUSED = {"f:spec": {"f:paused": {}}}
CREATOR, APPLIER = who("creator", UPDATE, "apps/v1"), who("applier", APPLY, "apps/v1")
PATHS = {"apps/v1": ("f:spec", "f:replicas")}
MANAGED = {CREATOR: Entry("apps/v1", BOTH, "t"), APPLIER: Entry("apps/v1", PAUSED, "t")}


def test_a_scale_has_the_managers_of_the_replicas() -> None:
    lent = to_scale(MANAGED, PATHS)
    assert lent == {who("creator", UPDATE, "autoscaling/v1"): Entry("autoscaling/v1", REPLICAS, "t")}


def test_managers_that_are_given_back_are_as_they_were() -> None:
    assert to_workload(MANAGED, to_scale(MANAGED, PATHS), "apps/v1", PATHS) == MANAGED


def test_who_scales_takes_the_replicas() -> None:
    scaler = who("scaler", UPDATE, "autoscaling/v1", "scale")
    after = to_workload(MANAGED, {scaler: Entry("autoscaling/v1", REPLICAS, "t")}, "apps/v1", PATHS)
    assert after == {
        CREATOR: Entry("apps/v1", PAUSED, "t"),
        APPLIER: MANAGED[APPLIER],
        who("scaler", UPDATE, "apps/v1", "scale"): Entry("apps/v1", REPLICAS),
    }


def test_a_manager_of_nothing_else_is_gone() -> None:
    only = {CREATOR: Entry("apps/v1", REPLICAS, "t")}
    assert to_workload(only, {}, "apps/v1", PATHS) == {}


def test_replicas_may_be_anywhere() -> None:
    path = ("f:spec", "f:size", "f:wanted")
    managed = {CREATOR: Entry("apps/v1", {"f:spec": {"f:size": {"f:wanted": {}}}}, "t")}
    lent = to_scale(managed, {"apps/v1": path})
    assert [entry.fields for entry in lent.values()] == [REPLICAS]
    assert to_workload(managed, lent, "apps/v1", {"apps/v1": path}) == managed


def test_versions_share_their_replicas() -> None:
    paths = {"a.io/v1": ("f:spec", "f:replicas"), "a.io/v2": ("f:spec", "f:size")}
    older, newer = who("older", UPDATE, "a.io/v1"), who("newer", UPDATE, "a.io/v2")
    managed = {
        older: Entry("a.io/v1", BOTH, "t"),
        newer: Entry("a.io/v2", {"f:spec": {"f:size": {}}}, "t"),
        who("old", UPDATE, "a.io/v0"): Entry("a.io/v0", REPLICAS, "t"),
    }
    assert {identity.manager for identity in to_scale(managed, paths)} == {"older", "newer"}
    assert to_workload(managed, to_scale(managed, paths), "a.io/v2", paths) == managed
    scaler = who("scaler", UPDATE, "autoscaling/v1", "scale")
    after = to_workload(managed, {scaler: Entry("autoscaling/v1", REPLICAS, "t")}, "a.io/v2", paths)
    assert {identity.manager: entry.fields for identity, entry in after.items()} == {
        "older": PAUSED,
        "old": REPLICAS,
        "scaler": {"f:spec": {"f:size": {}}},
    }
