"""What an expression becomes: a tree of steps, each a Python closure over the steps below it.

All steps of one evaluation share one frame, a plain list, because nothing in Python is read faster: what was spent,
what may be spent, then one place for each variable. A step's fixed cost is known when it is made, and paid by the
nearest step above that decides whether it runs at all: the whole expression, a branch, a round of a loop. Only costs
that depend on values are paid where they arise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hardpoint.machinery.cel.errors import CostExceeded

Frame = list[Any]
Run = Callable[[Frame], Any]

SPENT = 0
LIMIT = 1
FIRST_VARIABLE = 2


class Step(NamedTuple):
    run: Run
    cost: int = 0
    """What each run costs, whatever the values are."""
    base: int | None = None
    """For variables, and what is selected from something: the part of the cost that is for the beginning of the path.
    Whoever takes a path apart has this part back. None for all other steps."""
    constant: bool = False


def spend(frame: Frame, cost: int) -> None:
    """Raises CostExceeded."""
    frame[SPENT] += cost
    if frame[SPENT] > frame[LIMIT]:
        raise CostExceeded


def paid(step: Step) -> Run:
    """The step, paying its fixed cost when it runs."""
    run, cost, _, _ = step
    if not cost:
        return run

    def run_paid(frame: Frame) -> Any:
        frame[SPENT] += cost
        return run(frame)

    return run_paid


def constant(value: Any) -> Step:
    return Step(lambda _: value, constant=True)
