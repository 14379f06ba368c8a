"""Bodies against schemas: what is dropped, what is filled in, and what is told about both."""

from __future__ import annotations

from typing import Any

import pytest

from hardpoint.machinery.shapes import TypeMismatch
from hardpoint.machinery.structural import Structure

Json = dict[str, Any]

STRING: Json = {"type": "string"}
PRESERVE: Json = {"x-kubernetes-preserve-unknown-fields": True}
NUMBERED: Json = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}


def structure(spec: Json) -> Structure:
    return Structure({"type": "object", "properties": {"spec": spec}})


def body(spec: Any, **metadata: Any) -> Json:
    return {"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "a"} | metadata, "spec": spec}


def of(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


PRUNED: list[tuple[str, Json, Any, Any, list[str]]] = [
    ("an unknown field goes", of(a=STRING), {"a": "x", "b": 1}, {"a": "x"}, ["spec.b"]),
    ("below a list", of(l={"type": "array", "items": of(a=STRING)}), {"l": [{"b": 1}]}, {"l": [{}]}, ["spec.l[0].b"]),
    (
        "below a map",
        {"type": "object", "additionalProperties": of(a=STRING)},
        {"k": {"b": 1}},
        {"k": {}},
        ["spec.k.b"],
    ),
    (
        "values without a schema",
        {"type": "object", "additionalProperties": True},
        {"k": {"b": 1}, "j": 1},
        {"k": {}, "j": 1},
        ["spec.k.b"],
    ),
    ("kept where asked for", of(a=STRING) | PRESERVE, {"b": {"c": 1}}, {"b": {"c": 1}}, []),
    ("but not below a field with a schema", of(a=of(x=STRING)) | PRESERVE, {"a": {"y": 1}}, {"a": {}}, ["spec.a.y"]),
    ("null goes where it is not allowed", of(a=STRING), {"a": None}, {}, []),
    ("null stays where it is", of(a=STRING | {"nullable": True}), {"a": None}, {"a": None}, []),
    ("null gives way to a default", of(a=STRING | {"default": "x"}), {"a": None}, {"a": "x"}, []),
    (
        "null stays though there is a default",
        of(a=STRING | {"default": "x", "nullable": True}),
        {"a": None},
        {"a": None},
        [],
    ),
    ("a default for what is absent", of(a=STRING | {"default": "x"}), {}, {"a": "x"}, []),
    ("defaults inside a default", of(a=NUMBERED | {"default": {}}), {}, {"a": {"n": 1}}, []),
    (
        "defaults inside items",
        of(l={"type": "array", "items": NUMBERED}),
        {"l": [{}, {"n": 2}]},
        {"l": [{"n": 1}, {"n": 2}]},
        [],
    ),
    ("defaults inside a map", {"type": "object", "additionalProperties": NUMBERED}, {"k": {}}, {"k": {"n": 1}}, []),
    (
        "an item that is null",
        of(l={"type": "array", "items": STRING | {"default": "d"}}),
        {"l": [None]},
        {"l": ["d"]},
        [],
    ),
    ("a whole number is an integer", of(n={"type": "integer"}), {"n": 5.0}, {"n": 5}, []),
]


@pytest.mark.parametrize(("schema", "given", "left", "unknown"), [pytest.param(*row[1:], id=row[0]) for row in PRUNED])
def test_bodies_are_pruned_and_completed(schema: Json, given: Any, left: Any, unknown: list[str]) -> None:
    shape = structure(schema)
    decoded = shape.decode(body(given))
    shape.complete(decoded.object)
    assert (decoded.object["spec"], decoded.unknown) == (left, unknown)


def test_defaults_are_nobodys_in_particular() -> None:
    shape = structure(of(a={"type": "object", "default": {"l": []}, "properties": {"l": {"type": "array"}}}))
    first, second = (shape.decode(body({})).object for _ in range(2))
    shape.complete(first)
    first["spec"]["a"]["l"].append(1)
    shape.complete(second)
    assert second["spec"]["a"] == {"l": []}


def test_metadata_is_what_it_is_everywhere() -> None:
    decoded = structure(STRING).decode(body("x", labels={"a": "b"}, bogus=1, finalizers=[]))
    assert decoded.object["metadata"]["labels"] == {"a": "b"}
    assert decoded.unknown == ["metadata.bogus"]


EMBEDDED = of(template={"type": "object", "x-kubernetes-embedded-resource": True, **PRESERVE})


def test_an_object_inside_has_metadata_too() -> None:
    template = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "bogus": 1}, "spec": {"any": 1}}
    decoded = structure(EMBEDDED).decode(body({"template": template}))
    assert decoded.object["spec"]["template"]["metadata"] == {"name": "x"}
    assert decoded.object["spec"]["template"]["spec"] == {"any": 1}
    assert decoded.unknown == ["spec.template.metadata.bogus"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ({"apiVersion": 1, "kind": "x"}, "spec.template.apiVersion: Invalid value: 1: must be a string"),
        (
            {"metadata": {"labels": {"a": 1}}},
            'spec.template.metadata: Invalid value: {"labels":{"a":1}}: '
            "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string",
        ),
    ],
)
def test_an_object_inside_that_is_none_is_refused(template: Json, message: str) -> None:
    with pytest.raises(TypeMismatch) as refused:
        structure(EMBEDDED).decode(body({"template": template}))
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ({"apiVersion": 1, "kind": "Pod"}, "spec.template.apiVersion: Invalid value: 1: must be a string"),
        ({"apiVersion": "v1", "kind": True}, "spec.template.kind: Invalid value: true: must be a string"),
        (
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}},
            'spec.template.metadata: Invalid value: {"name":5}: '
            "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
        ),
    ],
)
def test_what_was_never_decoded_is_told_as_well(template: Json, message: str) -> None:
    problems = structure(EMBEDDED).rules["validation", "CREATE"](body({"template": template}))
    assert [str(each) for each in problems] == [message]


def test_an_object_inside_says_what_it_is() -> None:
    shape = structure(EMBEDDED)
    obj = shape.decode(body({"template": {"kind": "P d", "metadata": {"name": "a/b"}}})).object
    assert [str(each).partition(": a ")[0] for each in shape.rules["validation", "CREATE"](obj)] == [
        "spec.template.apiVersion: Required value",
        'spec.template.kind: Invalid value: "P d": may have mixed case, but should otherwise match',
        "spec.template.metadata.name: Invalid value: \"a/b\": may not contain '/'",
    ]
