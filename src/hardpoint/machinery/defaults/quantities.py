"""Amounts of resources are kept to a thousandth; what is finer is rounded up."""

from __future__ import annotations

from typing import Any

from hardpoint.machinery.quantity import Quantity, parse

Json = dict[str, Any]


def round_up(amounts: Json | None) -> None:
    """Round every amount in place. Only canonical amounts that end in `n` or `u` can be finer than a thousandth."""
    if not amounts:
        return
    for name, amount in amounts.items():
        if amount[-1] in "nu":
            exact = parse(amount)
            amounts[name] = str(Quantity(exact.milli_value(), -3, exact.format))
