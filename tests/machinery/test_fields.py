from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.fields import BadSelector, FieldSelector, Term, escaped, fields_of, parse, unescaped
from hardpoint.machinery.kinds import Kind, by_kind


def builtin(api_version: str, name: str) -> Kind:
    kind = by_kind(api_version, name)
    assert kind is not None
    return kind


WIDGET = Kind("example.com", "v1", "Widget", "widgets", "widget", True, (), selectable_fields=("spec.color",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ""),
        (",,", ""),
        ("a=b", "a=b"),
        ("a==b", "a=b"),
        ("a!=b", "a!=b"),
        ("b=1,a=2", "a=2,b=1"),
        ("a=", "a="),
        (r"a=x\,y\=z\\", r"a=x\,y\=z\\"),
        ("a!b=c", "a!b=c"),
        ("=", ""),
    ],
)
def test_text(text: str, told: str) -> None:
    assert str(parse(text)) == told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "invalid selector: 'a'; can't understand 'a'"),
        ("x=y,a", "invalid selector: 'x=y,a'; can't understand 'a'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        (r"a=\b", r"invalid field selector: invalid escape sequence: \b"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_text_that_cannot_be_understood(text: str, message: str) -> None:
    with pytest.raises(BadSelector) as refused:
        parse(text)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        (builtin("v1", "Pod"), "x=1", "field label not supported: x"),
        (builtin("v1", "Node"), "metadata.namespace=a", "field label not supported: metadata.namespace"),
        (
            builtin("v1", "ConfigMap"),
            "data.x=1",
            '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        (builtin("batch/v1", "Job"), "x=1", 'field label "x" not supported for Job'),
        (
            builtin("resource.k8s.io/v1", "ResourceSlice"),
            "x=1",
            "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: x",
        ),
        (WIDGET, "spec.size=1", "field label not supported: spec.size"),
    ],
)
def test_fields_a_kind_does_not_offer(kind: Kind, text: str, message: str) -> None:
    with pytest.raises(BadSelector) as refused:
        parse(text, kind)
    assert str(refused.value) == message


@pytest.mark.parametrize("field", ["metadata.name", "metadata.namespace", "spec.color"])
def test_fields_a_custom_kind_offers(field: str) -> None:
    assert parse(f"{field}=a", WIDGET).exactly(field) == "a"


POD: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"nodeName": "n1", "restartPolicy": "Always"},
    "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "::1"}]},
}


@pytest.mark.parametrize(
    ("api_version", "kind", "obj", "text", "matches"),
    [
        ("v1", "Pod", POD, "metadata.name=web,metadata.namespace=shop", True),
        ("v1", "Pod", POD, "spec.nodeName=n1", True),
        ("v1", "Pod", POD, "spec.host=n1", True),
        ("v1", "Pod", POD, "spec.nodeName!=n1", False),
        ("v1", "Pod", POD, "status.phase!=Failed,status.phase!=Succeeded", True),
        ("v1", "Pod", POD, "status.podIP=10.0.0.1", True),
        ("v1", "Pod", POD, "status.podIPs=::1", False),
        ("v1", "Pod", POD, "spec.hostNetwork=false", True),
        ("v1", "Pod", POD, "status.nominatedNodeName=", True),
        ("v1", "Node", {"metadata": {"name": "a"}}, "spec.unschedulable=false", True),
        ("v1", "Node", {"spec": {"unschedulable": True}}, "spec.unschedulable=true", True),
        ("v1", "Service", {"spec": {"clusterIP": "None"}}, "spec.clusterIP!=None", False),
        ("v1", "ReplicationController", {}, "status.replicas=0", True),
        ("v1", "Event", {"source": {"component": "kubelet"}}, "source=kubelet", True),
        ("v1", "Event", {"source": {}, "reportingComponent": "x"}, "source=x", True),
        ("v1", "Event", {"involvedObject": {"kind": "Pod"}}, "involvedObject.kind=Pod", True),
        ("events.k8s.io/v1", "Event", {"regarding": {"kind": "Pod"}}, "regarding.kind=Pod", True),
        ("batch/v1", "Job", {"status": {"succeeded": 3}}, "status.successful=3", True),
        ("batch/v1", "Job", {}, "status.successful=0", True),
    ],
)
def test_selection(api_version: str, kind: str, obj: dict[str, Any], text: str, matches: bool) -> None:
    described = builtin(api_version, kind)
    assert parse(text, described).matches(fields_of(described, obj)) is matches


def test_all_fields_of_an_object() -> None:
    obj = {"metadata": {"name": "a", "namespace": "b"}, "spec": {"color": "red"}}
    fields = fields_of(WIDGET, obj)
    assert dict(fields) == {"metadata.name": "a", "metadata.namespace": "b", "spec.color": "red"}
    assert len(fields) == 3


@pytest.mark.parametrize(("value", "text"), [("red", "red"), (3, "3"), (True, "true"), (None, ""), ({"a": 1}, "")])
def test_values_of_custom_fields(value: object, text: str) -> None:
    assert fields_of(WIDGET, {"spec": {"color": value}})["spec.color"] == text


@given(st.text())
def test_escapes_round_trip(value: str) -> None:
    assert unescaped(escaped(value)) == value
    selector = FieldSelector((Term("a", value, True),))
    assert parse(str(selector)) == selector


def test_a_long_text_is_read_in_one_go() -> None:
    assert len(parse("a=b," * 50_000).terms) == 50_000
