"""Expressions made ready, and evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hardpoint.machinery.cel.checker import check
from hardpoint.machinery.cel.costs import PER_CALL_MAX
from hardpoint.machinery.cel.errors import MISFITS, BadConstant, CostExceeded, EvaluationError, WrongResult, as_failure
from hardpoint.machinery.cel.frames import SPENT, Interrupt, new_frame
from hardpoint.machinery.cel.library import FUNCTIONS
from hardpoint.machinery.cel.parser import parse
from hardpoint.machinery.cel.planner import Planner
from hardpoint.machinery.cel.syntax import Node
from hardpoint.machinery.cel.types import Type

CACHED_MAX = 1024


class Program:
    """An expression that is ready to be evaluated, any number of times and in any number of threads at once."""

    def __init__(self, expression: str, root: Node, result: Type) -> None:
        self.expression = expression
        self.root = root
        """What it was made of, checked."""
        self.result = result
        """The type of its value; `dyn` if that depends on the values of its variables."""
        planner = Planner()
        try:
            self._run, self._cost, _, _ = planner.step(root)
        except EvaluationError as failure:
            raise BadConstant(expression, str(failure)) from None
        self._places = tuple((name, place) for name, place in planner.variables.items())
        self._frame_size = planner.frame_size

    @property
    def variables(self) -> frozenset[str]:
        """The variables it looks at."""
        return frozenset(name for name, _ in self._places)

    def __repr__(self) -> str:
        return f"Program({self.expression!r})"

    def evaluate(
        self, values: Mapping[str, Any], *, cost_max: int = PER_CALL_MAX, interrupt: Interrupt | None = None
    ) -> Any:
        """Its value for these values of its variables, which are as their types say: plain JSON for the most part.

        The value may be part of those values or of the program: copy it before changing it. Raises EvaluationError if
        there is none, CostExceeded if finding it out would cost more than `cost_max`, Interrupted if `interrupt`, which
        is asked again and again, says so: cost is not time.
        """
        return self.evaluate_counted(values, cost_max=cost_max, interrupt=interrupt)[0]

    def evaluate_counted(
        self, values: Mapping[str, Any], *, cost_max: int = PER_CALL_MAX, interrupt: Interrupt | None = None
    ) -> tuple[Any, int]:
        """Its value and what it cost, for callers with a limit for several expressions together."""
        frame = new_frame(self._frame_size, cost_max, interrupt)
        frame[SPENT] = self._cost
        for name, place in self._places:
            try:
                frame[place] = values[name]
            except KeyError:
                raise EvaluationError(f"no such attribute(s): {name}") from None
        try:
            value = self._run(frame)
            if frame[SPENT] > cost_max:
                raise CostExceeded
        except EvaluationError as failure:
            failure.cost = frame[SPENT]
            raise
        except RecursionError:
            raise EvaluationError("a value is nested too deep to be compared") from None
        except MISFITS as cause:
            unfit = as_failure(cause)
            unfit.cost = frame[SPENT]
            raise unfit from cause
        return value, frame[SPENT]


def compile(expression: str, variables: Mapping[str, Type], *, result: Type | None = None) -> Program:
    """The program of an expression over variables of these types. The same question gets the same program again.

    With `result`, the expression must give that type. Raises CompileError, whose text is cel-go's, and WrongResult.
    """
    return _compiled(expression, tuple(sorted(variables.items(), key=lambda item: item[0])), result)


@lru_cache(maxsize=CACHED_MAX)
def _compiled(expression: str, variables: tuple[tuple[str, Type], ...], result: Type | None) -> Program:
    root = parse(expression)
    found = check(expression, root, dict(variables), FUNCTIONS)
    if result is not None and found != result:
        raise WrongResult(expression, str(result), str(found))
    return Program(expression, root, found)
