from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery.quantity import (
    FORMAT_WRONG,
    INT64_MAX,
    NUMBER_WRONG,
    SUFFIX_WRONG,
    ZERO,
    BadQuantity,
    Quantity,
    canonical,
    parse,
)

SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}


def amount(quantity: Quantity) -> Fraction:
    return Fraction(quantity.digits) * Fraction(10) ** quantity.exponent


texts = st.builds(
    lambda sign, number, fraction, suffix: f"{sign}{number}{fraction}{suffix}",
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 10**20).map(str),
    st.one_of(st.just(""), st.integers(0, 10**12).map(lambda digits: f".{digits}")),
    st.sampled_from([*SUFFIXES, *BINARY, "e3", "E-3", "e7", "e-12"]),
)
quantities = texts.map(parse)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("0", "0"),
        ("1", "1"),
        ("100m", "100m"),
        ("64Mi", "64Mi"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        ("0.5", "500m"),
        ("0.0", "0"),
        ("1000", "1k"),
        ("1024Ki", "1Mi"),
        ("1023Ki", "1023Ki"),
        ("1024", "1024"),
        ("1000Ki", "1000Ki"),
        ("0.5Gi", "512Mi"),
        ("1.1Mi", "1153433600m"),
        ("0.1Ki", "102400m"),
        ("0.0001Ki", "102400u"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("10e2", "1e3"),
        ("12e6", "12e6"),
        ("1e-1", "100e-3"),
        ("1e-10", "1e-9"),
        ("0.0000000001", "1n"),
        ("-0.0000000001", "-1n"),
        ("5n", "5n"),
        ("8Ei", "9223372036854775807"),
        ("-8Ei", "-9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("100000E", "100e21"),
        pytest.param("1.500", "1.500", id="looks canonical and is kept"),
        pytest.param("+1", "+1", id="a plus is kept"),
        pytest.param("007", "007", id="leading zeros are kept"),
        pytest.param(" 1 ", "1", id="outer white space is dropped"),
        pytest.param("m", "0", id="no digits at all"),
        pytest.param(2, "2", id="a JSON integer"),
        pytest.param(0.25, "250m", id="a JSON number"),
        pytest.param(1e24, "1e24", id="a large JSON number"),
    ],
)
def test_canonical(written: str | int | float, told: str) -> None:
    assert canonical(written) == told


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", FORMAT_WRONG),
        ("1 Mi", FORMAT_WRONG),
        ("aoeu", FORMAT_WRONG),
        ("1.1.1", FORMAT_WRONG),
        ("--1", SUFFIX_WRONG),
        ("1mi", SUFFIX_WRONG),
        ("1i", SUFFIX_WRONG),
        ("1e", SUFFIX_WRONG),
        ("1e9999999999999999999", SUFFIX_WRONG),
        ("1Kii", SUFFIX_WRONG),
        ("Pi", NUMBER_WRONG),
        ("e-20", NUMBER_WRONG),
        ("9" * 5000, NUMBER_WRONG),
        (True, FORMAT_WRONG),
        (None, FORMAT_WRONG),
        ({}, FORMAT_WRONG),
    ],
)
def test_what_is_no_quantity_is_refused_in_upstreams_words(written: str, message: str) -> None:
    with pytest.raises(BadQuantity) as refused:
        canonical(written)
    assert str(refused.value) == message


@pytest.mark.parametrize("text", ["1" * 2_000_000 + "!", "1e" + "1" * 2_000_000, "." + "0" * 2_000_000])
def test_long_texts_are_refused_at_once(text: str) -> None:
    with pytest.raises(BadQuantity):
        parse(text)


def test_huge_exponents_cost_nothing() -> None:
    huge = parse("1e2147483647")
    assert huge > parse("9E")
    assert -huge < parse("-9E")
    assert huge.value() == INT64_MAX
    assert (-huge).value() == -INT64_MAX - 1
    assert str(parse("1e2147483646") * 10) == "10e2147483646"
    assert (huge + parse("1")).value() == INT64_MAX
    assert str(parse("1e-2147483646")) == "1e-9"


@given(st.integers(-(10**12), 10**12), st.sampled_from(sorted(SUFFIXES)))
def test_decimal_suffixes_are_powers_of_ten(number: int, suffix: str) -> None:
    assert amount(parse(f"{number}{suffix}")) == number * Fraction(10) ** SUFFIXES[suffix]


@given(st.integers(-1000, 1000), st.sampled_from(["Ki", "Mi", "Gi", "Ti"]))
def test_binary_suffixes_are_powers_of_two(number: int, suffix: str) -> None:
    assert amount(parse(f"{number}{suffix}")) == number * 2 ** BINARY[suffix]


@given(quantities)
def test_the_canonical_text_means_the_same_amount_and_is_stable(quantity: Quantity) -> None:
    again = parse(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)
    assert hash(again) == hash(quantity)


@given(quantities, quantities)
def test_order_and_sums_are_those_of_the_amounts(left: Quantity, right: Quantity) -> None:
    assert (left < right) == (amount(left) < amount(right))
    assert (left <= right) == (amount(left) <= amount(right))
    assert (left == right) == (amount(left) == amount(right))
    assert (left > right) == (right < left)
    assert (left >= right) == (right <= left)
    assert amount(left + right) == amount(left) + amount(right)
    assert amount(left - right) == amount(left) - amount(right)
    assert left + right == right + left
    assert left - left == ZERO


@given(quantities)
def test_whole_units_are_rounded_away_from_zero(quantity: Quantity) -> None:
    exact = amount(quantity) * 1000
    rounded = quantity.milli_value()
    if abs(exact) <= INT64_MAX:
        assert abs(exact) <= abs(rounded) < abs(exact) + 1
        assert rounded * exact >= 0
    else:
        assert rounded in (INT64_MAX, -INT64_MAX - 1)


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("1Gi", "512Mi", "1536Mi"),
        ("0", "1Mi", "1Mi"),
        ("1", "1Mi", "1048577"),
        ("100m", "900m", "1"),
        ("1Ki", "-1", "1023"),
        ("1e3", "1", "1001"),
    ],
)
def test_a_sum_is_written_like_its_first_part(left: str, right: str, total: str) -> None:
    assert str(parse(left) + parse(right)) == total


def test_approximate_float() -> None:
    assert float(parse("1500m")) == 1.5
    assert float(parse("1e999")) == float("inf")


def test_a_quantity_equals_only_quantities() -> None:
    assert parse("1") != "1"
    assert repr(parse("1k")) == "Quantity('1k')"
