"""Amounts of resources: `quantity('1.5Gi').isLessThan(quantity('2Gi'))`."""

from __future__ import annotations

from dataclasses import dataclass

from hardpoint.machinery import quantity
from hardpoint.machinery.cel.costs import reads
from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.functions import function, member
from hardpoint.machinery.cel.types import BOOL, DOUBLE, INT, STRING, opaque
from hardpoint.machinery.cel.values import INT_MAX, INT_MIN, Opaque

QUANTITY = opaque("kubernetes.Quantity")


@dataclass(frozen=True, slots=True)
class Amount(Opaque):
    type_name = QUANTITY.name

    amount: quantity.Quantity


def _parse(text: str) -> Amount:
    try:
        return Amount(quantity.parse(text))
    except quantity.BadQuantity as wrong:
        raise EvaluationError(str(wrong)) from None


def _is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except quantity.BadQuantity:
        return False
    return True


def _integer(value: Amount) -> int | None:
    """The amount, if it is a whole one that an int holds."""
    amount = value.amount
    if amount.exponent > 19 and amount.digits:
        return None
    whole, rest = divmod(amount.digits * 10 ** max(amount.exponent, 0), 10 ** max(-amount.exponent, 0))
    return None if rest or not INT_MIN <= whole <= INT_MAX else whole


def _as_integer(value: Amount) -> int:
    whole = _integer(value)
    if whole is None:
        raise EvaluationError("cannot convert value to integer")
    return whole


def _whole(count: int) -> quantity.Quantity:
    return quantity.Quantity(count, 0, "DecimalExponent")


_TWO = (QUANTITY, QUANTITY)
OVERLOADS = (
    function("quantity", (STRING,), QUANTITY, _parse, cost=reads(0)),
    function("isQuantity", (STRING,), BOOL, _is_quantity, cost=reads(0)),
    function("sign", (QUANTITY,), INT, lambda value: value.amount.sign),
    member("isInteger", (QUANTITY,), BOOL, lambda value: _integer(value) is not None),
    member("asInteger", (QUANTITY,), INT, _as_integer),
    member("asApproximateFloat", (QUANTITY,), DOUBLE, lambda value: float(value.amount)),
    member("isGreaterThan", _TWO, BOOL, lambda one, other: one.amount > other.amount),
    member("isLessThan", _TWO, BOOL, lambda one, other: one.amount < other.amount),
    member("compareTo", _TWO, INT, lambda one, other: one.amount.compare(other.amount)),
    member("add", _TWO, QUANTITY, lambda one, other: Amount(one.amount + other.amount)),
    member("add", (QUANTITY, INT), QUANTITY, lambda one, count: Amount(one.amount + _whole(count))),
    member("sub", _TWO, QUANTITY, lambda one, other: Amount(one.amount - other.amount)),
    member("sub", (QUANTITY, INT), QUANTITY, lambda one, count: Amount(one.amount - _whole(count))),
)
