"""Steps that call functions: which overload is meant, and what it costs.

If the checker knows the overload and the types of all operands, it is called as it is. Where a value's type is known
only when it is there, the overload is looked up by the names of the types, and remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from hardpoint.machinery.cel.costs import read, regex
from hardpoint.machinery.cel.errors import NO_SUCH_OVERLOAD, EvaluationError
from hardpoint.machinery.cel.frames import CHECKPOINT, SPENT, Frame, Run, Step, ask, asking, look_up, spend
from hardpoint.machinery.cel.functions import Cost, Overload, ResultCost, names_of
from hardpoint.machinery.cel.library.regex import matcher
from hardpoint.machinery.cel.syntax import Call
from hardpoint.machinery.cel.types import BYTES, STRING, Kind, Type
from hardpoint.machinery.cel.values import is_in
from hardpoint.machinery.cel.weights import weighed

_CORE = frozenset(("size", "contains", "startsWith", "endsWith", "matches", "type", "dyn", "int", "uint", "double"))
"""Functions of the language itself, which refuse a value without naming it; operators do so too."""
_OPEN = (Kind.DYN, Kind.PARAMETER)
_SMALL = (Kind.SCALAR, Kind.MOMENT, Kind.NULL, Kind.TYPE)
_TEXTS = (STRING, BYTES)
_LIGHT = frozenset(("size", "first", "last", "hasValue", "value", "optional.of", "type", "dyn"))
"""Functions that take no longer for a big value than for a small one."""


def call(node: Call, operands: Sequence[Step]) -> Step:
    """The step that calls one of a node's overloads."""
    types = [operand.type for operand in node.operands]
    overloads, is_light = node.overloads, node.function in _LIGHT
    if node.function == "@in" and types[0].kind is Kind.SCALAR:
        # Whatever is in a list, a text or a number is compared with it at once.
        overloads = tuple(replace(overload, run=is_in, is_slow=False) for overload in overloads)
    elif not is_light:
        operands = list(map(weighed, operands, types))
    run, cost = _called(node.function, overloads, [operand.run for operand in operands], types)
    takes_long = not is_light and not all(map(_is_small if cost else _is_flat, types))
    return Step(asking(run) if takes_long else run, sum(operand.cost for operand in operands) + cost)


def _called(name: str, overloads: Sequence[Overload], runs: Sequence[Run], types: Sequence[Type]) -> tuple[Run, int]:
    """What calls an overload, and what that costs whatever the values are."""
    cost, result_cost = _costs(overloads)
    is_known = len(overloads) == 1 and not _is_open(types, overloads[0])
    if any(overload.is_slow for overload in overloads):
        return _pausing(overloads, runs, (cost, result_cost), is_known), 0
    function: Callable[..., Any] = overloads[0].run if is_known else _dispatcher(name, overloads)
    if isinstance(cost, int) and result_cost is None:
        return _plain(function, runs), cost
    return _counted(function, runs, cost, result_cost), 0


def match(text: Step, pattern: str) -> Step:
    """The step for `text.matches(pattern)`, where the pattern is written out."""
    test, weight, whole = matcher(pattern), regex(0, len(pattern)), text.run

    def run(frame: Frame) -> bool:
        try:
            value = whole(frame)
        except EvaluationError:
            spend(frame, 1)
            raise
        frame[SPENT] += read(len(value) + 1) * weight
        if frame[SPENT] > frame[CHECKPOINT]:
            look_up(frame)
        return test(value)

    return Step(run, text.cost)


def _is_small(type: Type) -> bool:
    """Whatever is done with such a value is done at once."""
    return type.kind in _SMALL and type not in _TEXTS


def _is_flat(type: Type) -> bool:
    """What is paid for such a value grows with its size."""
    return type.kind in _SMALL


def _costs(overloads: Sequence[Overload]) -> tuple[Cost, ResultCost | None]:
    """Overloads that cost alike have that cost; where it depends on which one is meant, it is one unit."""
    costs = {(overload.cost, overload.result_cost) for overload in overloads}
    return costs.pop() if len(costs) == 1 else (1, None)


