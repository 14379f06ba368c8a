"""Amounts of resources: `100m`, `64Mi`, `1e3`.

A Quantity is an exact decimal with the notation it was written in. Reading, rounding, arithmetic and the canonical
text follow k8s.io/apimachinery/pkg/api/resource, with two differences on amounts no cluster holds: a text that would
lose its suffix there (`1000E`) keeps its amount here, and sums beyond 10^1000 are no longer told apart.

`canonical` is what a decoder needs: the text that kube-apiserver would send back.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal

from hardpoint.machinery.errors import HardpointError

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

INT64_MAX = 2**63 - 1

FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMBER_WRONG = "unable to parse numeric part of quantity"
SUFFIX_WRONG = "unable to parse quantity's suffix"


class BadQuantity(HardpointError):
    """A text that is no quantity; the message is the one kube-apiserver gives."""


_NANO = -9
_DECIMAL_SUFFIXES = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY_SUFFIXES = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL_EXPONENTS = {suffix: exponent for exponent, suffix in _DECIMAL_SUFFIXES.items()}
_BINARY_EXPONENTS = {suffix: 10 * power for power, suffix in enumerate(_BINARY_SUFFIXES) if suffix}

# Possessive, so that a long run of digits is read once and never given back.
_SPLIT = re.compile(r"([+-]?)0*+([0-9]*+)(?:\.([0-9]*+))?+([eEinumkKMGTP]*+[-+]?[0-9]*+)")
_EXPONENT = re.compile("[-+]?[0-9]+")

# Upstream keeps a text as it was written when it fits an int64 and looks canonical.
_KEPT_DIGITS_MAX = 18
_KEPT_BINARY_DIGITS_MAX = {10: 11, 20: 8, 30: 5, 40: 2, 50: -1, 60: -4}

_DIGITS_MAX = 4000
_SUM_EXPONENT_MAX = 1000
_CACHED_LENGTH_MAX = 32


def canonical(value: str | int | float) -> str:
    """The text kube-apiserver sends back for this JSON string or number. Raises BadQuantity."""
    if type(value) is str and len(value) <= _CACHED_LENGTH_MAX:
        return _canonical(value)
    return str(parse(json_text(value)))


def parse(text: str) -> Quantity:
    """The quantity a text stands for. Raises BadQuantity; white space is not allowed, as in Go's ParseQuantity."""
    return _parse_cached(text) if len(text) <= _CACHED_LENGTH_MAX else _parse(text)


