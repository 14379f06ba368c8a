"""Values against schemas: what fits, what does not, and what is said about it. The words are kube-apiserver's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.structural import Structure, checked, explained
from hardpoint.machinery.structural.formats import FORMATS, find

Json = dict[str, Any]

STRING: Json = {"type": "string"}
INTEGER: Json = {"type": "integer"}
EITHER: Json = {"type": "object", "properties": {"a": STRING, "b": INTEGER}}


def told(schema: Json, value: Any) -> list[str]:
    whole = {"type": "object", "properties": {"f": schema}}
    return [str(each) for each in explained.problems("", {"f": value}, whole)]


WRONG: list[tuple[Json, Any, list[str]]] = [
    (STRING, 5, ['f: Invalid value: "integer": f in body must be of type string: "integer"']),
    (
        INTEGER,
        5.5,
        [
            'f: Invalid value: "number": f in body must be of type integer: "number"',
            '<nil>: Invalid value: "": Checked value must be of type integer (default format) in f',
        ],
    ),
    (
        INTEGER | {"format": "int32"},
        2**31,
        ['<nil>: Invalid value: "": Checked value must be of type integer with format int32 in f'],
    ),
    (STRING | {"enum": ["a", "b"]}, "c", ['f: Unsupported value: "c": supported values: "a", "b"']),
    (STRING | {"enum": ["a"], "nullable": True}, None, ['f: Unsupported value: null: supported values: "a"']),
    (STRING | {"maxLength": 1}, "ab", ["f: Too long: may not be more than 1 byte"]),
    (STRING | {"minLength": 3}, "ab", ['f: Invalid value: "ab": f in body should be at least 3 chars long']),
    (STRING | {"pattern": "^a+$"}, "b", ["f: Invalid value: \"b\": f in body should match '^a+$'"]),
    (STRING | {"format": "date"}, "x", ['f: Invalid value: "x": f in body must be of type date: "x"']),
    (STRING | {"format": "date"}, 5, ['f: Invalid value: "int64": f in body must be of type date: "int64"']),
    (INTEGER | {"minimum": 2}, 1, ["f: Invalid value: 1: f in body should be greater than or equal to 2"]),
    (
        INTEGER | {"maximum": 2, "exclusiveMaximum": True},
        2,
        ["f: Invalid value: 2: f in body should be less than 2"],
    ),
    (
        {"type": "number", "maximum": 1000000},
        2000000.5,
        ["f: Invalid value: 2.0000005e+06: f in body should be less than or equal to 1e+06"],
    ),
    (INTEGER | {"multipleOf": 3}, 10, ["f: Invalid value: 10: f in body should be a multiple of 3"]),
    (
        {"type": "array", "items": STRING},
        [1],
        ['f[0]: Invalid value: "integer": f[0] in body must be of type string: "integer"'],
    ),
    ({"type": "array", "minItems": 1}, [], ["f: Invalid value: 0: f in body should have at least 1 items"]),
    ({"type": "array", "maxItems": 1}, [1, 2], ["f: Too many: 2: must have at most 1 item"]),
    ({"type": "object", "minProperties": 1}, {}, ["f: Invalid value: 0: f in body should have at least 1 properties"]),
    ({"type": "object", "maxProperties": 0}, {"a": 1}, ["f: Too many: 1: must have at most 0 items"]),
    ({"type": "object", "required": ["a"]}, {}, ["f.a: Required value"]),
    (
        {"type": "object", "additionalProperties": INTEGER},
        {"a": "x"},
        ['f.a: Invalid value: "string": f.a in body must be of type integer: "string"'],
    ),
    (
        {"x-kubernetes-int-or-string": True},
        True,
        ['f: Invalid value: "boolean": f in body must be of type integer,string: "boolean"'],
    ),
    (
        EITHER | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"a": "x", "b": 1},
        ['<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ),
    (
        EITHER | {"oneOf": [{"required": ["a"]}, {"required": ["b"], "properties": {"b": {"minimum": 5}}}]},
        {"b": 1},
        [
            '<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found none valid',
            "f.b: Invalid value: 1: f.b in body should be greater than or equal to 5",
        ],
    ),
    (
        STRING | {"anyOf": [{"maxLength": 1}, {"pattern": "^b"}]},
        "cc",
        [
            '<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)',
            "f: Too long: may not be more than 1 byte",
        ],
    ),
    (
        STRING | {"allOf": [{"minLength": 1}, {"pattern": "^b"}]},
        "cc",
        [
            "f: Invalid value: \"cc\": f in body should match '^b'",
            '<nil>: Invalid value: "": "f" must validate all the schemas (allOf)',
        ],
    ),
    (STRING | {"not": {"enum": ["a"]}}, "a", ['<nil>: Invalid value: "": "f" must not validate the schema (not)']),
]


@pytest.mark.parametrize(("schema", "value", "problems"), WRONG, ids=[f"{row[0]} {row[1]}"[:60] for row in WRONG])
def test_what_does_not_fit_is_explained(schema: Json, value: Any, problems: list[str]) -> None:
    assert told(schema, value) == problems
    assert not checked.check(schema)(value)


FORMATTED = {
    "date": (["2020-02-29"], ["2020-02-30", "20200101", "x"]),
    "date-time": (["2020-01-01T00:00:00Z", "2020-01-01t00:00:00.5+02:00"], ["2020-01-01T24:00:00Z", "2020-01-01"]),
    "email": (["a@b.c", "Foo <a@b.c>"], ["x", "a b@c", "@"]),
    "hostname": (["a", "a-b", "a.b.com", "ä.com"], ["my-host", "a_b", "-a", "a.b1"]),
    "ipv4": (["1.2.3.4", "01.2.3.4"], ["::1", "1.2.3"]),
    "ipv6": (["::1"], ["1.2.3.4", "x"]),
    "cidr": (["10.0.0.1/8", "::/0"], ["10.0.0.0", "x"]),
    "mac": (["00:11:22:33:44:55", "0011.2233.4455", "001122334455"], ["00:11", "x"]),
    "uri": (["http://a.b/c", "/x", "a:b"], ["x", "http://a b", "/%zz"]),
    "uuid4": (["01234567-89ab-4def-8123-456789abcdef"], ["01234567-89ab-cdef-0123-456789abcdef"]),
    "byte": (["YWJj", "YQ=="], ["", "x"]),
    "duration": (["1h30m", "22 ns", "3 weeks"], ["x", "1x"]),
    "isbn": (["0321751043", "978-0321751041"], ["x", "0321751044"]),
    "creditcard": (["4111-1111-1111-1111"], ["4111111111111112"]),
    "ssn": (["111-22-3333"], ["111223333"]),
    "hexcolor": (["#FFF", "ffffff"], ["#ffff"]),
    "rgbcolor": (["rgb(1, 2,3)"], ["rgb(256,0,0)"]),
    "bsonobjectid": (["507f1f77bcf86cd799439011"], ["x"]),
    "k8s-short-name": (["abc"], ["a.b", "A"]),
    "k8s-long-name": (["a.b"], ["A", "a..b"]),
}


@pytest.mark.parametrize("name", FORMATTED)
def test_formats_are_as_strict_as_upstream(name: str) -> None:
    has_format = find(name)
    assert has_format is not None
    good, bad = FORMATTED[name]
    assert [text for text in good if not has_format(text)] == []
    assert [text for text in bad if has_format(text)] == []


@given(st.sampled_from(sorted(FORMATS)), st.text(max_size=40))
def test_no_text_upsets_a_format(name: str, text: str) -> None:
    assert FORMATS[name](text) in (True, False)


numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.sampled_from(["", "a", "bb", "2020-01-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=10,
)


def schemas(depth: int = 2) -> st.SearchStrategy[Json]:
    """Structural schemas of every sort, small enough that values often fit."""
    inner = schemas(depth - 1) if depth else st.just(STRING)
    plain = st.sampled_from([
        STRING, INTEGER, {"type": "boolean"}, {"type": "number"}, {"x-kubernetes-int-or-string": True},
        {"x-kubernetes-preserve-unknown-fields": True}, {"type": "string", "format": "date"},
        {"type": "string", "enum": ["a", "bb"]}, {"type": "string", "minLength": 1, "maxLength": 1},
        {"type": "string", "pattern": "^a"}, {"type": "integer", "minimum": -3, "maximum": 7, "multipleOf": 2},
        {"type": "integer", "format": "int32"}, {"type": "number", "format": "float"},
        {"type": "string", "default": "a"}, {"type": "integer", "default": 1, "nullable": True},
    ])  # fmt: skip
    lists = inner.map(lambda items: {"type": "array", "items": items, "maxItems": 2})
    sets = st.just({"type": "array", "items": STRING, "x-kubernetes-list-type": "set"})
    maps = inner.map(lambda each: {"type": "object", "additionalProperties": each, "minProperties": 1})
    objects = st.builds(
        lambda properties, keeps: {
            "type": "object",
            "properties": properties,
            "required": list(properties)[:1],
            **({"x-kubernetes-preserve-unknown-fields": True} if keeps else {}),
        },
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        st.booleans(),
    )
    logic = st.sampled_from([
        EITHER | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        EITHER | {"anyOf": [{"required": ["a"]}, {"properties": {"b": {"minimum": 3}}}], "not": {"required": ["c"]}},
        STRING | {"allOf": [{"minLength": 1}, {"pattern": "^a"}]},
    ])  # fmt: skip
    return plain | lists | sets | maps | objects | logic


@given(schemas(), values)
def test_the_quick_check_and_the_slow_walk_agree(schema: Json, value: Any) -> None:
    assert checked.check(schema)(value) is (not explained.problems("", value, schema))


def structure(schema: Json) -> Structure:
    return Structure({"type": "object", "properties": {"spec": schema}})


def body(value: Any) -> Json:
    return {"apiVersion": "a/v1", "kind": "A", "metadata": {"name": "a"}, "spec": value}


@given(schemas(), values)
def test_decoding_and_completing_twice_changes_nothing(schema: Json, value: Any) -> None:
    shape = structure(schema)
    once = shape.decode(body(value)).object
    shape.complete(once)
    twice = shape.decode(once)
    shape.complete(twice.object)
    assert (twice.object, twice.unknown) == (once, [])


@given(schemas(), values)
def test_decoding_tells_of_every_field_it_drops_and_leaves_the_body_alone(schema: Json, value: Any) -> None:
    shape, given_body = structure(schema), body(value)
    before = repr(given_body)
    decoded = shape.decode(given_body)
    shape.complete(decoded.object)
    assert repr(given_body) == before
    assert bool(decoded.unknown) is bool(shape.strict_errors(given_body))


@given(schemas(), values)
def test_what_did_not_change_may_stay_wrong(schema: Json, value: Any) -> None:
    shape = structure(schema)
    old = shape.decode(body(value)).object
    changed = old | {"metadata": {"name": "a", "labels": {"a": "b"}}}
    assert shape.rules["validation", "UPDATE"](changed, old) == []
