"""How random values are described: small functions that take dice and return JSON.

The dice know how wild the sequence is, so that any place may now and then get a value that does not belong there, and
whether the object is whole: what somebody applies or patches is only part of one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

ODD: tuple[Any, ...] = (None, None, {}, [], "", 0, -1, "x", True, 1.5, "Bad_Value!", [None], {"a": None}, 70000)


class Dice(Random):
    """Randomness with a seed, and how it is to be used."""

    wild: float = 0.0
    whole: bool = True

    def hits(self, chance: float) -> bool:
        return self.random() < chance


Draw = Callable[[Dice], Any]


def one(*values: Any) -> Draw:
    """One of these, as it is."""

    def draw(dice: Dice) -> Any:
        return odd(dice) if dice.hits(dice.wild) else copy.deepcopy(dice.choice(values))

    return draw


def either(*draws: Draw) -> Draw:
    """What one of these draws."""

    def draw(dice: Dice) -> Any:
        return dice.choice(draws)(dice)

    return draw


def fields(
    keys: Mapping[str, Draw] | None = None,
    always: Mapping[str, Draw] | None = None,
    maybe: Mapping[str, Draw] | None = None,
    chance: float = 0.35,
) -> Draw:
    """An object: its `keys`, what it `always` has unless it is only a part, and some of what it `maybe` has."""

    def draw(dice: Dice) -> Any:
        if dice.hits(dice.wild / 2):
            return odd(dice)
        drawn = {name: below(dice) for name, below in (keys or {}).items()}
        for name, below in (always or {}).items():
            if dice.whole or dice.hits(0.5):
                drawn[name] = below(dice)
        for name, below in (maybe or {}).items():
            if dice.hits(chance):
                drawn[name] = below(dice)
        if dice.hits(dice.wild / 2):
            drawn["unheardOf"] = odd(dice)
        return drawn

    return draw


def many(item: Draw, at_most: int = 3, at_least: int = 0, key: Sequence[str] = ()) -> Draw:
    """A list. Items that share a `key` are rare, but they come."""

    def draw(dice: Dice) -> Any:
        if dice.hits(dice.wild / 2):
            return odd(dice)
        items = [item(dice) for _ in range(dice.randint(at_least, at_most))]
        return items if dice.hits(0.1) else without_duplicates(items, key)

    return draw


def named(names: Sequence[str], value: Draw) -> Draw:
    """A map from some of these names."""

    def draw(dice: Dice) -> Any:
        if dice.hits(dice.wild / 2):
            return odd(dice)
        return {name: value(dice) for name in names if dice.hits(0.5)}

    return draw


def odd(dice: Dice) -> Any:
    """A value that most places do not want."""
    return copy.deepcopy(dice.choice(ODD))


def without_duplicates(items: Sequence[Any], key: Sequence[str]) -> list[Any]:
    """The items, each key once."""
    found: dict[str, Any] = {}
    for item in items:
        named_by = [item.get(name) for name in key] if key and isinstance(item, dict) else item
        found.setdefault(repr(named_by), item)
    return list(found.values())
