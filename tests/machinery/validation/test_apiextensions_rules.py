"""Rules in CEL when a definition is written: how they are worded, whether they compile, and what they may cost."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.machinery.validation.test_apiextensions import DEFINITION, SCHEMA, SPEC, TOLD_SPEC
from tests.machinery.walk import Json, changed, complaints, replaced

RULES = "x-kubernetes-validations"
STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
HELP = "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings"


def rule(expression: str, **more: Any) -> Json:
    return {"rule": expression, **more}


def with_rules(*rules: Json, **properties: Json) -> Json:
    """The definition with a spec that has these fields and rules."""
    return changed(DEFINITION, SPEC, {"type": "object", "properties": properties, RULES: [*rules]})


def told(definition: Json) -> list[str]:
    """What is told, without the made-up number in a type's name."""
    return [re.sub(r"selfType\d+", "selfType", each) for each in complaints(definition)]


def over(what: str, factor: str) -> str:
    return f"{what} exceeds budget by factor of {factor} ({HELP} are declared)"


@pytest.mark.parametrize(
    ("said", "where", "wanted"),
    [
        (rule(" "), "rule", "Required value: rule is not specified"),
        (rule("true", message=" "), "message", 'Invalid value: " ": must be non-empty if specified'),
        (rule("true", message="a\nb"), "message", 'Invalid value: "a\\nb": must not contain line breaks'),
        (rule("true\n"), "", ""),
        (rule("1 < 2\n&& true"), "message", "Required value: message must be specified if rule contains line breaks"),
        (rule("1 < 2\n&& true", message="m"), "", ""),
        (
            rule("true", messageExpression=" "),
            "messageExpression",
            "Required value: messageExpression must be non-empty if specified",
        ),
        (
            rule("true", reason="Why"),
            "reason",
            'Unsupported value: "Why": supported values: "FieldValueDuplicate", "FieldValueForbidden",'
            ' "FieldValueInvalid", "FieldValueRequired"',
        ),
        (rule("true", fieldPath=".zz"), "fieldPath", 'Invalid value: ".zz": must be a valid path'),
        (rule("true", fieldPath=".a"), "", ""),
        (
            rule("true", optionalOldSelf=False),
            "optionalOldSelf",
            "Invalid value: false: may not be set if oldSelf is not used in rule",
        ),
    ],
)
def test_wording(said: Json, where: str, wanted: str) -> None:
    found = told(with_rules(said, a=INTEGER))
    assert found == ([f"{TOLD_SPEC}.{RULES}[0].{where}: {wanted}"] if wanted else [])


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (rule("self.zz"), "compilation failed: ERROR: <input>:1:5: undefined field 'zz'\n | self.zz\n | ....^"),
        (rule("self.a"), "cel expression must evaluate to a bool"),
        (
            rule("self == 1"),
            "compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to"
            " '(selfType, int)'\n | self == 1\n | .....^",
        ),
        (
            rule("oldSelf.hasValue()"),
            "compilation failed: ERROR: <input>:1:17: found no matching overload for 'hasValue' applied to"
            " 'selfType.()'\n | oldSelf.hasValue()\n | ................^",
        ),
    ],
)
def test_expressions_that_do_not_compile(said: Json, wanted: str) -> None:
    found = told(with_rules(said, a=INTEGER))
    assert len(found) == 1
    assert found[0].startswith(f'{TOLD_SPEC}.{RULES}[0].rule: Invalid value: {{"Rule":"{said["rule"]}"')
    assert found[0].endswith(f": {wanted}")


def test_messages_are_compiled_too() -> None:
    found = told(with_rules(rule("true", messageExpression="1"), rule("true", messageExpression="self.zz")))
    assert [each.rpartition("}: ")[2].partition(":")[0] for each in found] == [
        "messageExpression must evaluate to a string",
        "messageExpression compilation failed",
    ]


def test_nothing_is_compiled_where_the_schema_is_wrong() -> None:
    """What an expression means is unknown until the schema is right."""
    found = told(with_rules(rule("self.zz"), a={"type": "array", "items": STRING, "uniqueItems": True}))
    assert [each.partition(":")[0] for each in found] == [f"{TOLD_SPEC}.properties[a].uniqueItems"]


@pytest.mark.parametrize("kind", [{}, {"x-kubernetes-list-type": "set"}, {"x-kubernetes-list-type": "atomic"}])
def test_nobody_knows_what_an_item_of_a_plain_list_was(kind: Json) -> None:
    items = INTEGER | {RULES: [rule("self >= oldSelf")]}
    found = told(with_rules(l={"type": "array", "maxItems": 5, "items": items} | kind))
    assert found == [
        f'{TOLD_SPEC}.properties[l].items.{RULES}[0].rule: Invalid value: "self >= oldSelf": oldSelf cannot be used'
        f" on the uncorrelatable portion of the schema within {TOLD_SPEC}.properties[l]"
    ]


