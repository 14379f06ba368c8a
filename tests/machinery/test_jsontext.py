from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import jsonexact, jsontext

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(VALUES)
def test_what_is_written_is_read_again(value: Any) -> None:
    for text in (jsontext.encode(value), jsonexact.encode(value), json.dumps(value, indent=1).encode()):
        assert jsontext.parse(text) == (value, [])
        assert jsonexact.parse(text) == (value, [])


@given(VALUES, st.randoms())
def test_a_spoiled_text_is_read_as_others_read_it(value: Any, random: Any) -> None:
    text = bytearray(json.dumps(value, ensure_ascii=True).encode())
    at = random.randrange(len(text))
    text[at : at + random.choice([0, 1])] = random.choice([b"", b"{", b"]", b",", b"1", b'"', b":", b"e", b".", b"-"])
    try:
        expected = orjson.loads(bytes(text))
    except orjson.JSONDecodeError:
        if is_beyond_orjson(bytes(text)):
            return
        for parse in (jsontext.parse, jsonexact.parse):
            with pytest.raises(jsontext.BadJson):
                parse(bytes(text))
    else:
        assert jsontext.parse(bytes(text)).value == expected
        assert jsonexact.parse(bytes(text)).value == expected


def is_beyond_orjson(text: bytes) -> bool:
    """Lone surrogates and numbers that are too large for a float: we read them, orjson does not."""
    try:
        json.loads(text, parse_constant=lambda constant: pytest.fail(constant))
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (b'{"a":1,"a":2}', ["a"]),
        (b'{"a":1,"a":2,"a":3}', ["a"]),
        (b'{"spec":{"containers":[{},{"name":"x","name":"y"}]}}', ["spec.containers[1].name"]),
        (b'[[{"a":0},{"a":0,"a":0}]]', ["[0][1].a"]),
        (b'{"a" : 1, "a" : 2}', ["a"]),
        (b'{"a": 1,\n "a"\n: 2}', ["a"]),
        (b'{"a":{"b":1,"b":2},"a":{}}', ["a.b", "a"]),
        (b'{"a":"\\u0022:","a":1}', ["a"]),
        (b'{"a":"\\"\\u003a","a":1}', ["a"]),
        (b'{"a":"x\\":y","b":"\\u003c"}', []),
        (b'{"a":{"b":1},"c":{"b":1}}\n', []),
    ],
)
def test_duplicates_have_a_path(text: bytes, paths: list[str]) -> None:
    assert jsontext.parse(text).duplicates == paths


def test_the_last_duplicate_counts() -> None:
    assert jsontext.parse(b'{"a":1,"b":2,"a":3}').value == {"a": 3, "b": 2}


def test_no_more_than_a_hundred_duplicates_are_kept() -> None:
    pairs = ",".join(f'"{number}":0,"{number}":0' for number in range(200))
    assert len(jsontext.parse(f"{{{pairs}}}".encode()).duplicates) == 100


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "unexpected end of JSON input"),
        (b" ", "unexpected end of JSON input"),
        (b'{"a"', "unexpected end of JSON input"),
        (b'{"a":', "unexpected end of JSON input"),
        (b'"abc', "unexpected end of JSON input"),
        (b"[1", "unexpected end of JSON input"),
        (b"tru", "unexpected end of JSON input"),
        (b"-", "unexpected end of JSON input"),
        (b"NaN", "invalid character 'N' looking for beginning of value"),
        (b"-Infinity", "invalid character 'I' in numeric literal"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b'{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        (b"{,}", "invalid character ',' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a":1 "b":2}', "invalid character '\"' after object key:value pair"),
        (b'{"a":1]', "invalid character ']' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[[]2]", "invalid character '2' after array element"),
        (b"{}x", "invalid character 'x' after top-level value"),
        (b"1 2", "invalid character '2' after top-level value"),
        (b"01", "invalid character '1' after top-level value"),
        (b"trux", "invalid character 'x' in literal true (expecting 'e')"),
        (b"nil", "invalid character 'i' in literal null (expecting 'u')"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1e+x", "invalid character 'x' in exponent of numeric literal"),
        (b'"\x01"', "invalid character '\\x01' in string literal"),
        (b'"\n"', "invalid character '\\n' in string literal"),
        (b'"\\q"', "invalid character 'q' in string escape code"),
        (b'"\\u12x"', "invalid character 'x' in \\u hexadecimal character escape"),
        (b"'a'", "invalid character '\\'' looking for beginning of value"),
        (b"\xff", "invalid character 'ÿ' looking for beginning of value"),
        (b"[" * 10_001, "exceeded max depth"),
        (b"[" * 2_900_000, "exceeded max depth"),
        (b'{"a":' * 10_001, "exceeded max depth"),
    ],
)
def test_a_bad_text_is_refused_in_go_s_words(text: bytes, reason: str) -> None:
    with pytest.raises(jsontext.BadJson) as refused:
        jsontext.parse(text)
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"\xff"', "\ufffd"),
        (b'"a\xe2\x82z"', "a\ufffd\ufffdz"),
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        (b'"\\ud800"', "\ufffd"),
        (b'"\\udd1e\\ud834"', "\ufffd\ufffd"),
        (b'"\\ud834\\udd1e"', "\U0001d11e"),
        (b'"\\u0000"', "\0"),
        (b'{"\xff":1}', {"\ufffd": 1}),
        (b"18446744073709551615", 2**64 - 1),
        (b"18446744073709551616", 2.0**64),
    ],
)
def test_what_is_no_unicode_or_no_integer_is_read_like_go_reads_it(text: bytes, value: Any) -> None:
    parsed = jsontext.parse(text)
    assert parsed.value == value
    assert type(parsed.value) is type(value)
    assert orjson.loads(jsontext.encode(parsed.value)) == value


@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 5000])
def test_a_number_beyond_floats_keeps_its_text(number: str) -> None:
    text = f'{{"a":[{number}]}}'.encode()
    value = jsontext.parse(text).value
    assert str(value["a"][0]) == number
    assert jsontext.encode(value) == text
    assert jsonexact.encode(value) == text


@pytest.mark.parametrize("depth", [254, 255, 1024, 1025, 10_000])
def test_ten_thousand_levels_are_read_and_written(depth: int) -> None:
    for text in (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth):
        assert jsontext.encode(jsontext.parse(text).value) == text


def test_what_is_no_json_value_is_not_written() -> None:
    with pytest.raises(TypeError):
        jsontext.encode({"a": object()})
