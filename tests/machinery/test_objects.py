"""Objects with attributes: what is there, what is absent, and what becomes of the JSON."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint import objects
from hardpoint.machinery import shapes
from hardpoint.machinery.kinds import builtin
from hardpoint.machinery.objects import Object

Json = dict[str, Any]


def pod(**spec: Any) -> Object:
    return Object({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param("spec.nodeName", "", id="text"),
        pytest.param("spec.hostNetwork", False, id="a yes or no"),
        pytest.param("spec.runtimeClassName", None, id="text that may be none"),
        pytest.param("spec.priority", None, id="a number that may be none"),
        pytest.param("spec.containers", [], id="a list"),
        pytest.param("spec.nodeSelector", {}, id="a map"),
        pytest.param("spec.securityContext.runAsNonRoot", None, id="below what is absent"),
        pytest.param("metadata.creationTimestamp", None, id="a time"),
        pytest.param("metadata.generation", 0, id="a number"),
        pytest.param("status.conditions", [], id="a list below what is absent"),
    ],
)
def test_what_is_absent_reads_as_nothing_and_stays_absent(path: str, value: Any) -> None:
    web = pod()
    found: Any = web
    before = copy.deepcopy(web.json)
    for name in path.split("."):
        found = getattr(found, name)
    assert found == value
    assert web.json == before


def test_what_is_there_is_shown_and_shared() -> None:
    web = pod(containers=[{"name": "a", "image": "b", "resources": {"limits": {"cpu": "1"}}}])
    first = web.spec.containers[0]
    assert (first.image, first.resources.limits["cpu"]) == ("b", "1")
    first.image = "c"
    first.resources.limits["memory"] = "1Gi"
    assert web.json["spec"]["containers"][0] == {
        "name": "a",
        "image": "c",
        "resources": {"limits": {"cpu": "1", "memory": "1Gi"}},
    }


def test_what_leads_to_a_field_is_made() -> None:
    web = pod()
    web.spec.securityContext.seLinuxOptions.level = "s0"
    web.spec.containers.append({"name": "a"})
    web.metadata.labels["app"] = "web"
    assert web.json["spec"] == {"securityContext": {"seLinuxOptions": {"level": "s0"}}, "containers": [{"name": "a"}]}
    assert web.json["metadata"]["labels"] == {"app": "web"}


def test_two_views_of_what_is_absent_become_one() -> None:
    web = pod()
    one, other = web.spec.securityContext, web.spec.securityContext
    one.runAsUser = 1
    other.runAsGroup = 2
    assert web.json["spec"]["securityContext"] == {"runAsUser": 1, "runAsGroup": 2}
    assert other.runAsUser == 1


def test_none_takes_a_field_away() -> None:
    web = pod(nodeName="a", priority=1)
    web.spec.nodeName = None
    del web.spec.priority
    assert web.json["spec"] == {}


def test_parts_may_be_put_into_objects() -> None:
    web, other = pod(containers=[{"name": "a"}]), pod()
    other.spec.containers = web.spec.containers
    other.spec.initContainers = [web.spec.containers[0]]
    assert other.json["spec"] == {"containers": [{"name": "a"}], "initContainers": [{"name": "a"}]}


def test_a_field_that_does_not_exist_is_a_mistake() -> None:
    with pytest.raises(AttributeError, match=r"v1.PodSpec has no field 'nodename'"):
        _ = pod().spec.nodename
    with pytest.raises(AttributeError, match=r"v1.PodSpec has no field 'nodename'"):
        pod().spec.nodename = "a"
    assert pod(newer="x").spec.newer == "x", "what a newer server sent can be read"


def test_words_of_python() -> None:
    policy = objects.NetworkPolicy({"spec": {"ingress": [{"from": [{"podSelector": {}}]}]}})
    assert len(policy.spec.ingress[0].from_) == 1


def test_of_other_kinds_everything_may_be_there() -> None:
    tab = Object({"apiVersion": "stable.example.com/v1", "kind": "CronTab", "spec": {"list": [{"a": {"b": 1}}]}})
    assert tab.spec.list[0].a.b == 1
    assert (tab.spec.missing, tab.status) == (None, None)
    assert tab.metadata.labels.get("app") is None, "metadata is the same everywhere"
    tab.metadata.annotations["a"] = "b"
    assert tab.json["metadata"] == {"annotations": {"a": "b"}}


SCALARS = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_reading_changes_nothing(value: Any) -> None:
    json = {"apiVersion": "example.com/v1", "kind": "Thing", "spec": value}
    before = copy.deepcopy(json)
    thing = Object(json)
    repr(thing.spec)
    assert thing.to_json() == before
    assert thing.to_json() is json


def test_there_is_a_class_for_every_built_in_kind_that_can_be_listed() -> None:
    listed = {kind.kind for kind in builtin() if "list" in kind.verbs and shapes.find(kind.api_version, kind.kind)}
    classes = {name: getattr(objects, name) for name in objects.__all__ if name not in ("Items", "Map", "Object")}
    assert classes.keys() == listed
    for name, each in classes.items():
        assert each.kind == name
        assert each({}).json == {"apiVersion": each.api_version, "kind": name}
        assert each({}).metadata.name == "", "its shape is known"
