"""Functions that expressions may call: a name, and overloads that differ in what they take.

An overload says what it takes and gives (the checker's part), how to do it (the evaluator's), and what it costs, in
the units in which Kubernetes counts: a number, or a rule that looks at the arguments before it is called. What costs by
the size of its result is paid for once it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hardpoint.machinery.cel.types import Kind, Type
from hardpoint.machinery.cel.values import type_name

Pause = Callable[[], None]
"""Called now and then by what takes long; raises if nobody waits any more."""
Cost = int | Callable[[Sequence[Any]], int]
ResultCost = Callable[[Any], int]


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function. `run` gets values of the types in `parameters`, and may raise EvaluationError."""

    name: str
    parameters: tuple[Type, ...]
    result: Type
    run: Callable[..., Any]
    is_member: bool = False
    """Is it called as `target.name(...)`; then the target is the first parameter."""
    cost: Cost = 1
    result_cost: ResultCost | None = None
    """What the result costs, if that is more."""
    is_slow: bool = False
    """Does `run` get a Pause before its arguments?"""

    def takes(self, names: Sequence[str]) -> bool:
        """Would it take values of types with these names?"""
        return len(names) == len(self.parameters) and all(map(_accepts, self.parameters, names))


def _accepts(parameter: Type, name: str) -> bool:
    if parameter.kind in (Kind.DYN, Kind.PARAMETER):
        return True
    return name == ("map" if parameter.kind is Kind.OBJECT else parameter.name)


def names_of(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(type_name, values))


def function(
    name: str,
    parameters: Sequence[Type],
    result: Type,
    run: Callable[..., Any],
    *,
    cost: Cost = 1,
    result_cost: ResultCost | None = None,
    is_slow: bool = False,
) -> Overload:
    """An overload called as `name(...)`."""
    return Overload(name, tuple(parameters), result, run, False, cost, result_cost, is_slow)


def member(
    name: str,
    parameters: Sequence[Type],
    result: Type,
    run: Callable[..., Any],
    *,
    cost: Cost = 1,
    result_cost: ResultCost | None = None,
    is_slow: bool = False,
) -> Overload:
    """An overload called as `target.name(...)`."""
    return Overload(name, tuple(parameters), result, run, True, cost, result_cost, is_slow)


Functions = Mapping[str, tuple[Overload, ...]]


def by_name(overloads: Iterable[Overload]) -> Functions:
    found: dict[str, tuple[Overload, ...]] = {}
    for overload in overloads:
        found[overload.name] = (*found.get(overload.name, ()), overload)
    return found