def test_what_an_item_of_a_list_map_was_is_known() -> None:
    items = {"type": "object", "required": ["k"], "properties": {"k": STRING}, RULES: [rule("self == oldSelf")]}
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "maxItems": 5}
    assert told(with_rules(l={"type": "array", "items": items} | keyed)) == []


@pytest.mark.parametrize(
    ("properties", "where", "factor"),
    [
        pytest.param(
            {"l": {"type": "array", "items": STRING | {RULES: [rule("self.matches('a.*b')")]}}},
            "properties[l].items",
            "more than 100x",
            id="texts and lists without limits",
        ),
        pytest.param(
            {
                "m": {
                    "type": "object",
                    "additionalProperties": {"type": "string", "maxLength": 5000, RULES: [rule("self == 'a'")]},
                }
            },
            "",
            "",
            id="cheap enough",
        ),
        pytest.param(
            {"l": {"type": "array", "maxItems": 10, "items": STRING | {RULES: [rule("self.contains('xyzxyz')")]}}},
            "",
            "",
            id="few are cheap",
        ),
    ],
)
def test_costs(properties: Json, where: str, factor: str) -> None:
    found = told(with_rules(**properties))
    if not factor:
        assert found == []
    else:
        path = f"{TOLD_SPEC}.{where}.{RULES}[0].rule"
        assert found[0] == f"{path}: Forbidden: {over('estimated rule cost', factor)}"


def test_a_factor_near_one_is_told_in_full() -> None:
    inner = {"type": "array", "maxItems": 60000, "items": INTEGER, RULES: [rule("self.map(x, x + 1).all(y, y > 0)")]}
    found = told(with_rules(l={"type": "array", "maxItems": 9, "items": inner}))
    path = f"{TOLD_SPEC}.properties[l].items.{RULES}[0].rule"
    assert found == [f"{path}: Forbidden: {over('estimated rule cost', '1.026012x')}"]


def test_all_rules_together_have_a_limit_too() -> None:
    items = {"type": "string", "maxLength": 12000, RULES: [rule("self.contains('abcdefgh')")]}
    fields = {f"a{number}": {"type": "array", "maxItems": 1000, "items": items} for number in range(30)}
    found = told(with_rules(**fields))
    why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
    assert [each.partition(": ")[2] for each in found[:-1]] == [f"Forbidden: {why}"] * 4
    what = f"{RULES} estimated rule cost total for entire OpenAPIv3 schema"
    assert found[-1].startswith(f"spec.validation.openAPIV3Schema: Forbidden: {what} exceeds budget by factor of")


def test_what_was_stored_may_stay_expensive() -> None:
    dear = with_rules(l={"type": "array", "items": STRING | {RULES: [rule("self.contains('a')")]}})
    path = f"{TOLD_SPEC}.properties[l].items.{RULES}[0].rule: Forbidden: estimated rule cost"
    assert [each for each in replaced(dear, dear)[1] if each.startswith(path)] == []
    other = changed(dear, f"{SCHEMA}.description", "changed")
    assert [each for each in replaced(other, dear)[1] if each.startswith(path)] != []


@pytest.mark.parametrize(
    ("field", "wanted"),
    [
        (INTEGER | {"default": 1, RULES: [rule("self > 1", message="big")]}, "Invalid value: 1: big"),
        (INTEGER | {"default": 2, RULES: [rule("self > 1", message="big")]}, ""),
        (
            INTEGER | {"default": 1, RULES: [rule("oldSelf.hasValue()", message="old", optionalOldSelf=True)]},
            "Invalid value: 1: old",
        ),
        (
            {"type": "object", "properties": {"b": INTEGER}, "default": {"b": 1}, RULES: [rule("self.b > 1")]},
            "Invalid value: failed rule: self.b > 1",
        ),
    ],
)
def test_defaults_keep_to_the_rules(field: Json, wanted: str) -> None:
    found = told(with_rules(f=field))
    assert found == ([f"{TOLD_SPEC}.properties[f].default: {wanted}"] if wanted else [])


def test_rules_need_a_type() -> None:
    found = told(with_rules(p={"x-kubernetes-preserve-unknown-fields": True, RULES: [rule("true")]}))
    assert found == [
        f"{TOLD_SPEC}.properties[p].{RULES}: Internal error: internal error: failed to construct type information for"
        f" {RULES} rules: unable to convert structural schema to CEL declarations"
    ]
