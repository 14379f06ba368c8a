"""Steps that call functions: which overload is meant, and what it costs.

If the checker knows the overload and the types of all operands, it is called as it is. Where a value's type is known
only when it is there, the overload is looked up by the names of the types, and remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hardpoint.machinery.cel.errors import EvaluationError
from hardpoint.machinery.cel.frames import Frame, Run, Step, spend
from hardpoint.machinery.cel.functions import Cost, Overload, ResultCost, names_of
from hardpoint.machinery.cel.syntax import Call
from hardpoint.machinery.cel.types import Kind, Type

NO_SUCH_OVERLOAD = "no such overload"
_CORE = frozenset(("size", "contains", "startsWith", "endsWith", "matches", "type", "dyn", "int", "uint", "double"))
"""Functions of the language itself, which refuse a value without naming it; operators do so too."""
_OPEN = (Kind.DYN, Kind.PARAMETER)


def call(node: Call, operands: Sequence[Step]) -> Step:
    """The step that calls one of a node's overloads."""
    overloads = node.overloads
    runs = [operand.run for operand in operands]
    below = sum(operand.cost for operand in operands)
    cost, result_cost = _costs(overloads)
    if len(overloads) == 1 and not _is_open([operand.type for operand in node.operands], overloads[0]):
        function: Callable[..., Any] = overloads[0].run
    else:
        function = _dispatcher(node.function, overloads)
    if isinstance(cost, int) and result_cost is None:
        return Step(_plain(function, runs), below + cost)
    return Step(_counted(function, runs, cost, result_cost), below)


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
    def run_counted(frame: Frame) -> Any:
        try:
            values = [run(frame) for run in runs]
        except EvaluationError:
            spend(frame, 1)
            raise
        before = cost if isinstance(cost, int) else cost(values)
        spend(frame, before)
        result = function(*values)
        if result_cost is not None:
            spend(frame, max(0, result_cost(result) - before))
        return result

    return run_counted