def _is_open(types: Sequence[Type], overload: Overload) -> bool:
    """Could a value at run time be something that the overload does not take?"""
    return any(map(_may_differ, types, overload.parameters))


def _may_differ(type: Type, parameter: Type) -> bool:
    if parameter.kind in _OPEN:
        return False
    return type.kind in _OPEN or type.kind is Kind.NULL or any(map(_may_differ, type.parameters, parameter.parameters))


def _dispatcher(name: str, overloads: Sequence[Overload]) -> Callable[..., Any]:
    known: dict[tuple[str, ...], Callable[..., Any] | None] = {}

    def dispatch(*values: Any) -> Any:
        names = names_of(values)
        if names in known:
            run = known[names]
        else:
            run = known[names] = _find(overloads, names)
        if run is None:
            raise _refusal(name, names)
        try:
            return run(*values)
        except TypeError as cause:
            # A list or map that was declared to hold anything holds something that the function has no use for.
            raise _refusal(name, names) from cause

    return dispatch


def _find(overloads: Sequence[Overload], names: tuple[str, ...]) -> Callable[..., Any] | None:
    return next((overload.run for overload in overloads if overload.takes(names)), None)


def _refusal(name: str, names: Sequence[str]) -> EvaluationError:
    is_core = not name[0].isalpha() or name in _CORE
    return EvaluationError(NO_SUCH_OVERLOAD if is_core else f"{NO_SUCH_OVERLOAD}: {name}({', '.join(names)})")


def _plain(function: Callable[..., Any], runs: Sequence[Run]) -> Run:
    match runs:
        case []:
            return lambda frame: function()
        case [only]:
            return lambda frame: function(only(frame))
        case [first, second]:
            return lambda frame: function(first(frame), second(frame))
    return lambda frame: function(*[run(frame) for run in runs])


def _counted(function: Callable[..., Any], runs: Sequence[Run], cost: Cost, result_cost: ResultCost | None) -> Run:
    evaluated = _evaluated(runs)

    def run_counted(frame: Frame) -> Any:
        values = evaluated(frame)
        before = cost if isinstance(cost, int) else cost(values)
        frame[SPENT] += before
        if frame[SPENT] > frame[CHECKPOINT]:
            look_up(frame)
        result = function(*values)
        if result_cost is not None:
            spend(frame, max(0, result_cost(result) - before))
        return result

    return run_counted


def _pausing(
    overloads: Sequence[Overload], runs: Sequence[Run], costs: tuple[Cost, ResultCost | None], is_known: bool
) -> Run:
    evaluated, (cost, result_cost) = _evaluated(runs), costs
    choose = lru_cache(maxsize=32)(partial(_meant, overloads))

    def run_pausing(frame: Frame) -> Any:
        values = evaluated(frame)
        meant = overloads[0] if is_known else choose(names_of(values))
        before = cost if isinstance(cost, int) else cost(values)
        spend(frame, before)
        result = meant.run(partial(ask, frame), *values) if meant.is_slow else meant.run(*values)
        if result_cost is not None:
            spend(frame, max(0, result_cost(result) - before))
        return result

    return run_pausing


def _meant(overloads: Sequence[Overload], names: tuple[str, ...]) -> Overload:
    for overload in overloads:
        if overload.takes(names):
            return overload
    raise _refusal(overloads[0].name, names)


def _evaluated(runs: Sequence[Run]) -> Callable[[Frame], Sequence[Any]]:
    """The operands' values. If one of them fails, the call has cost one unit."""

    def evaluate(frame: Frame) -> Sequence[Any]:
        try:
            return [run(frame) for run in runs]
        except EvaluationError:
            spend(frame, 1)
            raise

    def evaluate_two(frame: Frame) -> Sequence[Any]:
        try:
            return first(frame), second(frame)
        except EvaluationError:
            spend(frame, 1)
            raise

    if len(runs) != 2:
        return evaluate
    first, second = runs
    return evaluate_two