def json_text(value: Any) -> str:
    """The text inside a JSON value, as upstream's decoder sees it: quotes and outer white space gone."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadQuantity(FORMAT_WRONG)
    return repr(value).replace("e+", "e")


class Quantity:
    """`digits` x 10^`exponent`, and the notation to print it in. Immutable; equal when the amounts are."""

    __slots__ = ("_text", "digits", "exponent", "format")

    digits: int
    exponent: int
    format: Format

    def __init__(self, digits: int, exponent: int = 0, format: Format = "DecimalSI", text: str | None = None) -> None:
        self.digits = digits
        self.exponent = exponent
        self.format = format
        self._text = text

    @property
    def sign(self) -> int:
        return (self.digits > 0) - (self.digits < 0)

    def value(self) -> int:
        """The amount as an int64, rounded away from zero and capped."""
        return self.scaled_value(0)

    def milli_value(self) -> int:
        return self.scaled_value(-3)

    def scaled_value(self, exponent: int) -> int:
        """How many 10^`exponent` this is, rounded away from zero and capped to an int64."""
        shift = self.exponent - exponent
        if self.digits == 0:
            return 0
        if shift >= 0:
            return _capped(self.digits * 10 ** min(shift, 19))
        return _capped(_divided_up(self.digits, -shift))

    def __float__(self) -> float:
        """The nearest float; amounts beyond the floats' range are infinite."""
        return float(f"{self.digits}e{self.exponent}")

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1. Costs no more than the digits written, however far apart the exponents are."""
        if self.exponent == other.exponent or self.sign != other.sign:
            return (self.digits > other.digits) - (self.digits < other.digits)
        if self.digits == 0:
            return 0
        mine = _magnitude(self)
        theirs = _magnitude(other)
        if mine != theirs:
            return self.sign if mine > theirs else -self.sign
        low = min(self.exponent, other.exponent)
        left: int = self.digits * 10 ** (self.exponent - low)
        right: int = other.digits * 10 ** (other.exponent - low)
        return (left > right) - (left < right)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __le__(self, other: Quantity) -> bool:
        return self.compare(other) <= 0

    def __gt__(self, other: Quantity) -> bool:
        return self.compare(other) > 0

    def __ge__(self, other: Quantity) -> bool:
        return self.compare(other) >= 0

    def __hash__(self) -> int:
        return hash(_without_zeros(self.digits, self.exponent))

    def __add__(self, other: Quantity) -> Quantity:
        """The sum, in the notation of the first that is not zero."""
        mine, theirs = _summand(self), _summand(other)
        low = min(mine.exponent, theirs.exponent)
        total = mine.digits * 10 ** (mine.exponent - low) + theirs.digits * 10 ** (theirs.exponent - low)
        return Quantity(total, low, self.format if self.digits else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return self + -other

    def __neg__(self) -> Quantity:
        return Quantity(-self.digits, self.exponent, self.format)

    def __mul__(self, times: int) -> Quantity:
        return Quantity(self.digits * times, self.exponent, self.format)

    def __str__(self) -> str:
        if self._text is None:
            self._text = _text(self)
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"


ZERO = Quantity(0)


@lru_cache(maxsize=8192)
def _canonical(text: str) -> str:
    return str(parse(json_text(text)))


def _parse(text: str) -> Quantity:
    split = _SPLIT.fullmatch(text)
    if split is None or not text:
        raise BadQuantity(FORMAT_WRONG)
    sign, number, fraction, suffix = split.groups("")
    written = (number or "0") + fraction
    if len(written) > _DIGITS_MAX:
        raise BadQuantity(NUMBER_WRONG)
    digits = -int(written) if sign == "-" else int(written)
    if suffix in _BINARY_EXPONENTS:
        quantity = _binary(text, digits, len(written), len(fraction), _BINARY_EXPONENTS[suffix])
    else:
        quantity = _decimal(text, digits, written, len(fraction), suffix)
    return quantity or _rounded(text, digits, len(fraction), suffix)


_parse_cached = lru_cache(maxsize=8192)(_parse)


def _decimal(text: str, digits: int, written: str, fraction: int, suffix: str) -> Quantity | None:
    """None where upstream leaves its int64s."""
    notation, exponent = _notation(suffix)
    exponent -= fraction
    if exponent < _NANO or len(written) > _KEPT_DIGITS_MAX:
        return None
    looks_canonical = exponent % 3 == 0 and not written.endswith("000") and written[0] != "0"
    return Quantity(digits, exponent, notation, text if looks_canonical else None)


def _notation(suffix: str) -> tuple[Format, int]:
    exponent = _DECIMAL_EXPONENTS.get(suffix)
    return ("DecimalExponent", _written_exponent(suffix)) if exponent is None else ("DecimalSI", exponent)


def _written_exponent(suffix: str) -> int:
    """The exponent in `e3`; like upstream, the low 32 bits of an int64."""
    if suffix[0] not in "eE" or not _EXPONENT.fullmatch(suffix, 1) or len(suffix) > 4 * _CACHED_LENGTH_MAX:
        raise BadQuantity(SUFFIX_WRONG)
    exponent = int(suffix[1:])
    if not -INT64_MAX - 1 <= exponent <= INT64_MAX:
        raise BadQuantity(SUFFIX_WRONG)
    return (exponent + 2**31) % 2**32 - 2**31


def _binary(text: str, digits: int, written: int, fraction: int, power: int) -> Quantity | None:
    """None where upstream leaves its int64s."""
    if fraction or written > _KEPT_BINARY_DIGITS_MAX[power]:
        return None
    return Quantity(digits << power, 0, "BinarySI", text if digits & 7 else None)


def _rounded(text: str, digits: int, fraction: int, suffix: str) -> Quantity:
    """What is too long or too fine to be kept as written."""
    if not text.removesuffix(suffix).strip("+-."):
        raise BadQuantity(NUMBER_WRONG)
    if suffix not in _BINARY_EXPONENTS:
        notation, exponent = _notation(suffix)
        return Quantity(*_nano_at_least(digits, exponent - fraction), notation)
    amount, exponent = _nano_at_least(digits << _BINARY_EXPONENTS[suffix], -fraction)
    one = 10**-exponent
    if abs(amount) > INT64_MAX * one:
        return Quantity(INT64_MAX if amount > 0 else -INT64_MAX, 0, "BinarySI")
    return Quantity(amount, exponent, "BinarySI" if amount == 0 or abs(amount) >= one else "DecimalSI")


def _nano_at_least(digits: int, exponent: int) -> tuple[int, int]:
    """The same amount in nanos or larger units, rounded up."""
    if exponent >= _NANO:
        return digits, exponent
    return _divided_up(digits, _NANO - exponent), _NANO


def _divided_up(digits: int, places: int) -> int:
    """digits / 10^places, rounded away from zero."""
    size = abs(digits)
    if size.bit_length() < places:
        result = 1 if size else 0
    else:
        result = -(-size // 10**places)
    return result if digits >= 0 else -result


def _capped(value: int) -> int:
    return max(-INT64_MAX - 1, min(INT64_MAX, value))


def _magnitude(quantity: Quantity) -> int:
    """The power of ten of the leading digit."""
    return len(str(abs(quantity.digits))) + quantity.exponent


def _summand(quantity: Quantity) -> Quantity:
    if quantity.exponent <= _SUM_EXPONENT_MAX:
        return quantity
    return Quantity(quantity.digits, _SUM_EXPONENT_MAX, quantity.format)


def _without_zeros(digits: int, exponent: int) -> tuple[int, int]:
    if digits == 0:
        return 0, 0
    while digits % 10 == 0:
        digits //= 10
        exponent += 1
    return digits, exponent


def _text(quantity: Quantity) -> str:
    if quantity.digits == 0:
        return "0"
    if quantity.format == "BinarySI" and (text := _binary_text(quantity)):
        return text
    digits, exponent = _without_zeros(quantity.digits, quantity.exponent)
    digits *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    suffix = _DECIMAL_SUFFIXES.get(exponent)
    if suffix is None or quantity.format == "DecimalExponent":
        suffix = f"e{exponent}" if exponent else ""
    return f"{digits}{suffix}"


def _binary_text(quantity: Quantity) -> str | None:
    """None for what is written in decimals all the same: fractions, and anything below 1024."""
    digits, exponent = _without_zeros(quantity.digits, quantity.exponent)
    if not 0 <= exponent <= _SUM_EXPONENT_MAX:
        return None
    amount = digits * 10**exponent
    if abs(amount) < 1024:
        return None
    power = 0
    while amount % 1024 == 0 and power < len(_BINARY_SUFFIXES) - 1:
        amount //= 1024
        power += 1
    return f"{amount}{_BINARY_SUFFIXES[power]}"
