"""What rules in CEL say of objects, in kube-apiserver's words: refusals, transitions, messages, budgets, tolerance."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from hardpoint.machinery.errors import Costly
from hardpoint.machinery.fielderrors import required
from hardpoint.machinery.structural import Structure

Json = dict[str, Any]

RULES = "x-kubernetes-validations"
STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}


def rule(expression: str, **more: Any) -> Json:
    return {"rule": expression, **more}


def spec(*rules: Json, **properties: Json) -> Json:
    """A schema whose spec has these rules and fields."""
    return {"type": "object", "properties": {"spec": {"type": "object", RULES: [*rules], "properties": properties}}}


def told(schema: Json, new: Any, old: Any = None) -> list[str]:
    """What refuses the spec `new`, or its change from `old`; what is only told begins with `tolerated`."""
    before = None if old is None else {"metadata": {"name": "n"}, "spec": old}
    structure, obj = Structure(schema), {"metadata": {"name": "n"}, "spec": new}
    found = structure.judge(obj, before, [], is_patient=True)
    with contextlib.suppress(Costly):
        assert structure.judge(obj, before, []) == found, "the quick way and the thorough one agree"
    return [f"tolerated {each}" if each.is_tolerated else str(each) for each in found]


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        pytest.param(spec(rule("self.a < 2"), a=INTEGER), {"a": 1}, [], id="fine"),
        pytest.param(
            spec(rule("self.a < 2"), a=INTEGER),
            {"a": 2},
            ["spec: Invalid value: failed rule: self.a < 2"],
            id="no words",
        ),
        pytest.param(
            spec(rule("self.a < 2", message=" small "), a=INTEGER), {"a": 2}, ["spec: Invalid value: small"], id="words"
        ),
        pytest.param(
            spec(a=INTEGER | {RULES: [rule("self < 2")]}),
            {"a": 2},
            ["spec.a: Invalid value: 2: failed rule: self < 2"],
            id="a scalar is shown",
        ),
        pytest.param(
            spec(rule("self.a < 2"), a=INTEGER),
            {},
            ['spec: Invalid value: "object": no such key: a evaluating rule: self.a < 2'],
            id="no answer",
        ),
        pytest.param(
            spec(rule("self.a < 2", messageExpression="'not ' + string(self.a)"), a=INTEGER),
            {"a": 2},
            ["spec: Invalid value: not 2"],
            id="a message that is made",
        ),
        pytest.param(
            spec(rule("self.a < 2", message="m", messageExpression="self.b"), a=INTEGER, b=STRING),
            {"a": 2},
            ["spec: Invalid value: m"],
            id="a message that cannot be made",
        ),
        pytest.param(
            spec(rule("self.a < 2", message="m", messageExpression="self.b"), a=INTEGER, b=STRING),
            {"a": 2, "b": "x" * 5121},
            ["spec: Invalid value: m"],
            id="a message that is too long",
        ),
        pytest.param(
            spec(rule("self.a < 2", reason="FieldValueForbidden", fieldPath=".a"), a=INTEGER),
            {"a": 2},
            ["spec.a: Forbidden: failed rule: self.a < 2"],
            id="a reason, and a field",
        ),
        pytest.param(
            spec(a=INTEGER | {RULES: [rule("self < 2", reason="FieldValueDuplicate")]}),
            {"a": 2},
            ["spec.a: Duplicate value: 2"],
            id="a duplicate",
        ),
        pytest.param(
            spec(l={"type": "array", "items": INTEGER | {RULES: [rule("self < 2")]}}),
            {"l": [1, 5]},
            ["spec.l[1]: Invalid value: 5: failed rule: self < 2"],
            id="items",
        ),
        pytest.param(
            spec(m={"type": "object", "additionalProperties": INTEGER | {RULES: [rule("self < 2")]}}),
            {"m": {"a.b": 5}},
            ["spec.m[a.b]: Invalid value: 5: failed rule: self < 2"],
            id="values of a map",
        ),
        pytest.param(
            spec(a=INTEGER | {"nullable": True, RULES: [rule("self < 2")]}), {"a": None}, [], id="null is not asked"
        ),
        pytest.param(
            spec(rule("has(self.a)"), a=STRING | {"nullable": True}),
            {"a": None},
            ["spec: Invalid value: failed rule: has(self.a)"],
            id="null is not there",
        ),
        pytest.param(
            spec(rule("self.i < 5"), i={"x-kubernetes-int-or-string": True}),
            {"i": "x"},
            [
                "spec: Invalid value: \"object\": 'no such overload': call arguments did not match a supported"
                " operator, function or macro signature for rule: self.i < 5"
            ],
            id="a type that is found out late",
        ),
    ],
)
def test_what_rules_say(schema: Json, value: Any, wanted: list[str]) -> None:
    assert told(schema, value) == wanted


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (spec(rule("type(self.n) == double && self.n == 1.0"), n={"type": "number"}), {"n": 1}),
        (spec(rule("self.d == duration('72h')"), d=STRING | {"format": "duration"}), {"d": "3 days"}),
        (
            spec(rule("self.t.getFullYear() == 2021"), t=STRING | {"format": "date-time"}),
            {"t": "2021-05-05T00:00:00+01:00"},
        ),
        (spec(rule("self.d.getMonth() == 4"), d=STRING | {"format": "date"}), {"d": "2021-05-05"}),
        (spec(rule("self.b == b'abc'"), b=STRING | {"format": "byte"}), {"b": "YWJj"}),
        (spec(rule("self.a__dash__b == 'x'"), **{"a-b": STRING}), {"a-b": "x"}),
        (spec(rule("self.namespace == self.__namespace__"), namespace=STRING), {"namespace": "x"}),
        (spec(rule("self.m.all(k, self.m[k] > 0.5)"), m={"type": "object", "additionalProperties": {"type": "number"}}),
         {"m": {"a": 1}}),
    ],
)  # fmt: skip
def test_values_are_seen_as_their_schema_says(schema: Json, value: Any) -> None:
    assert told(schema, value) == []


def test_the_root_knows_its_name_and_kind() -> None:
    schema = {"type": "object", RULES: [rule("self.metadata.name == 'n'"), rule("self.kind == 'K'", message="kind")]}
    found = Structure(schema).judge({"kind": "L", "metadata": {"name": "n"}}, None, [])
    assert list(map(str, found)) == ["<nil>: Invalid value: kind"]


def test_an_embedded_resource_knows_its_name_too() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, RULES: [rule("self.metadata.name == 'x'")]}
    assert told(spec(e=embedded), {"e": {"kind": "Pod", "metadata": {"name": "x"}}}) == []
    assert told(spec(e=embedded), {"e": {"kind": "Pod", "metadata": {"name": "y"}}}) != []


GROWS = rule("self >= oldSelf", message="shrank")
PERHAPS = rule("self >= oldSelf.orValue(5)", message="shrank", optionalOldSelf=True)
ITEM = {"type": "object", "required": ["k"], "properties": {"k": STRING, "v": INTEGER | {RULES: [GROWS]}}}
KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": ITEM}


@pytest.mark.parametrize(
    ("schema", "old", "new", "wanted"),
    [
        pytest.param(spec(a=INTEGER | {RULES: [GROWS]}), None, {"a": 1}, [], id="nothing before"),
        pytest.param(spec(a=INTEGER | {RULES: [GROWS]}), {}, {"a": 1}, [], id="no such field before"),
        pytest.param(
            spec(a=INTEGER | {RULES: [GROWS]}), {"a": 2}, {"a": 1}, ["spec.a: Invalid value: 1: shrank"], id="changed"
        ),
        pytest.param(
            spec(a=INTEGER | {RULES: [PERHAPS]}), None, {"a": 1}, ["spec.a: Invalid value: 1: shrank"], id="optional"
        ),
        pytest.param(spec(a=INTEGER | {RULES: [PERHAPS]}), {"a": 1}, {"a": 1}, [], id="optional, and there"),
        pytest.param(
            spec(l=KEYED),
            {"l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}]},
            {"l": [{"k": "b", "v": 1}, {"k": "a", "v": 1}, {"k": "c", "v": 0}]},
            ["spec.l[0].v: Invalid value: 1: shrank"],
            id="items are told by their keys",
        ),
        pytest.param(
            spec(rule("self.s == oldSelf.s"), s={"type": "array", "items": STRING, "x-kubernetes-list-type": "set"}),
            {"s": ["a", "b"]},
            {"s": ["b", "a"]},
            [],
            id="sets have no order",
        ),
        pytest.param(
            spec(
                a={"type": "object", "properties": {"b": STRING | {"nullable": True}}, RULES: [rule("self == oldSelf")]}
            ),
            {"a": {"b": None}},
            {"a": {}},
            ["spec.a: Invalid value: failed rule: self == oldSelf"],
            id="null and nothing are not the same",
        ),
    ],
)
def test_transitions(schema: Json, old: Any, new: Any, wanted: list[str]) -> None:
    assert told(schema, new, old) == wanted


SMALL = rule("self < 2", message="small")


@pytest.mark.parametrize(
    ("schema", "old", "new", "wanted"),
    [
        pytest.param(
            spec(a=INTEGER | {RULES: [SMALL]}, b=STRING),
            {"a": 5, "b": "x"},
            {"a": 5, "b": "y"},
            ["tolerated spec.a: Invalid value: 5: small"],
            id="unchanged",
        ),
        pytest.param(
            spec(a=INTEGER | {RULES: [SMALL]}), {"a": 5}, {"a": 6}, ["spec.a: Invalid value: 6: small"], id="changed"
        ),
        pytest.param(
            spec(rule("self.a < 2", message="small"), a=INTEGER, b=STRING),
            {"a": 5, "b": "x"},
            {"a": 5, "b": "y"},
            ["spec: Invalid value: small"],
            id="something else below the same rule changed",
        ),
        pytest.param(
            spec(rule("self.a < 2"), a=INTEGER),
            {},
            {},
            ['spec: Invalid value: "object": no such key: a evaluating rule: self.a < 2'],
            id="no answer is never tolerated",
        ),
        pytest.param(
            spec(l={"type": "array", "items": INTEGER | {RULES: [SMALL]}}),
            {"l": [5]},
            {"l": [5]},
            ["tolerated spec.l[0]: Invalid value: 5: small"],
            id="an item of a list that is unchanged",
        ),
        pytest.param(
            spec(l={"type": "array", "items": INTEGER | {RULES: [SMALL]}}),
            {"l": [5]},
            {"l": [5, 1]},
            ["spec.l[0]: Invalid value: 5: small"],
            id="an item of a list that changed",
        ),
        pytest.param(
            spec(a=INTEGER | {RULES: [rule("self > oldSelf", message="grow")]}),
            {"a": 5},
            {"a": 5},
            ["spec.a: Invalid value: 5: grow"],
            id="rules about changes",
        ),
    ],
)
def test_what_did_not_change_is_tolerated(schema: Json, old: Any, new: Any, wanted: list[str]) -> None:
    assert told(schema, new, old) == wanted


def test_rules_are_not_asked_about_objects_of_the_wrong_shape() -> None:
    structure = Structure(spec(rule("false"), a=INTEGER))
    found = structure.judge({"spec": {}}, None, [required("spec.a")])
    assert [str(each) for each in found] == [
        "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid;"
        " correct the existing errors to complete validation"
    ]


def test_one_call_may_cost_so_much() -> None:
    schema = spec(rule("self.l.all(x, self.l.all(y, x + y < 9999999))"), l={"type": "array", "items": INTEGER})
    why = "no further validation rules will be run due to call cost exceeds limit for rule"
    assert told(schema, {"l": [*range(1200)]}) == [
        f"spec: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': {why}:"
        " self.l.all(x, self.l.all(y, x + y < 9999999))"
    ]


def test_all_calls_together_may_cost_so_much() -> None:
    inner = {"type": "array", "items": INTEGER, RULES: [rule("self.all(x, self.all(y, x + y < 9999999))")]}
    schema = spec(l={"type": "array", "items": inner})
    found = told(schema, {"l": [[*range(350)]] * 20})
    why = "validation failed due to running out of cost budget, no further validation rules will be run"
    assert len(found) == 1
    assert found[0].endswith(f'Invalid value: "array": {why}')


def test_who_has_no_rules_needs_no_engine() -> None:
    import subprocess
    import sys

    script = (
        "import sys; from hardpoint.machinery.structural import Structure;"
        "Structure({'type': 'object'}).judge({}, None, []);"
        "sys.exit('hardpoint.machinery.cel' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_null_that_no_function_takes_is_a_failure_like_any_other() -> None:
    items = {"type": "array", "items": STRING | {"nullable": True}}
    assert told(spec(rule("self.l.exists(x, x.size() > 1) || true"), l=items), {"l": [None]}) == []
    assert told(spec(rule("self.l.exists(x, x.size() > 1)"), l=items), {"l": [None, "abc"]}) == []
    assert "no such overload" in told(spec(rule("self.l.exists(x, x.size() > 1)"), l=items), {"l": [None]})[0]


def test_who_has_no_patience_is_told_that_it_takes_a_while() -> None:
    structure = Structure(
        spec(rule("self.l.all(x, self.l.all(y, x + y < 999))"), l={"type": "array", "items": INTEGER})
    )
    assert structure.judge({"spec": {"l": [1] * 50}}, None, []) == []
    with pytest.raises(Costly):
        structure.judge({"spec": {"l": [1] * 300}}, None, [])
    assert structure.judge({"spec": {"l": [1] * 300}}, None, [], is_patient=True) == []
